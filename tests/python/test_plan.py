# SPDX-License-Identifier: Apache-2.0
"""The decoded schedule: costs by hand, and a real plan adds up."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfmla_ctypes import sparse_flash_mla_metadata
from sfmla_ctypes.cases import V4_MODES, CaseError, CaseSpec, build_case
from sfmla_ctypes.reference import Call, query_rows
from sfmla_ctypes.schedule import (
    CoreWork,
    Merge,
    Schedule,
    block_cost,
    block_tokens,
    decode_schedule,
    metadata_arguments,
)


def hand_made_call() -> Call:
    """One request, rows at 599 and 600 of 601 tokens: 600 and 601 causal keys, 2 blocks each."""
    return Call(
        np.zeros((1, 2, 17, 512), np.float16),
        ori_kv=np.zeros((1, 601, 1, 512), np.float16),
        ori_mask_mode=3,
    )


def test_cost_of_a_block_counts_tiles_of_16_heads_and_64_keys() -> None:
    assert block_cost(16, 64) == 6 + 10
    assert block_cost(17, 65) == 12 + 20
    assert block_cost(64, 512) == 24 + 80
    assert block_cost(64, 0) == 0


def test_records_become_rows_blocks_and_costs() -> None:
    metadata = np.zeros(1024, np.int32)
    metadata[0:9] = [1, 0, 0, 0, 0, 1, 1, 0, 0]
    metadata[27:36] = [1, 0, 1, 1, 1, 0, 0, 0, 0]
    metadata[324 + 8 :][:8] = [1, 0, 1, 3, 2, 4, 13, 0]
    schedule = decode_schedule(metadata, hand_made_call())
    # Blocks of 512 and 88, 512 and 89 keys for 17 heads: 92 and 32 each.
    assert schedule == Schedule(
        cores=(
            CoreWork(0, (0, 0, 0), (0, 1, 1), rows=2, kv_blocks=3, cost=92 + 32 + 92),
            CoreWork(3, (0, 1, 1), (1, 0, 0), rows=1, kv_blocks=1, cost=32),
        ),
        merges=(Merge(1, 0, 1, first_slot=3, slots=2, first_head=4, heads=13),),
    )
    assert schedule.cost == 248
    assert schedule.largest_cost == 216
    assert schedule.balance == pytest.approx(124 / 216)


def test_topk_lengths_empty_blocks_but_keep_them() -> None:
    call = Call(
        np.zeros((1, 1, 1, 512), np.float16),
        ori_kv=np.zeros((1, 2000, 1, 512), np.float16),
        ori_sparse_indices=np.zeros((1, 1, 1, 1100), np.int32),
        ori_topk_length=np.array([[[600]]]),
    )
    (row,) = query_rows(call)
    assert list(block_tokens(row)) == [512, 88, 0]


def test_nothing_to_do_is_in_balance() -> None:
    assert Schedule((), ()).balance == 1
    assert Schedule((), ()).largest_cost == 0


@pytest.mark.parametrize("mode", V4_MODES)
def test_a_plan_of_the_library_covers_the_call_once(mode: str) -> None:
    spec = CaseSpec(mode, (3, 0, 1, 9), (1500, 0, 40, 2300), heads=64, topk=700)
    for layout_q, layout_kv in (("TND", "PA_BBND"), ("BSND", "BSND")):
        arguments = build_case(replace(spec, layout_q=layout_q, layout_kv=layout_kv))
        metadata = sparse_flash_mla_metadata(**metadata_arguments(arguments))
        call = Call(**arguments)
        schedule = decode_schedule(metadata, call)
        blocks = [tokens for row in query_rows(call) for tokens in block_tokens(row)]
        assert schedule.cores[0].start == (0, 0, 0)
        assert schedule.cores[-1].end == (4, 0, 0)
        assert sum(work.kv_blocks for work in schedule.cores) == len(blocks)
        assert schedule.cost == sum(block_cost(64, tokens) for tokens in blocks)
        assert schedule.balance > 0.3


@pytest.mark.parametrize(
    ("word", "value", "sentence"),
    [(4, 2, r"core 0 has the cursor \(2, 0, 0\)"), (2, -1, r"core 0 has the cursor \(0, -1, 0\)")],
)
def test_cursors_outside_the_call_are_refused(word: int, value: int, sentence: str) -> None:
    metadata = np.zeros(1024, np.int32)
    metadata[0:9] = [1, 0, 0, 0, 1, 0, 0, 0, 0]
    metadata[word] = value
    with pytest.raises(CaseError, match=sentence):
        decode_schedule(metadata, hand_made_call())


@pytest.mark.parametrize(
    "words", [np.zeros(1024, np.float32), np.zeros(1024, np.int64), np.full(1024, "x")]
)
def test_metadata_of_another_type_is_refused(words: NDArray[Any]) -> None:
    with pytest.raises(CaseError, match=rf"metadata: {words.dtype} .* must be int32 \(1024,\)"):
        decode_schedule(words, hand_made_call())


def test_metadata_of_another_shape_is_refused() -> None:
    with pytest.raises(CaseError, match=r"metadata: int32 \(9,\), must be int32 \(1024,\)"):
        decode_schedule(np.zeros(9, np.int32), hand_made_call())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({}, "q: missing"), ({"q": np.zeros((2, 512), np.float16)}, "q: rank 2")],
)
def test_a_call_without_rows_and_heads_cannot_be_planned(
    arguments: dict[str, np.ndarray], sentence: str
) -> None:
    with pytest.raises(CaseError, match=sentence):
        metadata_arguments(arguments)
