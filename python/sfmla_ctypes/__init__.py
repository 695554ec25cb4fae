# SPDX-License-Identifier: Apache-2.0
"""Sparse latent attention from NumPy, on the library that also serves C programs.

No PyTorch is needed.

metadata = sparse_flash_mla_metadata(...)   # once per step and kind of layer
out, lse = sparse_flash_mla(q, ...)         # once per layer

sparse_attn_sharedkv[_metadata] is an older name of the same, sparse_flash_attention the attention
of models with keys of 512 + 64 elements.
"""

from importlib.metadata import version

from ._device import Cores, Device, Memory
from ._device_array import DeviceArray
from ._errors import (
    AclDeviceError,
    AclError,
    AclInternalError,
    AclMemoryError,
    AclParamError,
    AclRuntimeError,
)
from ._graph import Graph
from ._library import toolkit_path
from ._pinned import pinned_empty
from ._stream import Event, Stream
from .sparse_attn_sharedkv import sparse_attn_sharedkv
from .sparse_attn_sharedkv_metadata import sparse_attn_sharedkv_metadata
from .sparse_flash_attention import sparse_flash_attention
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
    "Graph",
    "Memory",
    "Stream",
    "__version__",
    "pinned_empty",
    "sparse_attn_sharedkv",
    "sparse_attn_sharedkv_metadata",
    "sparse_flash_attention",
    "sparse_flash_mla",
    "sparse_flash_mla_metadata",
    "toolkit_path",
]
