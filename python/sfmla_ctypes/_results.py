# SPDX-License-Identifier: Apache-2.0
"""The arrays that operators write: the caller's own, or new ones where the inputs lie."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arrays import Array, ArrayLike, as_output, empty
from ._device_array import DeviceArray

_METADATA_WORDS = 1024


def attention_output(name: str, out: ArrayLike | None, query: Array | None) -> Array | None:
    """`out`, or a new array like `query`; None without either, which the library refuses."""
    if out is not None:
        return as_output(name, out)
    return None if query is None else empty(query.shape, query.dtype, is_on_device([query]))


def row_output(
    name: str, out: ArrayLike | None, shape: tuple[int, ...] | None, on_device: bool
) -> Array | None:
    """`out`, or a new float32 array of `shape`; None without either."""
    if out is not None:
        return as_output(name, out)
    return None if shape is None else empty(shape, np.float32, on_device)


def kv_head_first(query: Array | None) -> tuple[int, ...] | None:
    """Numbers per row and head: (B,S1,N1,D) -> (B,1,S1,N1) and (T1,N1,D) -> (1,T1,N1)."""
    return None if query is None else (*query.shape[:-3], 1, *query.shape[-3:-1])


def plan_output(out: ArrayLike | None, inputs: Iterable[Array | None]) -> Array:
    """`out`, or the words of a plan: on the device when arrays are given and all lie there."""
    if out is not None:
        return as_output("metadata", out)
    return empty((_METADATA_WORDS,), np.int32, is_on_device(inputs))


def is_on_device(arrays: Iterable[Array | None]) -> bool:
    """Whether arrays are given and all of them are DeviceArrays."""
    given = [array for array in arrays if array is not None]
    return bool(given) and all(isinstance(array, DeviceArray) for array in given)


def statistic(array: Array | None, is_wanted: bool) -> Any:
    """What the caller gets for an output that a flag asks for: float32 0 without it."""
    return array if is_wanted else np.float32(0)
