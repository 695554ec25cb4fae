# SPDX-License-Identifier: Apache-2.0
"""DLPack in and out, bfloat16 included.

NumPy exchanges every other type of this package; it does not know DLPack's bfloat16. Such a tensor
therefore crosses NumPy as uint16, the element type in its capsule being rewritten on the way.
Layout of the capsule: dlpack.h of DLPack 1.0 (DLTensor, DLManagedTensor, DLManagedTensorVersioned).
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dtypes import bfloat16

CPU = (1, 0)  # kDLCPU, device 0

_HOST_MEMORY = {1: "CPU", 3: "CUDA host", 11: "ROCm host"}  # by DLDeviceType

_UINT_16_BITS = (1, 16)  # kDLUInt
_BFLOAT_16_BITS = (4, 16)  # kDLBfloat
# Bytes from the start of the managed tensor to its DLTensor, by name of the capsule.
_TENSOR_OFFSET = {b"dltensor": 0, b"dltensor_versioned": 32}
# Bytes from the start of DLTensor to DLDataType {uint8 code, uint8 bits, uint16 lanes}:
# behind data pointer (8), device (8) and rank (4).
_TYPE_OFFSET = 20
# Bytes from the start of DLManagedTensorVersioned to its uint64 flags: behind version (8), context
# (8) and deleter (8).
_FLAGS_OFFSET = 24
_READ_ONLY_FLAG = 1

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype = ctypes.c_char_p
_capsule_name.argtypes = [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _name_of(capsule: Any) -> bytes:
    """The name of a fresh capsule; BufferError for a consumed one and for what is no capsule."""
    try:
        name: bytes | None = _capsule_name(capsule)
        found = "a capsule without a name" if name is None else f"a capsule named {name.decode()!r}"
    except ValueError:
        name, found = None, f"an object of type {type(capsule).__name__}"
    if name is not None and name in _TENSOR_OFFSET:
        return name
    allowed = " or ".join(repr(fresh.decode()) for fresh in _TENSOR_OFFSET)
    raise BufferError(f"__dlpack__ gave {found}, must be a capsule named {allowed}, used once")


def _type_field(capsule: Any) -> Any:
    """The type code and bits inside a fresh capsule, as a writable array of two bytes."""
    name = _name_of(capsule)
    address = _capsule_pointer(capsule, name) + _TENSOR_OFFSET[name] + _TYPE_OFFSET
    return (ctypes.c_uint8 * 2).from_address(address)


def _is_read_only(capsule: Any) -> bool:
    """What a fresh capsule says; the first version of the protocol cannot say read-only."""
    name = _name_of(capsule)
    if name != b"dltensor_versioned":
        return False
    flags = ctypes.c_uint64.from_address(_capsule_pointer(capsule, name) + _FLAGS_OFFSET)
    return bool(flags.value & _READ_ONLY_FLAG)


class _AsUint16:
    """A producer whose bfloat16 capsule reads as uint16."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.was_bfloat16 = False
        self.is_read_only = False

    def __dlpack_device__(self) -> Any:
        return self._producer.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._producer.__dlpack__(**options)
        self.is_read_only = _is_read_only(capsule)
        field = _type_field(capsule)
        if tuple(field) == _BFLOAT_16_BITS:
            self.was_bfloat16 = True
            field[:] = _UINT_16_BITS
        return capsule


def _device_of(producer: Any) -> tuple[int, int]:
    device = producer.__dlpack_device__()
    try:
        kind, number = map(int, device)
    except (TypeError, ValueError):
        raise BufferError(f"__dlpack_device__ gave {device!r}, must be two integers") from None
    return kind, number


def import_array(producer: Any) -> tuple[NDArray[Any], bool]:
    """NumPy view of a DLPack producer's host memory, and whether the producer allows writing.

    NumPy's own flag does not tell: views from the first version of the protocol are always
    read-only there. BufferError or RuntimeError, as the producer and NumPy raise them too, if no
    view is possible.
    """
    kind, number = _device_of(producer)
    if kind not in _HOST_MEMORY:
        allowed = ", ".join(f"{kind} ({name})" for kind, name in _HOST_MEMORY.items())
        raise BufferError(
            f"DLPack device {(kind, number)}, must be host memory, a device type of {allowed}"
        )
    proxy = _AsUint16(producer)
    array: NDArray[Any] = np.from_dlpack(proxy)
    return array.view(bfloat16) if proxy.was_bfloat16 else array, not proxy.is_read_only


def export_array(array: NDArray[Any], **options: Any) -> Any:
    """DLPack capsule of a NumPy array, which it keeps alive."""
    if array.dtype != bfloat16:
        return array.__dlpack__(**options)
    capsule = array.view(np.uint16).__dlpack__(**options)
    _type_field(capsule)[:] = _BFLOAT_16_BITS
    return capsule
