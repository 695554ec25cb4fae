# SPDX-License-Identifier: Apache-2.0
"""SparseFlashAttention, V1 and V2, in float64 NumPy: every row attends to the blocks of its list.

V1 is V2 without sinks. Scores are taken over 512 + 64 elements, values are 512 wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reference.attention import attend, listed, tokens_of
from reference.call import Array

UNLIMITED = 2**63 - 1


@dataclass(frozen=True)
class SparseFlashCall:
    """Arguments of sparse_flash_attention; shapes and meaning as in its documentation."""

    query: Array
    key: Array
    value: Array | None  # None: key
    sparse_indices: Array
    scale_value: float
    block_table: Array | None = None
    actual_seq_lengths_query: Array | None = None
    actual_seq_lengths_kv: Array | None = None
    query_rope: Array | None = None  # required
    key_rope: Array | None = None  # required
    sinks: Array | None = None
    sparse_block_size: int = 1
    layout_query: str = "BSND"
    layout_kv: str = "BSND"
    sparse_mode: int = 3
    pre_tokens: int = UNLIMITED
    next_tokens: int = UNLIMITED
    attention_mode: int = 2
    return_softmax_lse: bool = True


class Place(NamedTuple):
    """A query row and how much of its request it may see."""

    request: int
    query_row: int  # in the flattened query
    visible: int  # tokens [0, visible); not positive: the row has no place in the sequence


class Row(NamedTuple):
    place: Place
    keys: Array  # token ids inside the request, in the order of the list


def first_rows(sums: Array) -> Array:
    """Packed sequences: where each request begins and the last one ends, from cumulative ends."""
    return np.concatenate([[0], sums]).astype(np.int64)


def query_rows(call: SparseFlashCall, request: int) -> range:
    """The rows of a request in the flattened query; padding belongs to none."""
    if call.layout_query == "TND":
        first = first_rows(call.actual_seq_lengths_query)
        return range(int(first[request]), int(first[request + 1]))
    rows = call.query.shape[1]
    used = call.actual_seq_lengths_query
    start = request * rows
    return range(start, start + (rows if used is None else int(used[request])))


def kv_tokens(call: SparseFlashCall, request: int) -> int:
    """Cumulative ends for packed keys, lengths for the others, also when queries are packed."""
    if call.layout_kv == "TND":
        return int(np.diff(first_rows(call.actual_seq_lengths_kv))[request])
    used = call.actual_seq_lengths_kv
    return call.key.shape[1] if used is None else int(used[request])


def places(call: SparseFlashCall) -> Iterator[Place]:
    """Every query row that belongs to a request."""
    packed = call.layout_query == "TND"
    requests: Array = call.actual_seq_lengths_query if packed else call.query
    for request in range(len(requests)):
        rows, tokens = query_rows(call, request), kv_tokens(call, request)
        for s, row in enumerate(rows):
            causal = tokens - len(rows) + s + 1
            yield Place(request, row, causal if call.sparse_mode == 3 else tokens)


def rows_of(call: SparseFlashCall) -> Iterator[Row]:
    """Every query row that belongs to a request, with its keys."""
    size = call.sparse_block_size
    for place in places(call):
        blocks = -(-max(place.visible, 0) // size)
        ids = listed(call.sparse_indices, None, place.query_row, 0, blocks)
        tokens = (ids[:, None] * size + np.arange(size)).reshape(-1)
        yield Row(place, tokens[tokens < place.visible])


def gather(call: SparseFlashCall, cache: Array, row: Row) -> Array:
    cu = first_rows(call.actual_seq_lengths_kv) if call.layout_kv == "TND" else None
    table = call.block_table if call.layout_kv == "PA_BSND" else None
    return tokens_of(cache, row.place.request, row.keys, cu, table).astype(np.float64)


def keyless(call: SparseFlashCall, place: Place, sinks: Array) -> tuple[Array, Array]:
    """Maximum and sum of a row without a key: its sinks, unless it has no place at all."""
    has_place = call.sparse_mode == 0 or place.visible > 0
    counts = has_place & (sinks != -np.inf)
    return np.where(counts, sinks, 0.0), np.where(counts, 1.0, 0.0)


def attention(call: SparseFlashCall) -> tuple[Array, Array, Array]:
    """attention_out like query; softmax_max, softmax_sum (B, 1, S1, N1) or (1, T1, N1); float64.

    Rows that belong to no request are 0 in all three.
    """
    heads = call.query.shape[-2]
    q = np.concatenate([call.query, call.query_rope], axis=-1)
    q = q.reshape(-1, heads, q.shape[-1]).astype(np.float64)
    out = np.zeros((len(q), heads, call.query.shape[-1]))
    largest, total = np.zeros(out.shape[:2]), np.zeros(out.shape[:2])
    sinks = np.full(heads, -np.inf) if call.sinks is None else call.sinks.astype(np.float64)
    for row in rows_of(call):
        at = row.place.query_row
        if not row.keys.size:
            largest[at], total[at] = keyless(call, row.place, sinks)
            continue
        key = gather(call, call.key, row)
        keys = np.concatenate([key, gather(call, call.key_rope, row)], axis=-1)
        values = key if call.value is None else gather(call, call.value, row)
        out[at], largest[at], total[at] = attend(q[at], keys, values, sinks, call.scale_value)
    axes = call.query.shape[:-1]
    softmax_axes = (1, *axes) if call.layout_query == "TND" else (axes[0], 1, *axes[1:])
    return (
        out.reshape(call.query.shape),
        largest.reshape(softmax_axes),
        total.reshape(softmax_axes),
    )


def log_sum_exp(largest: Array, total: Array) -> Array:
    """The LSE of softmax_max and softmax_sum; -inf where a row has neither key nor sink."""
    with np.errstate(divide="ignore"):
        return largest + np.log(total)
