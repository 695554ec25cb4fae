# SPDX-License-Identifier: Apache-2.0
"""The one gate from arrays to aclTensor: shapes, strides and addresses as they are, no copies."""

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._device_array import DeviceArray
from ._dlpack import import_array
from ._dtypes import acl_type
from ._errors import AclError, refuse
from ._layout import Layout, layout_of
from ._library import ffi, lib
from ._numpy_arguments import host_array, unreadable


class SupportsDLPack(Protocol):
    """An array of another package, in host memory."""

    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> Any: ...


class SupportsArrayInterface(Protocol):
    """An object with NumPy's array interface."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


Array: TypeAlias = NDArray[Any] | DeviceArray
ArrayLike: TypeAlias = Array | SupportsDLPack | SupportsArrayInterface


def as_array(name: str, value: ArrayLike | None) -> Array | None:
    """The argument as a NumPy or device array on the same memory; None stays None.

    TypeError for what is no array, a list included: turning one into an array would guess a dtype.
    TypeError also for an object that offers an array which cannot be viewed: memory of another
    device, a DLPack capsule that was consumed before, a broken `__array_interface__`.
    """
    return None if value is None else _view(name, value)[0]


def as_arrays(**values: ArrayLike | None) -> dict[str, Array | None]:
    """`as_array` of each argument, by name and in order."""
    return {name: as_array(name, value) for name, value in values.items()}


def as_output(name: str, value: ArrayLike) -> Array:
    """As `as_array`, for an array that is written; AclParamError for a read-only one."""
    array, is_writable = _view(name, value)
    if not is_writable:
        raise refuse(f"{name}: the array is read-only, must be writable")
    return array


def _view(name: str, value: ArrayLike) -> tuple[Array, bool]:
    """The argument as an array on the same memory, and whether its owner allows writing."""
    if isinstance(value, DeviceArray):
        return value, True
    if isinstance(value, np.ndarray):
        return value, value.flags.writeable
    if _has(name, value, "__array_interface__"):
        array = host_array(name, value, copy=None)
        return array, array.flags.writeable
    if not (_has(name, value, "__dlpack__") and _has(name, value, "__dlpack_device__")):
        raise TypeError(
            f"{name}: {type(value).__name__}, must be a NumPy array, a DeviceArray or an object "
            "with __array_interface__, or with __dlpack__ and __dlpack_device__"
        )
    try:
        return import_array(value)
    except AclError:
        raise  # of the work that makes the values, not of the array
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{name}: {error}") from error


def _has(name: str, value: Any, attribute: str) -> bool:
    """hasattr, whatever a property of a foreign class raises."""
    try:
        return hasattr(value, attribute)
    except Exception as error:
        raise unreadable(name, value, error) from error


def empty(shape: tuple[int, ...], dtype: Any, on_device: bool) -> Array:
    """New contiguous array with undefined contents."""
    return DeviceArray.empty(shape, dtype) if on_device else np.empty(shape, dtype)


def _layout(name: str, array: Array) -> Layout:
    return array.layout(name) if isinstance(array, DeviceArray) else layout_of(name, array)


def create_tensor(name: str, array: Array | None) -> Any:
    """The aclTensor* of an array, destroyed with the returned object; NULL for None.

    Storage is described as one axis from the lowest to the highest element. Extents of 0 give a
    tensor without data.
    """
    if array is None:
        return ffi.NULL
    dtype = acl_type(name, array.dtype)
    layout = _layout(name, array)
    rank, storage_elements = array.ndim, (layout.end - layout.begin) // array.itemsize
    tensor = lib.aclCreateTensor(
        ffi.new("int64_t[]", array.shape),
        rank,
        dtype,
        # NumPy gives empty arrays any strides; NULL makes them contiguous.
        ffi.new("int64_t[]", layout.strides) if array.size > 0 else ffi.NULL,
        layout.offset,
        lib.ACL_FORMAT_ND,
        ffi.new("int64_t[1]", [storage_elements]),
        1,
        ffi.cast("void *", layout.begin),
    )
    return ffi.gc(tensor, lib.aclDestroyTensor)
