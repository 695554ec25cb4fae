# SPDX-License-Identifier: Apache-2.0
"""SparseFlashAttention, V1 and V2: listed blocks of tokens, scores over 512 + 64 elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .rows import (
    Array,
    AttendedRow,
    Cache,
    Floats,
    attend,
    drop_empty_arrays,
    gather,
    length,
    score_sizes,
    sink_logits,
    until_negative,
)

ALL_TOKENS, CAUSAL = 0, 3
UNLIMITED = 2**63 - 1


class _Row(NamedTuple):
    """A query row that is not padding. ``visible`` tokens lie at or before its position."""

    request: int
    position: tuple[int, ...]
    visible: int


@dataclass(frozen=True)
class FlashCall:
    """The arguments of one call; names, order and defaults are those of the operator.

    An array without elements counts as absent.
    """

    query: Array
    key: Array | None = None
    value: Array | None = None
    sparse_indices: Array | None = None
    scale_value: float = 1.0
    block_table: Array | None = None
    actual_seq_lengths_query: Array | None = None
    actual_seq_lengths_kv: Array | None = None
    query_rope: Array | None = None
    key_rope: Array | None = None
    sinks: Array | None = None
    sparse_block_size: int = 1
    layout_query: str = "BSND"
    layout_kv: str = "BSND"
    sparse_mode: int = CAUSAL
    pre_tokens: int = UNLIMITED
    next_tokens: int = UNLIMITED
    attention_mode: int = 2
    return_softmax_lse: bool = False

    mode: ClassVar[str] = "SFA"

    def __post_init__(self) -> None:
        drop_empty_arrays(self, required="query")

    @property
    def packed(self) -> bool:
        """Whether query is (T1, N1, D) rather than (B, S1, N1, D)."""
        return self.layout_query == "TND"

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The key; value and rope part are laid out alike."""
        assert self.key is not None
        return (self.cache(self.key),)

    def cache(self, tokens: Array) -> Cache:
        """Key, value or rope part with what its tokens are found by."""
        table = self.block_table if self.layout_kv.startswith("PA_") else None
        packed = self.layout_kv == "TND"
        return Cache(tokens, table, _first(self.actual_seq_lengths_kv) if packed else None)

    def attended_rows(self) -> Iterator[AttendedRow]:
        """Every query token that is not padding, requests in order, with its keys."""
        assert self.sparse_indices is not None
        size = self.sparse_block_size
        for row in self.rows():
            visible = max(row.visible, 0)
            blocks = -(-visible // size)
            listed = until_negative(self.sparse_indices[row.position][0, :blocks].astype(np.int64))
            first_tokens = listed[listed < blocks, np.newaxis] * size
            tokens = (first_tokens + np.arange(size)).ravel()
            yield AttendedRow(row.request, row.position, (tokens[tokens < visible],))

    def rows(self) -> Iterator[_Row]:
        """Every query token that is not padding, requests in order."""
        first_rows = _first(self.actual_seq_lengths_query) if self.packed else None
        batch = len(self.query) if first_rows is None else len(first_rows) - 1
        for request in range(batch):
            query_tokens, tokens = self._lengths(request, first_rows)
            for token in range(query_tokens):
                packed_row = 0 if first_rows is None else int(first_rows[request]) + token
                position = (packed_row,) if self.packed else (request, token)
                causal = tokens - query_tokens + token + 1
                yield _Row(request, position, causal if self.sparse_mode == CAUSAL else tokens)

    def _lengths(self, request: int, first_rows: Array | None) -> tuple[int, int]:
        assert self.key is not None
        used_rows = None if self.packed else self.actual_seq_lengths_query
        query_tokens = length(used_rows, first_rows, request)
        packed_kv = self.layout_kv == "TND"
        sums = _first(self.actual_seq_lengths_kv) if packed_kv else None
        tokens = length(None if packed_kv else self.actual_seq_lengths_kv, sums, request)
        return (
            self.query.shape[1] if query_tokens is None else query_tokens,
            self.key.shape[1] if tokens is None else tokens,
        )


def sparse_flash_attention(
    query: Array,
    *,
    progress: Callable[[int, int], None] | None = None,
    sizes: Floats | None = None,
    **arguments: Any,
) -> tuple[Floats, Floats, Floats]:
    """Attention output and the statistics of its softmax, in float64.

    Arguments: those of ``sfmla_ctypes.sparse_flash_attention`` by name (see ``FlashCall``), as
    NumPy arrays. ``progress`` and ``sizes`` as in the reference of SparseFlashMla.

    Returns attention_out with the shape of query; softmax_max and softmax_sum of shape
    (B, 1, S1, N1) or (1, T1, N1). Padded rows are 0 in all; a row without a key has output 0, and
    as maximum and sum 0 and 0, or with sinks its sink and 1, unless it lies before the first token.
    """
    call = FlashCall(query, **arguments)
    assert call.key is not None
    assert call.query_rope is not None
    assert call.key_rope is not None
    out = np.zeros(query.shape, np.float64)
    largest, total = np.zeros(query.shape[:-1]), np.zeros(query.shape[:-1])
    pairs = list(zip(call.rows(), call.attended_rows(), strict=True))
    for done, (row, attended) in enumerate(pairs, start=1):
        at, (keys,) = row.position, attended.keys
        if keys.size:
            parts = [call.cache(part) for part in (call.key, call.key_rope)]
            tokens = np.concatenate([gather(part, row.request, keys) for part in parts], axis=-1)
            values = tokens[:, : query.shape[-1]]
            if call.value is not None:
                values = gather(call.cache(call.value), row.request, keys)
            halves = [part[at].astype(np.float64) for part in (query, call.query_rope)]
            queries = np.concatenate(halves, axis=-1)
            result = attend(queries, tokens, values, call.sinks, call.scale_value)
            out[at], largest[at], total[at] = _with_infinite_sinks(*result)
            if sizes is not None:
                sizes[at] = score_sizes(queries, tokens, call.scale_value)
        elif row.visible > 0 or call.sparse_mode == ALL_TOKENS:
            sinks = sink_logits(call.sinks, query.shape[-2])
            largest[at] = np.where(np.isneginf(sinks), 0.0, sinks)
            total[at] = np.where(np.isneginf(sinks), 0.0, 1.0)
        if progress is not None:
            progress(done, len(pairs))
    axis = 0 if call.packed else 1
    return out, np.expand_dims(largest, axis), np.expand_dims(total, axis)


def _with_infinite_sinks(out: Floats, peaks: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
    """A sink of +inf is the maximum and takes all the weight."""
    is_infinite = np.isposinf(sums)
    return out, np.where(is_infinite, np.inf, peaks), np.where(is_infinite, 1.0, sums)


def _first(sums: Array | None) -> Array:
    """Prefix sums from running totals without a leading 0."""
    assert sums is not None
    return np.concatenate(([0], sums))
