# SPDX-License-Identifier: Apache-2.0
"""One call through the library, planned, timed, and with poisoned outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import sparse_flash_mla, sparse_flash_mla_metadata
from ..cases import FLOP_PER_KEY_AND_HEAD, Arguments
from ..reference import Call, query_rows, row_keys
from ..schedule import metadata_arguments

Array = NDArray[Any]


@dataclass(frozen=True)
class Result:
    """Outputs of a call; ``softmax_lse`` is None unless the call asked for it."""

    attn_out: Array
    softmax_lse: Array | None
    seconds: float  # median of the repeated calls, planning not included


def with_metadata(arguments: Mapping[str, Any]) -> Arguments:
    """The arguments with ``metadata``: the caller's own, else planned by the library."""
    planned = metadata_arguments(arguments)
    if arguments.get("metadata") is not None:
        return dict(arguments)
    return {**arguments, "metadata": sparse_flash_mla_metadata(**planned)}


def execute(
    arguments: Mapping[str, Any], max_repeats: int = 1, budget_seconds: float = 0
) -> Result:
    """Plan and run a call; repeat it until ``max_repeats`` or the time budget is reached.

    Output arrays hold NaN before the call, so that a value never written shows.
    """
    planned = with_metadata(arguments)
    q = planned["q"]
    outputs: Arguments = {"out": _poisoned(q.shape, q.dtype)}
    if planned.get("return_softmax_lse"):
        outputs["softmax_lse_out"] = _poisoned(_lse_shape(planned), np.dtype(np.float32))
    seconds: list[float] = []
    while not seconds or (len(seconds) < max_repeats and sum(seconds) < budget_seconds):
        started = time.perf_counter()
        sparse_flash_mla(**planned, **outputs)
        seconds.append(time.perf_counter() - started)
    return Result(outputs["out"], outputs.get("softmax_lse_out"), float(np.median(seconds)))


def keys_per_row(call: Call) -> NDArray[np.int64]:
    """Attended keys of every query row that is not padding."""
    counts = [sum(map(len, row_keys(call, row))) for row in query_rows(call)]
    return np.array(counts, np.int64)


def gflop(keys: NDArray[np.int64], heads: int) -> float:
    """Arithmetic of a call in 10^9 operations, counted on attended keys only."""
    return float(keys.sum()) * heads * FLOP_PER_KEY_AND_HEAD / 1e9


def as_call(arguments: Mapping[str, Any]) -> Call:
    """The arguments as the reference takes them."""
    return Call(**arguments)


def _poisoned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """All bits set, which is NaN in every floating-point type."""
    return np.full(math.prod(shape) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(shape)


def _lse_shape(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    *row_axes, heads, _ = arguments["q"].shape
    if arguments.get("layout_q", "BSND") == "TND":
        return (1, *row_axes, heads)
    return (row_axes[0], 1, *row_axes[1:], heads)
