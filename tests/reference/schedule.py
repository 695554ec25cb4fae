# SPDX-License-Identifier: Apache-2.0
"""What any valid schedule of SparseFlashMla on the CPU device satisfies.

The device plans one query token with all its heads as a row tile and 512 tokens as a KV block; the
original and the compressed part of a row have blocks of their own, original ones first. A cursor is
(request, row, block). Each enabled record of the schedule covers the cursors from its begin,
included, to its end, excluded.

The package has a decoder for users, sfmla_ctypes/schedule.py. This one shares no logic with it,
so that no mistake can hide in both.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from reference.attention import batch_size, lengths, original_range
from reference.call import Array, Call

WORDS, CORES, VECTORS = 1024, 36, 72
IDENTITY_WORD = 900  # the first word behind the records
BLOCK_TOKENS = 512
MERGE_SLOTS = 64  # partial results that one schedule may ask for
Cursor = tuple[int, int, int]


@dataclass(frozen=True)
class Schedule:
    records: Array  # (36, 9): enable, begin (request, row, block), end (the same), slot, blocks
    merges: Array  # (72, 8): enable, request, row, first slot, slots, first head, heads, 0

    def enabled(self) -> list[tuple[Cursor, Cursor]]:
        return [(tuple(r[1:4].tolist()), tuple(r[4:7].tolist())) for r in self.records if r[0]]


def decode(words: Array) -> Schedule:
    return Schedule(words[:324].reshape(CORES, 9), words[324:900].reshape(VECTORS, 8))


def blocks_of(candidates: int, cost_candidates: int) -> list[int]:
    """The tokens to pay for in each block of one part of a row."""
    starts = range(0, candidates, BLOCK_TOKENS)
    return [min(BLOCK_TOKENS, max(cost_candidates - start, 0)) for start in starts]


def part_blocks(
    visible: int, end: int, indices: Array | None, length: Array | None, row: int
) -> list[int]:
    """Blocks of a part: its visible tokens, or the list lanes that a row looks at.

    The length of a list shortens its cost, never the number of its blocks.
    """
    if indices is None:
        return blocks_of(visible, visible)
    lanes = min(indices.shape[-1], end)
    used = lanes if length is None else min(lanes, int(length.reshape(-1)[row]))
    return blocks_of(lanes, used)


def row_blocks(call: Call, request: int, row: int) -> list[int]:
    rows, ori_tokens, cmp_tokens = lengths(call, request)
    start = request * call.q.shape[1]
    if call.cu_seqlens_q is not None:
        start = int(call.cu_seqlens_q[request])
    first, end = original_range(call, ori_tokens - rows + row, ori_tokens)
    visible = cmp_tokens
    if call.cmp_mask_mode == 3 and call.cmp_kv is not None:
        restored = cmp_tokens * call.cmp_ratio
        if call.cmp_residual_kv is not None and call.cmp_ratio != 1:
            restored += int(call.cmp_residual_kv[request])
        visible = min(max((restored - rows + row + 1) // call.cmp_ratio, 0), cmp_tokens)
    return part_blocks(
        max(end - first, 0), end, call.ori_sparse_indices, call.ori_topk_length, start + row
    ) + part_blocks(visible, visible, call.cmp_sparse_indices, call.cmp_topk_length, start + row)


def cursors(call: Call) -> dict[Cursor, int]:
    """Every cursor of a call in order, with its tokens. A row without blocks has one, of 0."""
    return {
        (request, row, block): tokens
        for request in range(batch_size(call))
        for row in range(lengths(call, request)[0])
        for block, tokens in enumerate(row_blocks(call, request, row) or [0])
    }


def cost(heads: int, tokens: int) -> int:
    """The published cost of one block: cube and vector work in units of 16 heads and 64 tokens."""
    return 6 * math.ceil(heads / 16) + 10 * math.ceil(tokens / 64) if tokens else 0


def assert_covers_once(words: Array, call: Call) -> None:
    """The records are a chain from (0, 0, 0) to (B, 0, 0) that meets each cursor once."""
    enabled = decode(words).enabled()
    reached: Cursor = (0, 0, 0)
    for begin, end in enabled:
        assert begin == reached
        assert end >= begin
        reached = end
    assert reached == (batch_size(call), 0, 0)
    seen = dict.fromkeys(cursors(call), 0)
    for begin, end in enabled:
        for cursor in seen:
            seen[cursor] += begin <= cursor < end
    assert set(seen.values()) <= {1}


def assert_unused_words_are_zero(words: Array, cores: int) -> None:
    schedule = decode(words)
    for table in (schedule.records, schedule.merges):
        assert not table[table[:, 0] == 0].any(), "a disabled record holds something"
        assert set(table[:, 0].tolist()) <= {0, 1}
    assert not schedule.records[cores:].any()
    assert not schedule.merges[:, 7].any()
    assert words[IDENTITY_WORD] != 0
    assert words[-1] == 0


def assert_merges_match(words: Array, call: Call) -> None:
    """Rows that several records share are merged, each head once, from slots of their own."""
    schedule, heads = decode(words), call.q.shape[-2]
    shares = {(p[0], p[1]): 0 for p in cursors(call)}
    for row in shares:
        shares[row] = sum(
            begin < (row[0], row[1] + 1, 0) and end > (*row, 0) for begin, end in schedule.enabled()
        )
    merged_heads: dict[tuple[int, int], list[int]] = {
        row: [] for row, records in shares.items() if records > 1
    }
    slot_ranges: dict[tuple[int, int], tuple[int, int]] = {}
    for task in schedule.merges[schedule.merges[:, 0] == 1].tolist():
        _, request, row, first_slot, slots, first_head, count, _ = task
        assert slots >= shares[request, row] > 1
        assert slot_ranges.setdefault((request, row), (first_slot, slots)) == (first_slot, slots)
        merged_heads[request, row] += range(first_head, first_head + count)
    assert all(sorted(found) == list(range(heads)) for found in merged_heads.values())
    taken = sorted(slot_ranges.values())
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(taken))
    assert all(a + n <= MERGE_SLOTS for a, n in taken)


def largest_piece(call: Call, cores: int) -> int:
    """Cost of the largest piece that is never divided: a row, or a chunk of a row.

    Rows are divided when there are fewer of them than cores and their chunks, at most 16 of two or
    more blocks each, fit into the slots for partial results.
    """
    rows: dict[tuple[int, int], list[int]] = {}
    for (request, row, _), tokens in cursors(call).items():
        rows.setdefault((request, row), []).append(cost(call.q.shape[-2], tokens))
    sizes = {row: max(2, -(-len(costs) // 16)) for row, costs in rows.items()}
    chunks = sum(-(-len(costs) // sizes[row]) for row, costs in rows.items())
    if len(rows) >= cores or chunks > MERGE_SLOTS:
        return max(map(sum, rows.values()), default=0)
    return max(
        (
            sum(costs[i : i + sizes[row]])
            for row, costs in rows.items()
            for i in range(0, len(costs), sizes[row])
        ),
        default=0,
    )


def assert_balanced(words: Array, call: Call, cores: int) -> None:
    """No core does more than the mean and the largest piece that cannot be divided."""
    heads = call.q.shape[-2]
    costs = {cursor: cost(heads, tokens) for cursor, tokens in cursors(call).items()}
    loads = [
        sum(value for cursor, value in costs.items() if begin <= cursor < end)
        for begin, end in decode(words).enabled()
    ]
    assert max(loads, default=0) <= sum(costs.values()) / cores + largest_piece(call, cores)


def assert_valid(words: Array, call: Call, cores: int = CORES) -> None:
    words = np.asarray(words)
    assert words.shape == (WORDS,)
    assert_covers_once(words, call)
    assert_unused_words_are_zero(words, cores)
    assert_merges_match(words, call)
    assert_balanced(words, call, cores)
