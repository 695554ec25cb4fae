# SPDX-License-Identifier: Apache-2.0
"""Planning a call of SparseAttnSharedkv: what its planner is asked, and what the answer says.

``metadata`` has 1024 words: 0..287 are 36 records of 8 words, one per cube core; 288..863 are 72
records of 8 words for merges, of which a plan has none. A cursor (request, row block, 0) is a place
in the order of requests and their row blocks: with an index list one query row, else 256 pairs of
query row and head; only the newest min(rows, tokens) rows of a request count.

The cost of a row block is that of its tiles of 512 tokens, window and compressed part apart, as in
``schedule``; long lists under 128 heads have a formula of their own, as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .case_arrays import Arguments
from .reference import Call, SharedKvCall, requests
from .schedule import (
    CUBE_RECORDS,
    KV_BLOCK_TOKENS,
    MASK_NAMES,
    CoreWork,
    Cursor,
    Schedule,
    block_cost,
    call_extents,
    cursors_of,
    planned_words,
)

CUBE_RECORD_WORDS = 8
DENSE_PAIRS = 256
FITTED_HEADS, FITTED_TOPK = 128, 1024

PLANNED_NAMES = (
    "cu_seqlens_q",
    "cu_seqlens_ori_kv",
    "cu_seqlens_cmp_kv",
    "seqused_q",
    "seqused_kv",
    *MASK_NAMES,
)


def metadata_arguments(arguments: Mapping[str, Any]) -> Arguments:
    """The arguments of ``sparse_attn_sharedkv_metadata`` that agree with a call.

    Raises CaseError when q is missing or has no head axis: nothing can be planned then.
    """
    planned = call_extents(arguments)
    planned |= {name: arguments[name] for name in PLANNED_NAMES if name in arguments}
    indices = arguments.get("cmp_sparse_indices")
    planned["cmp_topk"] = indices.shape[-1] if indices is not None and indices.ndim else 0
    planned["has_cmp_kv"] = _has_cmp_kv(arguments)
    cache = arguments.get("ori_kv")
    if arguments.get("layout_kv") == "BSND" and cache is not None and cache.ndim > 1:
        planned["max_seqlen_kv"] = int(cache.shape[1])
    return planned


def _has_cmp_kv(arguments: Mapping[str, Any]) -> bool:
    """A compressed cache without tokens counts if something comes with it, as in the operator."""
    cache = arguments.get("cmp_kv")
    company = ("cmp_sparse_indices", "cmp_block_table", "cu_seqlens_cmp_kv")
    comes_with_something = any(arguments.get(name) is not None for name in company)
    return cache is not None and (cache.size > 0 or comes_with_something)


def decode_schedule(metadata: NDArray[np.int32], call: SharedKvCall) -> Schedule:
    """The schedule in ``metadata``, with the costs that the lengths of ``call`` imply.

    Raises CaseError when ``metadata`` has another shape, or a cursor that ``call`` does not have.
    """
    words = planned_words(metadata)[: CUBE_RECORDS * CUBE_RECORD_WORDS]
    plan = _RowBlocks(call.as_sparse_flash_mla())
    records = words.reshape(CUBE_RECORDS, CUBE_RECORD_WORDS).tolist()
    return Schedule(
        cores=tuple(plan.work(core, record) for core, record in enumerate(records) if record[0]),
        merges=(),
    )


class _Block(NamedTuple):
    """A row block. Rows are numbered over all rows that have a place in their sequence."""

    first_row: int
    last_row: int
    tiles: int
    cost: int


class _RequestBlocks:
    """The row blocks of one request, whose rows begin at ``first_row`` of the whole call."""

    def __init__(self, call: Call, rows: int, tokens: int, first_row: int) -> None:
        indices = call.cmp_sparse_indices
        self.call = call
        self.heads = int(call.q.shape[-2])
        self.topk = 0 if indices is None else int(indices.shape[-1])
        self.pairs = self.heads if self.topk else DENSE_PAIRS
        self.rows, self.tokens = min(rows, tokens), tokens
        self.first_row = first_row

    def __iter__(self) -> Iterator[_Block]:
        pairs = self.rows * self.heads
        for first_pair in range(0, pairs, self.pairs):
            end_pair = min(first_pair + self.pairs, pairs)
            first, last = first_pair // self.heads, (end_pair - 1) // self.heads
            sizes = [size for size in self._tiles(first, last) if size]
            cost = sum(block_cost(end_pair - first_pair, size) for size in sizes)
            if self._is_fitted():
                cost = self._fitted_cost(last)
            yield _Block(self.first_row + first, self.first_row + last, len(sizes), cost)

    def _end(self, row: int) -> int:
        return self.tokens - self.rows + row + 1

    def _tiles(self, first: int, last: int) -> Iterator[int]:
        begin = max(0, self._end(first) - 1 - self.call.ori_win_left)
        yield from _cut(self._end(last) - begin)
        if self.call.cmp_kv is not None:
            groups = self._end(last) // self.call.cmp_ratio
            yield from _cut(min(groups, self.topk) if self.topk else groups)

    def _is_fitted(self) -> bool:
        if (self.heads, self.topk) != (FITTED_HEADS, FITTED_TOPK):
            return False
        listed_tokens = self.topk * self.call.cmp_ratio
        return self.rows >= self.tokens or self.tokens - self.rows + 1 < listed_tokens

    def _fitted_cost(self, last: int) -> int:
        listed_tokens = self.topk * self.call.cmp_ratio
        tokens = min(listed_tokens, self._end(last))
        cost = 15 * -(-self.pairs // 16) + 5 * -(-tokens // 64)
        if tokens == listed_tokens:
            return cost - cost // 21
        if tokens < 2048:
            return cost - cost // 18
        return cost + cost // 7 if 2048 < tokens < 3392 else cost


def _cut(tokens: int) -> Iterator[int]:
    for first in range(0, tokens, KV_BLOCK_TOKENS):
        yield min(KV_BLOCK_TOKENS, tokens - first)


class _RowBlocks:
    """All row blocks of a call, in order."""

    def __init__(self, call: Call) -> None:
        self.blocks: list[_Block] = []
        self.first_blocks = [0]  # of each request, and their number
        first_row = 0
        for request in requests(call):
            tokens = request.original_tokens
            part = _RequestBlocks(call, request.query_tokens, tokens, first_row)
            self.blocks += part
            first_row += part.rows
            self.first_blocks.append(len(self.blocks))

    def work(self, core: int, record: list[int]) -> CoreWork:
        start, end = cursors_of(core, record, self._has)
        blocks = self.blocks[self._block(start) : self._block(end)]
        return CoreWork(
            core=core,
            start=start,
            end=end,
            rows=blocks[-1].last_row - blocks[0].first_row + 1 if blocks else 0,
            kv_blocks=sum(block.tiles for block in blocks),
            cost=sum(block.cost for block in blocks),
        )

    def _has(self, cursor: Cursor) -> bool:
        request, _, kv_block = cursor
        is_placed = min(cursor) >= 0 and kv_block == 0 and request < len(self.first_blocks)
        return is_placed and self._block(cursor) <= len(self.blocks)

    def _block(self, cursor: Cursor) -> int:
        return self.first_blocks[cursor[0]] + cursor[1]
