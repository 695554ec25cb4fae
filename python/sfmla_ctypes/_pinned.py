# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays in pinned host memory."""

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._context import ensure_context
from ._dtypes import acl_type
from ._errors import check
from ._layout import Shape, extents_of
from ._library import ffi, lib
from ._single import Single


class _PinnedMemory(Single):
    """One allocation, released with the last array on it."""

    def __init__(self, nbytes: int) -> None:
        ensure_context()
        holder = ffi.new("void **")
        weakref.finalize(self, _free, holder).atexit = False
        check("aclrtMallocHost", lib.aclrtMallocHost(holder, nbytes))
        self.__array_interface__ = {
            "version": 3,
            "data": (int(ffi.cast("uintptr_t", holder[0])), False),
            "shape": (nbytes,),
            "typestr": "|u1",
        }


def _free(holder: Any) -> None:
    if holder[0] != ffi.NULL:
        lib.aclrtFreeHost(holder[0])


def pinned_empty(shape: Shape, dtype: Any) -> NDArray[Any]:
    """NumPy array with undefined contents in memory that host and device both reach.

    As np.empty, contiguous; views share the memory, which is released with the last of them. Any
    thread may use it. Calls take it as an operand like every NumPy array, in place, without
    registering its memory first. DeviceArray.copy_from takes it in a capture, see Stream.capture.

    dtype   one of those of DeviceArray
    Errors  AclParamError (161002) for another dtype and for a shape that no array has,
            AclMemoryError (207001) for more memory than there is
    """
    dtype = np.dtype(dtype)
    acl_type("array", dtype)
    extents = extents_of(shape, dtype)
    nbytes = math.prod(extents) * dtype.itemsize
    if nbytes == 0:
        return np.empty(extents, dtype)  # nothing to pin
    memory: NDArray[Any] = np.asarray(_PinnedMemory(nbytes))
    array: NDArray[Any] = memory.view(dtype).reshape(extents)
    return array
