# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMla in float64 NumPy, written to be read and independent of the library.

``sparse_flash_mla`` takes the arguments of ``sfmla_ctypes.sparse_flash_mla`` by the same names
and answers what the operator should; ``query_rows`` and ``row_keys`` say which keys a row attends
to, which is what pictures and operation counts need.

Axes: B requests, S1 query tokens, S2 original tokens, S3 compressed tokens, T1/T2/T3 the same
packed over all requests, N1 query heads, one KV head, D = 512; keys are also the values.

The arguments are taken to be valid: refusing bad ones is the library's work.

Users check their own arrays with this one. The tests have another, tests/reference/attention.py,
which shares no line with it, so that no mistake can hide in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "q" and isinstance(value, np.ndarray) and value.size == 0:
                object.__setattr__(self, field.name, None)

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
    q: Array, *, progress: Callable[[int, int], None] | None = None, **arguments: Any
) -> tuple[Floats, Floats]:
    """Attention output and log-sum-exp of a call, in float64.

    Arguments: those of ``sfmla_ctypes.sparse_flash_mla`` by name (see ``Call``), as NumPy arrays.
    ``progress(rows_done, rows)`` is called after every query row.

    Returns attn_out with the shape of q, and softmax_lse of shape (B, 1, S1, N1) or (1, T1, N1):
    natural logarithm, sink included. Padded rows and rows without a key are 0 in both; without
    ``sinks`` the softmax is the plain one; an infinite sink gives 0 and +inf.
    """
    call = Call(q, **arguments)
    attn_out = np.zeros(q.shape, np.float64)
    row_lse = np.zeros(q.shape[:-1], np.float64)
    rows = list(query_rows(call))
    for done, row in enumerate(rows, start=1):
        keys = _row_key_vectors(call, row)
        if len(keys):
            queries = q[row.position].astype(np.float64)
            attn_out[row.position], row_lse[row.position] = _attend(call, queries, keys)
        if progress is not None:
            progress(done, len(rows))
    return attn_out, row_lse[np.newaxis] if call.packed else row_lse[:, np.newaxis]


def query_rows(call: Call) -> Iterator[QueryRow]:
    """Every query token that is not padding, requests in order."""
    for request in requests(call):
        for token in range(request.query_tokens):
            yield _query_row(call, request, token)


def row_keys(call: Call, row: QueryRow) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    query_tokens = _length(call.seqused_q, cumulative_q, index)
    original_tokens = _original_tokens(call, index)
    compressed_tokens = _compressed_tokens(call, index, original_tokens)
    uses_residual = call.cmp_kv is not None and call.cmp_mask_mode == CAUSAL and call.cmp_ratio != 1
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
    known = _length(call.seqused_ori_kv, cumulative, index)
    return _capacity(call, call.ori_kv, call.ori_block_table) if known is None else known


def _compressed_tokens(call: Call, index: int, original_tokens: int) -> int:
    if call.cmp_kv is None:
        return 0
    cumulative = call.cu_seqlens_cmp_kv if call.layout_kv == "TND" else None
    known = _length(call.seqused_cmp_kv, cumulative, index)
    if known is not None:
        return known
    capacity = _capacity(call, call.cmp_kv, call.cmp_block_table)
    return min(capacity, original_tokens // call.cmp_ratio) if call.paged else capacity


def _length(used: Array | None, cumulative: Array | None, index: int) -> int | None:
    if used is not None:
        return int(used[index])
    if cumulative is not None:
        return int(cumulative[index + 1]) - int(cumulative[index])
    return None


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


def _selected(
    row: QueryRow, allowed: range, indices: Array | None, entries: int
) -> NDArray[np.int64]:
    if indices is None:
        return np.arange(allowed.start, allowed.stop, dtype=np.int64)
    listed = indices[row.position][0, :entries].astype(np.int64)
    negative = np.flatnonzero(listed < 0)
    if negative.size:
        listed = listed[: negative[0]]
    kept: NDArray[np.int64] = listed[(listed >= allowed.start) & (listed < allowed.stop)]
    return kept


def _row_key_vectors(call: Call, row: QueryRow) -> Floats:
    original, compressed = row_keys(call, row)
    parts = [
        _gather(call, row, original, call.ori_kv, call.ori_block_table, call.cu_seqlens_ori_kv)
    ]
    if call.cmp_kv is not None:
        parts.append(
            _gather(
                call, row, compressed, call.cmp_kv, call.cmp_block_table, call.cu_seqlens_cmp_kv
            )
        )
    return np.concatenate(parts)


def _gather(
    call: Call,
    row: QueryRow,
    tokens: NDArray[np.int64],
    cache: Array | None,
    block_table: Array | None,
    cumulative: Array | None,
) -> Floats:
    assert cache is not None
    if call.paged:
        assert block_table is not None
        page_tokens = cache.shape[1]
        pages = block_table[row.request, tokens // page_tokens]
        vectors = cache[pages, tokens % page_tokens, 0]
    elif call.layout_kv == "TND":
        assert cumulative is not None
        vectors = cache[int(cumulative[row.request]) + tokens, 0]
    else:
        vectors = cache[row.request, tokens, 0]
    converted: Floats = vectors.astype(np.float64)
    return converted


def _attend(call: Call, queries: Floats, keys: Floats) -> tuple[Floats, Floats]:
    scores = call.softmax_scale * (queries @ keys.T)
    peaks = scores.max(axis=1)
    no_sinks = np.full(len(queries), -np.inf)
    sinks = no_sinks if call.sinks is None else call.sinks.astype(np.float64)
    peaks = np.maximum(peaks, np.where(np.isposinf(sinks), -np.inf, sinks))
    weights = np.exp(scores - peaks[:, np.newaxis])
    sums = weights.sum(axis=1) + np.exp(sinks - peaks)
    return (weights @ keys) / sums[:, np.newaxis], peaks + np.log(sums)
