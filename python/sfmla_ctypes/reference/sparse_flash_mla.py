# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMla: a window or a list of original tokens, and compressed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .rows import (
    Array,
    AttendedRow,
    Cache,
    Floats,
    Keys,
    attend,
    drop_empty_arrays,
    gather,
    length,
    score_sizes,
    until_negative,
)

NO_MASK, CAUSAL, WINDOW = 0, 3, 4
UNLIMITED = -1


@dataclass(frozen=True)
class Call:
    """The arguments of one call; names, order and defaults are those of the operator.

    A tensor without elements counts as absent. ``metadata`` and ``return_softmax_lse`` are
    accepted and change nothing: a schedule never changes numbers, and the LSE is always computed.
    """

    q: Array
    ori_kv: Array | None = None
    cmp_kv: Array | None = None
    ori_sparse_indices: Array | None = None
    cmp_sparse_indices: Array | None = None
    ori_block_table: Array | None = None
    cmp_block_table: Array | None = None
    cu_seqlens_q: Array | None = None
    cu_seqlens_ori_kv: Array | None = None
    cu_seqlens_cmp_kv: Array | None = None
    seqused_q: Array | None = None
    seqused_ori_kv: Array | None = None
    seqused_cmp_kv: Array | None = None
    cmp_residual_kv: Array | None = None
    ori_topk_length: Array | None = None
    cmp_topk_length: Array | None = None
    sinks: Array | None = None
    metadata: Array | None = None
    softmax_scale: float = 1.0
    cmp_ratio: int = 1
    ori_mask_mode: int = NO_MASK
    cmp_mask_mode: int = NO_MASK
    ori_win_left: int = UNLIMITED
    ori_win_right: int = UNLIMITED
    layout_q: str = "BSND"
    layout_kv: str = "BSND"
    topk_value_mode: int = 1
    return_softmax_lse: bool = False

    # Whether rows before the first token of their request attend to nothing, whatever the masks.
    rows_need_a_token: ClassVar[bool] = False
    # Whether a residual counts with a ratio of 1 too, and may be a ratio or more.
    any_residual: ClassVar[bool] = False

    def __post_init__(self) -> None:
        drop_empty_arrays(self, required="q")

    @property
    def packed(self) -> bool:
        """Whether q is (T1, N1, D) rather than (B, S1, N1, D)."""
        return self.layout_q == "TND"

    @property
    def paged(self) -> bool:
        """Whether the caches are page pools (pages, page tokens, 1, D)."""
        return self.layout_kv.startswith("PA_")

    @property
    def mode(self) -> str:
        """SWA, HCA, CSA, ORI_SPARSE or ORI_CMP_SPARSE, decided by which tensors are present."""
        listed = self.ori_sparse_indices is not None
        if self.cmp_kv is None:
            return "ORI_SPARSE" if listed else "SWA"
        if self.cmp_sparse_indices is None:
            return "HCA"
        return "ORI_CMP_SPARSE" if listed else "CSA"

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The original cache and, if there is one, the compressed cache."""
        assert self.ori_kv is not None
        sides = [(self.ori_kv, self.ori_block_table, self.cu_seqlens_ori_kv)]
        if self.cmp_kv is not None:
            sides.append((self.cmp_kv, self.cmp_block_table, self.cu_seqlens_cmp_kv))
        packed = self.layout_kv == "TND"
        return tuple(
            Cache(tokens, table if self.paged else None, sums if packed else None)
            for tokens, table, sums in sides
        )

    def attended_rows(self) -> Iterator[AttendedRow]:
        """Every query token that is not padding, requests in order, with its keys."""
        for row in query_rows(self):
            keys = row_keys(self, row)
            yield AttendedRow(row.request, row.position, keys[: len(self.caches)])


@dataclass(frozen=True)
class Request:
    """The lengths of one request, in tokens."""

    index: int
    first_query_row: int  # along T1; 0 unless q is packed
    query_tokens: int
    original_tokens: int
    compressed_tokens: int
    restored_tokens: int  # length that the mask of the compressed part is computed from


@dataclass(frozen=True)
class QueryRow:
    """One query token and the keys that masks and list lengths let it see.

    ``original`` and ``compressed`` are the token positions that the masks allow. Candidates are
    those tokens, or for a part with an index list as many list entries as could name one of them;
    entries are the candidates that are left under the row's top-k length.
    """

    request: int
    token: int
    position: tuple[int, ...]  # in the leading axes of q: (batch, token) or (row,)
    original: range
    compressed: range
    original_candidates: int
    compressed_candidates: int
    original_entries: int
    compressed_entries: int


def sparse_flash_mla(
    q: Array,
    *,
    progress: Callable[[int, int], None] | None = None,
    sizes: Floats | None = None,
    **arguments: Any,
) -> tuple[Floats, Floats]:
    """Attention output and log-sum-exp of a call, in float64.

    Arguments: those of ``sfmla_ctypes.sparse_flash_mla`` by name (see ``Call``), as NumPy arrays.
    ``progress(rows_done, rows)`` is called after every query row. ``sizes``, zeros of the shape of
    q but for its last axis, is filled with the size of each row's and head's scores (score_sizes).

    Returns attn_out with the shape of q, and softmax_lse of shape (B, 1, S1, N1) or (1, T1, N1):
    natural logarithm, sink included. Padded rows and rows without a key are 0 in both; without
    ``sinks`` the softmax is the plain one; an infinite sink gives 0 and +inf.
    """
    attn_out, row_lse = attention(Call(q, **arguments), progress, sizes)
    return attn_out, row_lse[np.newaxis] if row_lse.ndim == 2 else row_lse[:, np.newaxis]


def attention(
    call: Call,
    progress: Callable[[int, int], None] | None = None,
    sizes: Floats | None = None,
) -> tuple[Floats, Floats]:
    """attn_out with the shape of q, and the log-sum-exp with that shape but for its last axis."""
    attn_out = np.zeros(call.q.shape, np.float64)
    row_lse = np.zeros(call.q.shape[:-1], np.float64)
    rows = list(call.attended_rows())
    for done, row in enumerate(rows, start=1):
        parts = [
            gather(cache, row.request, keys)
            for cache, keys in zip(call.caches, row.keys, strict=True)
        ]
        tokens = np.concatenate(parts)
        if len(tokens):
            queries = call.q[row.position].astype(np.float64)
            scale = call.softmax_scale
            out, peaks, sums = attend(queries, tokens, tokens, call.sinks, scale)
            attn_out[row.position], row_lse[row.position] = out, peaks + np.log(sums)
            if sizes is not None:
                sizes[row.position] = score_sizes(queries, tokens, scale)
        if progress is not None:
            progress(done, len(rows))
    return attn_out, row_lse


def query_rows(call: Call) -> Iterator[QueryRow]:
    """Every query token that is not padding, requests in order."""
    for request in requests(call):
        for token in range(request.query_tokens):
            yield _query_row(call, request, token)


def row_keys(call: Call, row: QueryRow) -> tuple[Keys, Keys]:
    """Positions of the original and of the compressed keys that a row attends to.

    A key that a list names twice appears twice: it counts twice in the softmax.
    """
    return (
        _selected(row, row.original, call.ori_sparse_indices, row.original_entries),
        _selected(row, row.compressed, call.cmp_sparse_indices, row.compressed_entries),
    )


def requests(call: Call) -> Iterator[Request]:
    """The effective lengths of every request of a call."""
    if call.packed:
        assert call.cu_seqlens_q is not None
        count = len(call.cu_seqlens_q) - 1
    else:
        count = call.q.shape[0]
    for index in range(count):
        yield _request(call, index)


def _request(call: Call, index: int) -> Request:
    cumulative_q = call.cu_seqlens_q if call.packed else None
    query_tokens = length(call.seqused_q, cumulative_q, index)
    original_tokens = _original_tokens(call, index)
    compressed_tokens = _compressed_tokens(call, index, original_tokens)
    has_remainder = call.cmp_ratio != 1 or call.any_residual
    uses_residual = call.cmp_kv is not None and call.cmp_mask_mode == CAUSAL and has_remainder
    residual = 0
    if uses_residual and call.cmp_residual_kv is not None:
        residual = int(call.cmp_residual_kv[index])
    return Request(
        index=index,
        first_query_row=0 if cumulative_q is None else int(cumulative_q[index]),
        query_tokens=call.q.shape[1] if query_tokens is None else query_tokens,
        original_tokens=original_tokens,
        compressed_tokens=compressed_tokens,
        restored_tokens=compressed_tokens * call.cmp_ratio + residual,
    )


def _original_tokens(call: Call, index: int) -> int:
    cumulative = call.cu_seqlens_ori_kv if call.layout_kv == "TND" else None
    known = length(call.seqused_ori_kv, cumulative, index)
    return _capacity(call, call.ori_kv, call.ori_block_table) if known is None else known


def _compressed_tokens(call: Call, index: int, original_tokens: int) -> int:
    if call.cmp_kv is None:
        return 0
    cumulative = call.cu_seqlens_cmp_kv if call.layout_kv == "TND" else None
    known = length(call.seqused_cmp_kv, cumulative, index)
    if known is not None:
        return known
    capacity = _capacity(call, call.cmp_kv, call.cmp_block_table)
    return min(capacity, original_tokens // call.cmp_ratio) if call.paged else capacity


def _capacity(call: Call, cache: Array | None, block_table: Array | None) -> int:
    if cache is None:
        return 0
    if not call.paged:
        return int(cache.shape[1])
    return 0 if block_table is None else int(block_table.shape[1] * cache.shape[1])


def _query_row(call: Call, request: Request, token: int) -> QueryRow:
    packed_row = request.first_query_row + token
    position = (packed_row,) if call.packed else (request.index, token)
    original = _original_range(call, request, token)
    compressed = _compressed_range(call, request, token)
    original_candidates = _candidates(call.ori_sparse_indices, original)
    compressed_candidates = _candidates(call.cmp_sparse_indices, compressed)
    return QueryRow(
        request=request.index,
        token=token,
        position=position,
        original=original,
        compressed=compressed,
        original_candidates=original_candidates,
        compressed_candidates=compressed_candidates,
        original_entries=_entries(
            original_candidates, call.ori_sparse_indices, call.ori_topk_length, position
        ),
        compressed_entries=_entries(
            compressed_candidates, call.cmp_sparse_indices, call.cmp_topk_length, position
        ),
    )


def _original_range(call: Call, request: Request, token: int) -> range:
    own_position = request.original_tokens - request.query_tokens + token
    if call.rows_need_a_token and own_position < 0:
        return range(0)
    first, past_last = 0, request.original_tokens
    if call.ori_mask_mode == CAUSAL:
        past_last = own_position + 1
    elif call.ori_mask_mode == WINDOW:
        if call.ori_win_left != UNLIMITED:
            first = own_position - call.ori_win_left
        if call.ori_win_right != UNLIMITED:
            past_last = own_position + 1 + call.ori_win_right
    tokens = request.original_tokens
    return range(min(max(first, 0), tokens), min(max(past_last, 0), tokens))


def _compressed_range(call: Call, request: Request, token: int) -> range:
    past_last = request.compressed_tokens
    if call.cmp_mask_mode == CAUSAL:
        seen_tokens = request.restored_tokens - request.query_tokens + token + 1
        past_last = min(max(seen_tokens // call.cmp_ratio, 0), past_last)
    return range(past_last)


def _candidates(indices: Array | None, allowed: range) -> int:
    return len(allowed) if indices is None else min(int(indices.shape[-1]), allowed.stop)


def _entries(
    candidates: int, indices: Array | None, lengths: Array | None, position: tuple[int, ...]
) -> int:
    if indices is None or lengths is None:
        return candidates
    return max(0, min(candidates, int(lengths[position][0])))


def _selected(row: QueryRow, allowed: range, indices: Array | None, entries: int) -> Keys:
    if indices is None:
        return np.arange(allowed.start, allowed.stop, dtype=np.int64)
    listed = until_negative(indices[row.position][0, :entries].astype(np.int64))
    kept: Keys = listed[(listed >= allowed.start) & (listed < allowed.stop)]
    return kept
