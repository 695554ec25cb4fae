# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMla from NumPy, on the library that also serves C programs. No PyTorch needed.

metadata = sparse_flash_mla_metadata(...)   # once per step and kind of layer
out, lse = sparse_flash_mla(q, ...)         # once per layer
"""

from importlib.metadata import version

from ._device import Cores, Device, Event, Memory, Stream
from ._device_array import DeviceArray
from ._errors import (
    AclDeviceError,
    AclError,
    AclInternalError,
    AclMemoryError,
    AclParamError,
    AclRuntimeError,
)
from ._library import toolkit_path
from .sparse_flash_mla import sparse_flash_mla
from .sparse_flash_mla_metadata import sparse_flash_mla_metadata

__version__ = version("sfmla-ctypes")

__all__ = [
    "AclDeviceError",
    "AclError",
    "AclInternalError",
    "AclMemoryError",
    "AclParamError",
    "AclRuntimeError",
    "Cores",
    "Device",
    "DeviceArray",
    "Event",
    "Memory",
    "Stream",
    "__version__",
    "sparse_flash_mla",
    "sparse_flash_mla_metadata",
    "toolkit_path",
]
