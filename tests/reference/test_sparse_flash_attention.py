# SPDX-License-Identifier: Apache-2.0
"""The SparseFlashAttention oracle, against closed forms and key lists written out by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reference.call import Array
from reference.case_arrays import int32
from reference.compare import assert_softmax_close
from reference.sparse_flash_attention import SparseFlashCall, attention, log_sum_exp, rows_of
from reference.sparse_flash_attention_cases import LAYOUTS, SparseFlashCase, build, matrix

CASES = matrix()


def numbered(tokens: int, width: int = 512, first: int = 1) -> Array:
    """A BSND cache whose token j is `first` + j in every element."""
    return np.repeat(np.arange(first, first + tokens, dtype=np.float64), width).reshape(
        1, -1, 1, width
    )


def call_of(rows: int, tokens: int, *lists: list[int], **changes: Any) -> SparseFlashCall:
    """One request in BSND, one head, all scores 0, values that name their token."""
    arguments: dict[str, Any] = {
        "query": np.zeros((1, rows, 1, 512)),
        "key": numbered(tokens),
        "value": None,
        "sparse_indices": int32(lists).reshape(1, rows, 1, -1),
        "scale_value": 1.0,
        "query_rope": np.zeros((1, rows, 1, 64)),
        "key_rope": np.zeros((1, tokens, 1, 64)),
    }
    return SparseFlashCall(**(arguments | changes))


def keys_of(call: SparseFlashCall) -> list[list[int]]:
    return [row.keys.tolist() for row in rows_of(call)]


def outputs(call: SparseFlashCall) -> list[list[float]]:
    """First element of the output, maximum and sum of each row; every element must agree."""
    out, largest, total = attention(call)
    assert (out == out[..., :1]).all()
    return [np.round(x.reshape(-1), 12).tolist() for x in (out[..., 0], largest, total)]


@pytest.mark.parametrize("sinks", [None, np.zeros(16, np.float32)])
def test_all_ones(sinks: Array | None) -> None:
    """The closed form of the published C example: score 576 / 24, 2048 equal weights."""
    call = SparseFlashCall(
        query=np.ones((1, 16, 512), np.float16),
        key=np.ones((2048, 1, 512), np.float16),
        value=np.ones((2048, 1, 512), np.float16),
        sparse_indices=np.arange(2048, dtype=np.int32).reshape(1, 1, 2048),
        scale_value=1 / 24,
        actual_seq_lengths_query=int32([1]),
        actual_seq_lengths_kv=int32([2048]),
        query_rope=np.ones((1, 16, 64), np.float16),
        key_rope=np.ones((2048, 1, 64), np.float16),
        sinks=sinks,
        layout_query="TND",
        layout_kv="TND",
        sparse_mode=0,
    )
    out, largest, total = attention(call)
    sink = 0.0 if sinks is None else np.exp(-24.0)
    assert largest.shape == total.shape == (1, 1, 16)
    np.testing.assert_allclose(largest, 24.0, rtol=1e-15)
    np.testing.assert_allclose(total, 2048 + sink, rtol=1e-15)
    np.testing.assert_allclose(out, 2048 / (2048 + sink), rtol=1e-14)


def test_mode_3_is_causal_from_the_end_and_mode_0_sees_all() -> None:
    lists = [[3, 2, 1, 0]] * 2
    assert keys_of(call_of(2, 4, *lists)) == [[2, 1], [3, 2, 1, 0]]
    assert keys_of(call_of(2, 4, *lists, sparse_mode=0)) == [[3, 2, 1, 0]] * 2


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ([3, -1, 2, 1], [3]),  # -1 ends the walk
        ([3, -9, 2, 1], [3]),  # and so does any negative id
        ([-1, 0, 1, 2], []),
        ([5, 2, 9, 0], [2, 0]),  # past the 5 tokens: skipped
        ([2, 2, 0, 2], [2, 2, 0, 2]),  # duplicates count
        ([9, 9, 9, 9, 1, 0, 0], [1]),  # only as many lanes as there are tokens are looked at
        ([2**31 - 1, 4], [4]),
    ],
)
def test_list_of_single_tokens(lanes: list[int], expected: list[int]) -> None:
    assert keys_of(call_of(1, 5, lanes)) == [expected]


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ([1, 0], [4, 5, 6, 7, 0, 1, 2, 3]),
        ([2, 0], [8, 9, 0, 1, 2, 3]),  # the last block is cut off, wherever it stands
        ([2, 2], [8, 9, 8, 9]),
        ([3, 1], [4, 5, 6, 7]),  # block 3 begins at 12, past the 10 tokens
        ([7, 7, 7, 1], []),  # 10 tokens make 3 blocks: the fourth lane is not looked at
        ([2**31 - 1, 1, 2**30], [4, 5, 6, 7]),  # the token 4 * id is past 32 bits
    ],
)
def test_list_of_blocks(lanes: list[int], expected: list[int]) -> None:
    assert keys_of(call_of(1, 10, lanes, sparse_block_size=4)) == [expected]


def test_a_causal_row_sees_a_part_of_its_own_block() -> None:
    call = call_of(3, 6, [1, 0], [1, 0], [1, 0], sparse_block_size=4)
    # Four visible tokens make one block, so the first row looks at one lane, whose block is unseen.
    assert keys_of(call) == [[], [4, 0, 1, 2, 3], [4, 5, 0, 1, 2, 3]]


def test_rows_without_a_place_are_zero_even_with_a_sink() -> None:
    lists = [[0, 1]] * 4
    for sinks, expected in ((None, [1, 2]), (np.zeros(1, np.float32), [2, 3])):
        out, largest, total = outputs(call_of(4, 2, *lists, sinks=sinks))
        assert out[:2] == largest[:2] == total[:2] == [0, 0]
        assert total[2:] == expected
        assert all(out[2:])


@pytest.mark.parametrize(
    "changes",
    [
        {"sparse_indices": int32([[[[-1, 0, 1]]]])},
        {"sparse_indices": int32([[[[7, 8, 9]]]])},
        {"sparse_mode": 0, "actual_seq_lengths_kv": int32([0])},
    ],
    ids=["stops at once", "all out of range", "no tokens"],
)
def test_rows_with_a_place_but_no_key_have_their_sink(changes: dict[str, Any]) -> None:
    call = call_of(1, 3, [0, 1, 2], scale_value=3.0, **changes)
    assert outputs(call) == [[0], [0], [0]]
    assert outputs(replace(call, sinks=np.array([-2.5], np.float32))) == [[0], [-2.5], [1]]
    assert outputs(replace(call, sinks=np.array([np.inf], np.float32))) == [[0], [np.inf], [1]]
    # A sink of -inf is none.
    assert outputs(replace(call, sinks=np.array([-np.inf], np.float32))) == [[0], [0], [0]]


def test_no_tokens_under_mode_3_leave_no_place() -> None:
    call = call_of(1, 3, [0], actual_seq_lengths_kv=int32([0]), sinks=np.array([1], np.float32))
    assert outputs(call) == [[0], [0], [0]]


def test_rope_counts_in_scores_and_values_are_a_tensor_of_their_own() -> None:
    # Scores are 2 * (0.25 + 0.75) = 2 for token 0 and 0 for token 1.
    key, rope = np.zeros((1, 2, 1, 512)), np.zeros((1, 2, 1, 64))
    key[0, 0, 0, 7], rope[0, 0, 0, 63] = 0.25, 0.75
    call = call_of(1, 2, [0, 1], key=key, key_rope=rope, scale_value=2.0)
    call = replace(call, query=np.ones((1, 1, 1, 512)), query_rope=np.ones((1, 1, 1, 64)))
    out, largest, total = attention(replace(call, value=numbered(2)))
    weight = 1 / (1 + np.exp(-2))
    np.testing.assert_allclose(out, 1 * weight + 2 * (1 - weight))
    np.testing.assert_allclose([largest[0, 0, 0, 0], total[0, 0, 0, 0]], [2, 1 + np.exp(-2)])
    without, _, _ = attention(call)  # the key is the value
    np.testing.assert_allclose(without[0, 0, 0, 7], 0.25 * weight)
    np.testing.assert_array_equal(attention(replace(call, value=key))[0], without)


def test_a_sink_is_not_scaled_and_may_be_the_maximum() -> None:
    call = call_of(1, 3, [0, 1, 2], sinks=np.array([1.0], np.float32), scale_value=100.0)
    _, largest, total = outputs(call)
    assert largest == [1]
    np.testing.assert_allclose(total, [1 + 3 * np.exp(-1)])
    np.testing.assert_allclose(log_sum_exp(*map(np.array, (largest, total))), np.log(3 + np.e))


def test_lengths_of_batched_sequences() -> None:
    call = call_of(
        3,
        4,
        *([[1, 2, 3, 0]] * 3),
        actual_seq_lengths_query=int32([2]),
        actual_seq_lengths_kv=int32([3]),
        sinks=np.zeros(1, np.float32),
    )
    assert keys_of(call) == [[1], [1, 2]]  # id 3 is past the 3 tokens, but takes a lane
    assert outputs(call)[2] == [2, 3, 0]  # the row behind the length is 0 in spite of the sink


def test_cumulative_lengths_of_packed_sequences_begin_without_a_zero() -> None:
    call = replace(
        call_of(4, 5, *([[0, 1, 2]] * 4), layout_query="TND", layout_kv="TND", sparse_mode=0),
        query=np.zeros((4, 1, 512)),
        query_rope=np.zeros((4, 1, 64)),
        key=numbered(5)[0],
        key_rope=np.zeros((5, 1, 64)),
        sparse_indices=np.tile(int32([0, 1, 2]), (4, 1, 1)),
        actual_seq_lengths_query=int32([1, 1, 3]),
        actual_seq_lengths_kv=int32([2, 3, 5]),
    )
    assert keys_of(call) == [[0, 1], [0, 1], [0, 1]]
    out, largest, total = outputs(call)
    assert out == [1.5, 4.5, 4.5, 0]  # the last row belongs to no request
    assert total == [2, 2, 2, 0]
    assert attention(call)[1].shape == (1, 4, 1)
    assert largest == [0] * 4


def test_packed_queries_over_pages() -> None:
    """Query lengths accumulate, those of a paged cache do not; all caches share one table."""
    call = replace(
        call_of(2, 6, [0, 1], [3, 1], layout_query="TND", layout_kv="PA_BSND"),
        query=np.zeros((2, 1, 512)),
        query_rope=np.zeros((2, 1, 64)),
        key=np.zeros((3, 2, 1, 512)),
        value=numbered(6).reshape(3, 2, 1, 512),
        key_rope=np.zeros((3, 2, 1, 64)),
        sparse_indices=int32([[[1, 0]], [[3, 1]]]),
        block_table=int32([[1, -1], [2, 0]]),
        actual_seq_lengths_query=int32([1, 2]),
        actual_seq_lengths_kv=int32([2, 4]),
    )
    # Request 0 has tokens 2 and 3 of the pool, request 1 tokens 4, 5, 0, 1.
    assert keys_of(call) == [[1, 0], [3, 1]]
    assert outputs(call)[0] == [(3 + 4) / 2, (2 + 6) / 2]


@pytest.mark.parametrize("size", [1, 4, 128])
@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_only_attended_tokens_hold_numbers(layouts: tuple[str, str], size: int) -> None:
    case = SparseFlashCase(
        layouts,
        rows=(3, 1, 0, 5),
        tokens=(700, 2, 30, 3),
        topk=4,
        sparse_block_size=size,
        row_padding=1,
        token_padding=2,
        gap_elements=77,
    )
    call = build(case)
    for result in attention(call):
        assert np.isfinite(result).all()
        assert result.any()
    for array in (call.query, call.query_rope, call.key, call.key_rope, call.value):
        assert array is not None
        assert np.isnan(array.astype(np.float32)).any()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_matrix_reads_attended_tokens_only(case: SparseFlashCase) -> None:
    call = build(case)
    out, largest, total = attention(call)
    assert np.isfinite(out).all()
    assert not np.isnan(largest).any()
    assert np.isfinite(total).all()
    assert (total >= 0).all()


def test_the_matrix_covers_what_it_claims() -> None:
    assert 80 <= len(CASES) <= 250
    assert len({str(case) for case in CASES}) == len(CASES)


def test_comparison_of_maximum_and_sum() -> None:
    _, largest, total = attention(build(SparseFlashCase(rows=(4,), tokens=(640,), topk=600)))
    found = largest.astype(np.float32), total.astype(np.float32)
    assert_softmax_close(found, (largest, total))
    place = np.unravel_index(total.argmax(), total.shape)
    for part, what in ((0, "softmax_max"), (1, "softmax_sum")):
        damaged = [x.copy() for x in found]
        damaged[part][place] *= np.float32(1.001)
        with pytest.raises(AssertionError, match=f"{what}: 1 of 32"):
            assert_softmax_close((damaged[0], damaged[1]), (largest, total))
