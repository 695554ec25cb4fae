# SPDX-License-Identifier: Apache-2.0
"""The rules of reference/schedule.py accept a plain schedule and refuse each way to break it."""

from collections.abc import Callable

import numpy as np
import pytest

from reference.call import Array
from reference.cases import Case, build
from reference.schedule import IDENTITY_WORD, assert_valid, cursors, decode

CALL = build(Case("hca", rows=(2, 1), tokens=(1200, 40), ratio=1, ori_mask=3, heads=16))


def words_of(*ends: tuple[int, int, int]) -> Array:
    """A schedule whose records end at the given cursors."""
    words = np.zeros(1024, np.int32)
    begin = (0, 0, 0)
    for record, end in zip(decode(words).records, ends, strict=False):
        record[:7] = [1, *begin, *end]
        begin = end
    words[IDENTITY_WORD] = 1
    return words


def test_cursors_of_a_call() -> None:
    # 1199 and 1200 tokens make three blocks in each part, 40 tokens one.
    assert [p for p in cursors(CALL) if p[0] == 0] == [
        (0, row, block) for row in range(2) for block in range(6)
    ]
    assert cursors(CALL)[1, 0, 0] == 40
    assert cursors(CALL)[0, 0, 2] == 1199 - 1024


def test_a_plain_schedule_is_valid() -> None:
    assert_valid(words_of((2, 0, 0)), CALL, cores=1)
    assert_valid(words_of((0, 1, 0), (2, 0, 0)), CALL, cores=2)


def test_a_split_row_needs_a_merge_of_all_heads() -> None:
    words = words_of((0, 1, 2), (2, 0, 0))
    with pytest.raises(AssertionError):
        assert_valid(words, CALL, cores=2)
    decode(words).merges[0] = [1, 0, 1, 0, 3, 0, 10, 0]
    decode(words).merges[1] = [1, 0, 1, 0, 3, 10, 6, 0]
    assert_valid(words, CALL, cores=2)
    decode(words).merges[1, 5] = 9
    with pytest.raises(AssertionError):
        assert_valid(words, CALL, cores=2)


def leave_a_row_out(words: Array) -> None:
    decode(words).records[1, 2] = 2


def do_a_block_twice(words: Array) -> None:
    decode(words).records[1, 1:4] = [0, 0, 5]


def end_early(words: Array) -> None:
    decode(words).records[1, 4:7] = [1, 0, 0]


def forget_to_clear_a_record(words: Array) -> None:
    decode(words).records[7, 3] = 1


def use_a_core_too_many(words: Array) -> None:
    decode(words).records[2, :7] = [1, 2, 0, 0, 2, 0, 0]


def leave_the_last_word_unwritten(words: Array) -> None:
    words[-1] = 0x7F7F7F7F


@pytest.mark.parametrize(
    "damage",
    [
        leave_a_row_out,
        do_a_block_twice,
        end_early,
        forget_to_clear_a_record,
        use_a_core_too_many,
        leave_the_last_word_unwritten,
    ],
)
def test_a_damaged_schedule_is_refused(damage: Callable[[Array], None]) -> None:
    words = words_of((0, 1, 0), (2, 0, 0))
    damage(words)
    with pytest.raises(AssertionError):
        assert_valid(words, CALL, cores=2)


def test_an_unbalanced_schedule_is_refused() -> None:
    call = build(Case(rows=(1,) * 8, tokens=(100,) * 8))
    assert_valid(words_of((4, 0, 0), (8, 0, 0)), call, cores=2)
    with pytest.raises(AssertionError):
        assert_valid(words_of((7, 0, 0), (8, 0, 0)), call, cores=2)
