# SPDX-License-Identifier: Apache-2.0
"""Runs the two operators of the package on a `Call`, with every output poisoned before."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

import sfmla_ctypes
from reference.call import Array, Call, planning_arguments

Value = TypeVar("Value")

FEW_AND_MANY = (8, 64)  # heads: the kernels have products of their own for few


def arguments_of(call: Any) -> dict[str, Any]:
    return {field.name: getattr(call, field.name) for field in dataclasses.fields(call)}


def plan(call: Call, **changes: Any) -> Array:
    """The 1024 words for `call`, or for one that differs by `changes`."""
    words: Array = sfmla_ctypes.sparse_flash_mla_metadata(**(planning_arguments(call) | changes))
    return words


def poisoned_outputs(call: Call) -> tuple[Array, Array]:
    shape = call.q.shape
    lse_shape = (1, *shape[:2]) if call.layout_q == "TND" else (shape[0], 1, *shape[1:3])
    return np.full(shape, np.nan, call.q.dtype), np.full(lse_shape, np.nan, np.float32)


def attend(call: Call, metadata: Any = None, **changes: Any) -> tuple[Array, Array]:
    """attn_out and softmax_lse of `call`; plans it first unless `metadata` is given."""
    out, lse = poisoned_outputs(call)
    results = {"out": out, "softmax_lse_out": lse} if call.return_softmax_lse else {"out": out}
    found: tuple[Array, Array] = sfmla_ctypes.sparse_flash_mla(
        **(arguments_of(call) | results | changes),
        metadata=plan(call) if metadata is None else metadata,
    )
    return found


def on_device(values: dict[str, Any]) -> dict[str, Any]:
    """The same arguments with each NumPy array copied to the device."""
    return {
        name: sfmla_ctypes.DeviceArray.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


def replace(call: Value, **changes: Any) -> Value:
    """A call, or a case, with other fields. Their types are not checked: some are wrong here."""
    changed: Value = dataclasses.replace(cast(Any, call), **changes)
    return changed


def only_request(call: Call, request: int) -> Call:
    """Request `request` of a TND / PA_BBND call as a call of its own, over the same caches."""
    cu = call.cu_seqlens_q
    assert cu is not None
    assert call.layout_kv == "PA_BBND"
    rows = slice(int(cu[request]), int(cu[request + 1]))
    changes: dict[str, Any] = {"cu_seqlens_q": np.array([0, rows.stop - rows.start], np.int32)}
    for name in (
        "q",
        "ori_sparse_indices",
        "cmp_sparse_indices",
        "ori_topk_length",
        "cmp_topk_length",
    ):
        value = getattr(call, name)
        changes[name] = None if value is None else value[rows]
    for name in (
        "ori_block_table",
        "cmp_block_table",
        "seqused_q",
        "seqused_ori_kv",
        "seqused_cmp_kv",
        "cmp_residual_kv",
    ):
        value = getattr(call, name)
        changes[name] = None if value is None else value[request : request + 1]
    return replace(call, **changes)


@contextmanager
def core_limit(cube: int) -> Iterator[None]:
    device = sfmla_ctypes.Device(0)
    before = device.cores
    device.set_core_limits(cube=cube, vector=2 * cube)
    try:
        yield
    finally:
        device.set_core_limits(cube=before.cube, vector=before.vector)
