# SPDX-License-Identifier: Apache-2.0
"""SparseAttnSharedkv in float64 NumPy: a window of original tokens, then compressed ones.

Written from the operator's own rules, not by way of the SparseFlashMla oracle; a test holds the two
against each other. They share how a token is found, how a list is read and one softmax.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reference.attention import Row, attend_rows, count, listed, tokens_of
from reference.call import Array


@dataclass(frozen=True)
class SharedKvCall:
    """Arguments of sparse_attn_sharedkv but for metadata; lengths count original tokens."""

    q: Array
    ori_kv: Array
    cmp_kv: Array | None = None
    ori_sparse_indices: Array | None = None  # always None: the operator refuses it
    cmp_sparse_indices: Array | None = None
    ori_block_table: Array | None = None
    cmp_block_table: Array | None = None
    cu_seqlens_q: Array | None = None
    cu_seqlens_ori_kv: Array | None = None
    cu_seqlens_cmp_kv: Array | None = None
    seqused_q: Array | None = None
    seqused_kv: Array | None = None
    sinks: Array | None = None
    softmax_scale: float = 1.0
    cmp_ratio: int = 1
    ori_mask_mode: int = 4
    cmp_mask_mode: int = 3
    ori_kv_stride: int = 0  # elements between pages; 0: those of the array
    cmp_kv_stride: int = 0
    ori_win_left: int = 127
    ori_win_right: int = 0
    layout_q: str = "BSND"
    layout_kv: str = "PA_ND"
    return_softmax_lse: bool = True


class Lengths(NamedTuple):
    rows: int  # S1, query rows
    tokens: int  # S2, original tokens


def batch_size(call: SharedKvCall) -> int:
    return len(call.q) if call.cu_seqlens_q is None else len(call.cu_seqlens_q) - 1


def lengths(call: SharedKvCall, request: int) -> Lengths:
    """Used lengths win over prefix sums, these over the axes of the arrays."""
    cu = call.cu_seqlens_ori_kv if call.layout_kv == "TND" else None
    return Lengths(
        count(call.seqused_q, call.cu_seqlens_q, request, call.q.shape[1]),
        count(call.seqused_kv, cu, request, call.ori_kv.shape[1]),
    )


def room(call: SharedKvCall, request: int) -> int:
    """Compressed rows that a request has at most: those of its part of the cache."""
    if call.cmp_kv is None:
        return 0
    if call.layout_kv == "TND":
        return count(None, call.cu_seqlens_cmp_kv, request, 0)
    if call.layout_kv == "BSND":
        return int(call.cmp_kv.shape[1])
    assert call.cmp_block_table is not None
    return int(call.cmp_block_table.shape[1] * call.cmp_kv.shape[1])


def keys_at(
    call: SharedKvCall, request: int, position: int, tokens: int, row: int
) -> tuple[Array, Array]:
    """Original and compressed keys of the query at `position` of a prefix of `tokens`."""
    nothing = np.arange(0)
    if position < 0:  # more rows than tokens: the first ones have no place in the prefix
        return nothing, nothing
    first = max(position - call.ori_win_left, 0)
    last = min(position + call.ori_win_right, tokens - 1)
    window = np.arange(first, last + 1)
    if call.cmp_kv is None:
        return window, nothing
    complete_groups = min((position + 1) // call.cmp_ratio, room(call, request))
    if call.cmp_sparse_indices is None:
        return window, np.arange(complete_groups)
    return window, listed(call.cmp_sparse_indices, None, row, 0, complete_groups)


def rows_of(call: SharedKvCall) -> Iterator[Row]:
    """Every query row that belongs to a request, with its keys. Padded rows are not listed."""
    for request in range(batch_size(call)):
        rows, tokens = lengths(call, request)
        start = request * call.q.shape[1]
        if call.cu_seqlens_q is not None:
            start = int(call.cu_seqlens_q[request])
        for s in range(rows):
            row = start + s
            yield Row(request, row, *keys_at(call, request, tokens - rows + s, tokens, row))


def cache(call: SharedKvCall, name: str) -> Array:
    """The cache "ori" or "cmp", its pages as far apart as the stride attribute says."""
    kv, stride = getattr(call, f"{name}_kv"), getattr(call, f"{name}_kv_stride")
    if call.layout_kv != "PA_ND" or stride == 0:
        return kv
    strides = (stride * kv.itemsize, *kv.strides[1:])
    return np.lib.stride_tricks.as_strided(kv, kv.shape, strides)


def gather(call: SharedKvCall, name: str, request: int, keys: Array) -> Array:
    cu = getattr(call, f"cu_seqlens_{name}_kv") if call.layout_kv == "TND" else None
    table = getattr(call, f"{name}_block_table") if call.layout_kv == "PA_ND" else None
    return tokens_of(cache(call, name), request, keys, cu, table)


def kv_of(call: SharedKvCall, row: Row) -> Array:
    kv = gather(call, "ori", row.request, row.ori_keys)
    if not row.cmp_keys.size:
        return kv
    return np.concatenate([kv, gather(call, "cmp", row.request, row.cmp_keys)])


def attention(call: SharedKvCall) -> tuple[Array, Array]:
    """attn_out in the shape of q, softmax_lse the same with a last axis of 1; both float64.

    Rows without a key and padded rows are 0 in both.
    """
    rows = ((row.query_row, kv_of(call, row)) for row in rows_of(call))
    out, lse = attend_rows(call.q, call.sinks, call.softmax_scale, rows)
    return out.reshape(call.q.shape), lse.reshape(*call.q.shape[:-1], 1)
