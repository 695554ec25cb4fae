# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMla in float64 NumPy: for every query row the list of its keys, then one softmax.

Rows are numbered over the whole call: row r of the flattened q is row r of the output.

The package has an oracle for users, sfmla_ctypes/reference. This one shares no logic with
it, so that no mistake can hide in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from reference.call import Array, Call


class Row(NamedTuple):
    """One query row and the tokens it attends to, in the order in which lists name them."""

    request: int
    query_row: int  # in the flattened q
    ori_keys: Array
    cmp_keys: Array


def batch_size(call: Call) -> int:
    return len(call.q) if call.cu_seqlens_q is None else len(call.cu_seqlens_q) - 1


def count(used: Array | None, cu: Array | None, request: int, otherwise: int) -> int:
    """Tokens of one request: an explicit count, a difference of prefix sums, or the whole axis."""
    if used is not None and used.size:
        return int(used[request])
    return otherwise if cu is None else int(cu[request + 1]) - int(cu[request])


def lengths(call: Call, request: int) -> tuple[int, int, int]:
    """Query rows, original tokens and compressed tokens of one request."""
    rows = count(call.seqused_q, call.cu_seqlens_q, request, call.q.shape[1])
    packed = call.layout_kv == "TND"
    capacity = call.ori_kv.shape[1]
    if call.layout_kv == "PA_BBND" and call.ori_block_table is not None:
        capacity *= call.ori_block_table.shape[1]
    ori_tokens = count(
        call.seqused_ori_kv, call.cu_seqlens_ori_kv if packed else None, request, capacity
    )
    if call.cmp_kv is None:
        return rows, ori_tokens, 0
    capacity = call.cmp_kv.shape[1]
    if call.layout_kv == "PA_BBND" and call.cmp_block_table is not None:
        capacity = min(ori_tokens // call.cmp_ratio, capacity * call.cmp_block_table.shape[1])
    return (
        rows,
        ori_tokens,
        count(call.seqused_cmp_kv, call.cu_seqlens_cmp_kv if packed else None, request, capacity),
    )


def original_range(call: Call, position: int, tokens: int) -> tuple[int, int]:
    """Tokens [first, end) that the mask lets a row at `position` see (position < 0 is possible)."""
    first, end = 0, tokens
    if call.ori_mask_mode == 3:
        end = position + 1
    if call.ori_mask_mode == 4 and call.ori_win_left != -1:
        first = position - call.ori_win_left
    if call.ori_mask_mode == 4 and call.ori_win_right != -1:
        end = position + 1 + call.ori_win_right
    return min(max(first, 0), tokens), min(max(end, 0), tokens)


def listed(indices: Array, length: Array | None, row: int, first: int, end: int) -> Array:
    """The entries of an index list that count: lanes below `end`, up to the first negative one."""
    lanes = indices.reshape(-1, indices.shape[-1])[row][: max(end, 0)]
    if length is not None and length.size:
        lanes = lanes[: max(int(length.reshape(-1)[row]), 0)]
    negative = np.flatnonzero(lanes < 0)
    lanes = lanes[: negative[0]] if negative.size else lanes
    return lanes[(lanes >= first) & (lanes < end)].astype(np.int64)


def rows_of(call: Call) -> Iterator[Row]:
    """Every query row that belongs to a request, with its keys. Padded rows are not listed."""
    ratio = call.cmp_ratio
    for request in range(batch_size(call)):
        query_rows, ori_tokens, cmp_tokens = lengths(call, request)
        restored_tokens = cmp_tokens * ratio
        if call.cmp_residual_kv is not None and call.cmp_residual_kv.size and ratio != 1:
            restored_tokens += int(call.cmp_residual_kv[request])
        start = request * call.q.shape[1]
        if call.cu_seqlens_q is not None:
            start = int(call.cu_seqlens_q[request])
        for t in range(query_rows):
            row = start + t
            first, end = original_range(call, ori_tokens - query_rows + t, ori_tokens)
            ori_keys = np.arange(first, max(first, end))
            if call.ori_sparse_indices is not None:
                ori_keys = listed(call.ori_sparse_indices, call.ori_topk_length, row, first, end)
            visible = cmp_tokens
            if call.cmp_mask_mode == 3 and call.cmp_kv is not None:
                visible = (restored_tokens - query_rows + t + 1) // ratio
                visible = min(max(visible, 0), cmp_tokens)
            cmp_keys = np.arange(visible)
            if call.cmp_sparse_indices is not None:
                cmp_keys = listed(call.cmp_sparse_indices, call.cmp_topk_length, row, 0, visible)
            yield Row(request, row, ori_keys, cmp_keys)


def tokens_of(kv: Array, request: int, keys: Array, cu: Array | None, table: Array | None) -> Array:
    """Tokens `keys` of a request, (n, D): paged with a table, packed with prefix sums."""
    if table is not None:
        return kv[table[request, keys // kv.shape[1]], keys % kv.shape[1], 0]
    return kv[request, keys, 0] if cu is None else kv[int(cu[request]) + keys, 0]


def gather(call: Call, cache: str, request: int, keys: Array) -> Array:
    """Tokens `keys` of a request from the cache "ori" or "cmp": (n, 512)."""
    cu = getattr(call, f"cu_seqlens_{cache}_kv") if call.layout_kv == "TND" else None
    table = getattr(call, f"{cache}_block_table") if call.layout_kv == "PA_BBND" else None
    return tokens_of(getattr(call, f"{cache}_kv"), request, keys, cu, table)


def attend(
    q: Array, keys: Array, values: Array, sinks: Array, scale: float
) -> tuple[Array, Array, Array]:
    """One row: q (N1, D), its keys (n, D) and values (n, 512), n > 0, and sinks (N1).

    Output (N1, 512); the largest logit and the sum of the weights relative to it (N1).
    """
    scores = scale * (q @ keys.T)
    largest = np.maximum(scores.max(axis=1), sinks)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - largest[:, None])
        total = weights.sum(axis=1) + np.exp(sinks - largest)
        out = (weights @ values) / total[:, None]
    swallowed = sinks == np.inf  # an infinite sink takes all the weight
    return (
        np.where(swallowed[:, None], 0.0, out),
        np.where(swallowed, np.inf, largest),
        np.where(swallowed, 1.0, total),
    )


def attend_rows(
    q: Array, sinks: Array | None, scale: float, kv_of_rows: Iterable[tuple[int, Array]]
) -> tuple[Array, Array]:
    """Output and LSE of the flattened q, where keys are values; rows without any stay 0."""
    q = q.reshape(-1, *q.shape[-2:])
    out, lse = np.zeros(q.shape), np.zeros(q.shape[:2])
    logits = np.full(q.shape[1], -np.inf) if sinks is None else sinks.astype(np.float64)
    for row, kv in kv_of_rows:
        if len(kv):
            kv = kv.astype(np.float64)
            out[row], largest, total = attend(q[row].astype(np.float64), kv, kv, logits, scale)
            lse[row] = largest + np.log(total)
    return out, lse


def kv_of(call: Call, row: Row) -> Array:
    kv = gather(call, "ori", row.request, row.ori_keys)
    if call.cmp_kv is None:
        return kv
    return np.concatenate([kv, gather(call, "cmp", row.request, row.cmp_keys)])


def attention(call: Call) -> tuple[Array, Array]:
    """attn_out in the shape of q, softmax_lse (B, 1, S1, N1) or (1, T1, N1); both float64."""
    rows = ((row.query_row, kv_of(call, row)) for row in rows_of(call))
    out, lse = attend_rows(call.q, call.sinks, call.softmax_scale, rows)
    by_request = lse.shape if call.layout_q == "TND" else call.q.shape[:-1]
    return out.reshape(call.q.shape), np.expand_dims(lse.reshape(by_request), -3)
