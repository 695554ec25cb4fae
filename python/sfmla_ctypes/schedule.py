# SPDX-License-Identifier: Apache-2.0
"""Planning a call: what ``sparse_flash_mla_metadata`` is asked, and what its answer says.

``metadata`` has 1024 words: 0..323 are 36 records of 9 words, one per cube core; 324..899 are 72
records of 8 words, one per vector core. A cursor (request, row, block) is a place in the order of
requests, their query rows, and the KV blocks of a row, original blocks first; a core works from its
start cursor up to, not including, its end cursor.

The cost of a block of s keys for m heads is 6*ceil(m/16) + 10*ceil(s/64), in units without a name.

This decoder shows users what a plan says. The tests read plans with another,
tests/reference/schedule.py, which shares no logic with it, so that no mistake can hide in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .case_arrays import Arguments
from .cases import CaseError
from .reference import Call, QueryRow, query_rows, requests

CUBE_RECORDS, CUBE_RECORD_WORDS = 36, 9
VECTOR_RECORDS, VECTOR_RECORD_WORDS = 72, 8
METADATA_WORDS = 1024
FIRST_VECTOR_WORD = CUBE_RECORDS * CUBE_RECORD_WORDS
KV_BLOCK_TOKENS = 512  # planning unit of the CPU device, counted separately in both KV parts

LENGTH_NAMES = (
    "cu_seqlens_q",
    "cu_seqlens_ori_kv",
    "cu_seqlens_cmp_kv",
    "seqused_q",
    "seqused_ori_kv",
    "seqused_cmp_kv",
    "cmp_residual_kv",
    "ori_topk_length",
    "cmp_topk_length",
)
MASK_NAMES = (
    "cmp_ratio",
    "ori_mask_mode",
    "cmp_mask_mode",
    "ori_win_left",
    "ori_win_right",
    "layout_q",
    "layout_kv",
)

Cursor = tuple[int, int, int]  # (request, row, KV block)


@dataclass(frozen=True)
class CoreWork:
    """The share of one enabled core."""

    core: int
    start: Cursor
    end: Cursor
    rows: int  # query rows touched, whole or in part
    kv_blocks: int
    cost: int


@dataclass(frozen=True)
class Merge:
    """The heads that one vector core merges of a row that several cube cores worked on.

    The row's partial results, one per chunk, lie in the slots from ``first_slot`` on.
    """

    vector_core: int
    request: int
    row: int
    first_slot: int
    slots: int
    first_head: int
    heads: int


@dataclass(frozen=True)
class Schedule:
    """All enabled records of a schedule."""

    cores: tuple[CoreWork, ...]
    merges: tuple[Merge, ...]

    @property
    def cost(self) -> int:
        """Cost of the whole call."""
        return sum(work.cost for work in self.cores)

    @property
    def largest_cost(self) -> int:
        """Cost of the busiest core: what the call takes when every core has a processor."""
        return max((work.cost for work in self.cores), default=0)

    @property
    def balance(self) -> float:
        """Mean over largest cost of the enabled cores, in (0, 1]; 1 when nothing is to do."""
        if self.largest_cost == 0:
            return 1.0
        return self.cost / len(self.cores) / self.largest_cost


def metadata_arguments(arguments: Mapping[str, Any]) -> Arguments:
    """The arguments of ``sparse_flash_mla_metadata`` that agree with a call of the main operator.

    Raises CaseError when q is missing or has no head axis: nothing can be planned then.
    """
    planned = call_extents(arguments)
    shared = (*LENGTH_NAMES, *MASK_NAMES)
    planned |= {name: arguments[name] for name in shared if name in arguments}
    for side in ("ori", "cmp"):
        cache = arguments.get(f"{side}_kv")
        planned[f"has_{side}_kv"] = cache is not None and cache.size > 0
        indices = arguments.get(f"{side}_sparse_indices")
        planned[f"{side}_topk"] = indices.shape[-1] if indices is not None and indices.ndim else 0
    for side in ("ori", "cmp"):
        planned[f"max_seqlen_{side}_kv"] = _cache_tokens(arguments, side)
    return planned


def call_extents(arguments: Mapping[str, Any]) -> Arguments:
    """What planners are told about q: heads, width, requests and rows per request.

    Raises CaseError when q is missing or has no head axis.
    """
    q = arguments.get("q")
    if q is None or q.ndim < 3:
        found = "missing" if q is None else f"rank {q.ndim}"
        raise CaseError(f"q: {found}, must be (B, S1, N1, 512) or (T1, N1, 512)")
    planned: Arguments = {"num_heads_q": q.shape[-2], "num_heads_kv": 1, "head_dim": q.shape[-1]}
    if arguments.get("layout_q", "BSND") == "BSND":
        planned |= {"batch_size": q.shape[0], "max_seqlen_q": q.shape[1]}
    elif arguments.get("cu_seqlens_q") is not None:
        planned["batch_size"] = max(0, arguments["cu_seqlens_q"].size - 1)
    return planned


def _cache_tokens(arguments: Mapping[str, Any], side: str) -> int:
    """Most tokens that one request can have in a cache; 0 where the lengths alone decide."""
    layout = arguments.get("layout_kv", "BSND")
    tokens = _extent(arguments.get(f"{side}_kv"))
    if layout == "BSND":
        return tokens
    return 0 if layout == "TND" else tokens * _extent(arguments.get(f"{side}_block_table"))


def _extent(tensor: NDArray[Any] | None) -> int:
    return int(tensor.shape[1]) if tensor is not None and tensor.ndim > 1 else 0


def decode_schedule(metadata: NDArray[np.int32], call: Call) -> Schedule:
    """The schedule in ``metadata``, with the costs that the lengths of ``call`` imply.

    Raises CaseError when ``metadata`` has another shape, or a cursor that ``call`` does not have.
    """
    words = planned_words(metadata)
    plan = _PlannedBlocks(call)
    cube = words[:FIRST_VECTOR_WORD].reshape(CUBE_RECORDS, CUBE_RECORD_WORDS)
    vector_words = words[FIRST_VECTOR_WORD:][: VECTOR_RECORDS * VECTOR_RECORD_WORDS]
    vector = vector_words.reshape(VECTOR_RECORDS, VECTOR_RECORD_WORDS)
    return Schedule(
        cores=tuple(
            plan.work(core, record) for core, record in enumerate(cube.tolist()) if record[0]
        ),
        merges=tuple(
            Merge(core, *record[1:7]) for core, record in enumerate(vector.tolist()) if record[0]
        ),
    )


def planned_words(metadata: NDArray[np.int32]) -> NDArray[np.int32]:
    """The words of a plan. Raises CaseError for an array of another shape or type."""
    words = np.asarray(metadata)
    if words.shape != (METADATA_WORDS,) or words.dtype != np.int32:
        found = f"{words.dtype} {words.shape}"
        raise CaseError(f"metadata: {found}, must be int32 ({METADATA_WORDS},)")
    return words


def cursors_of(
    core: int, record: Sequence[int], has: Callable[[Cursor], bool]
) -> tuple[Cursor, Cursor]:
    """Start and end of a cube record. Raises CaseError for a cursor that the call has not."""
    cursors: tuple[Cursor, Cursor] = (
        (record[1], record[2], record[3]),
        (record[4], record[5], record[6]),
    )
    for cursor in cursors:
        if not has(cursor):
            raise CaseError(f"metadata: core {core} has the cursor {cursor}, not of this call")
    return cursors


def block_tokens(row: QueryRow) -> Iterator[int]:
    """Keys to compute in each KV block of a row, in order.

    Candidates decide how many blocks there are; a top-k length only empties the last of them.
    """
    for candidates, entries in (
        (row.original_candidates, row.original_entries),
        (row.compressed_candidates, row.compressed_entries),
    ):
        for first in range(0, candidates, KV_BLOCK_TOKENS):
            yield min(KV_BLOCK_TOKENS, max(0, entries - first))


def block_cost(heads: int, tokens: int) -> int:
    """Cost of one KV block of a row; nothing for an empty one."""
    return 6 * -(-heads // 16) + 10 * -(-tokens // 64) if tokens else 0


class _PlannedBlocks:
    """Running counts over all rows of a call, so that any cursor range is one subtraction."""

    def __init__(self, call: Call) -> None:
        self.first_rows = np.concatenate(
            ([0], np.cumsum([request.query_tokens for request in requests(call)]))
        ).astype(np.int64)
        heads = call.q.shape[-2]
        costs: list[int] = []
        first_blocks = [0]
        for row in query_rows(call):
            costs.extend(block_cost(heads, tokens) for tokens in block_tokens(row))
            first_blocks.append(len(costs))
        self.first_blocks = np.array(first_blocks, np.int64)
        self.costs_before = np.concatenate(([0], np.cumsum(costs))).astype(np.int64)

    def work(self, core: int, record: list[Any]) -> CoreWork:
        start, end = cursors_of(core, record, self._has)
        first_block, last_block = self._block(start), self._block(end)
        past_last_row = self._row(end) + (1 if end[2] else 0)
        return CoreWork(
            core=core,
            start=start,
            end=end,
            rows=past_last_row - self._row(start),
            kv_blocks=last_block - first_block,
            cost=int(self.costs_before[last_block] - self.costs_before[first_block]),
        )

    def _has(self, cursor: Cursor) -> bool:
        return (
            min(cursor) >= 0
            and cursor[0] < len(self.first_rows)
            and self._row(cursor) < len(self.first_blocks)
            and self._block(cursor) < len(self.costs_before)
        )

    def _row(self, cursor: Cursor) -> int:
        return int(self.first_rows[cursor[0]]) + cursor[1]

    def _block(self, cursor: Cursor) -> int:
        return int(self.first_blocks[self._row(cursor)]) + cursor[2]
