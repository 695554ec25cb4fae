# SPDX-License-Identifier: Apache-2.0
"""The SparseAttnSharedkv oracle, against hand-made key lists and the SparseFlashMla oracle."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reference import attention as sparse_flash_mla
from reference.call import Array
from reference.case_arrays import int32
from reference.sparse_attn_sharedkv import SharedKvCall, attention, rows_of
from reference.sparse_attn_sharedkv_cases import (
    LAYOUTS,
    MODES,
    SharedKvCase,
    as_sparse_flash_mla,
    build,
    matrix,
    planning_arguments,
)

CASES = matrix()


def call_of(rows: int, tokens: int, **changes: Any) -> SharedKvCall:
    """One request in BSND, one head, a window of two tokens before the own one."""
    arguments: dict[str, Any] = {
        "q": np.zeros((1, rows, 1, 512)),
        "ori_kv": np.zeros((1, tokens, 1, 512)),
        "layout_kv": "BSND",
        "ori_win_left": 2,
    }
    return SharedKvCall(**(arguments | changes))


def with_groups(rows: int, tokens: int, ratio: int, *lists: list[int]) -> SharedKvCall:
    """The same with compressed tokens, more than there are complete groups, and index lists."""
    indices = int32(lists).reshape(1, rows, 1, -1) if lists else None
    cmp_kv = np.zeros((1, tokens // ratio + 3, 1, 512))
    return call_of(rows, tokens, cmp_kv=cmp_kv, cmp_ratio=ratio, cmp_sparse_indices=indices)


def ori_keys(call: SharedKvCall) -> list[list[int]]:
    return [row.ori_keys.tolist() for row in rows_of(call)]


def cmp_keys(call: SharedKvCall) -> list[list[int]]:
    return [row.cmp_keys.tolist() for row in rows_of(call)]


def numbered(tokens: int, first: int = 1) -> Array:
    """A BSND cache whose token j is `first` + j in every element."""
    return np.repeat(np.arange(first, first + tokens, dtype=np.float64), 512).reshape(1, -1, 1, 512)


def test_the_last_row_stands_at_the_last_token() -> None:
    assert ori_keys(call_of(2, 5)) == [[1, 2, 3], [2, 3, 4]]


def test_the_default_window_has_128_tokens() -> None:
    (keys,) = ori_keys(call_of(1, 300, ori_win_left=SharedKvCall.ori_win_left))
    assert keys == list(range(172, 300))


def test_a_window_is_clipped_at_both_ends() -> None:
    assert ori_keys(call_of(3, 3, ori_win_right=1)) == [[0, 1], [0, 1, 2], [0, 1, 2]]


def test_rows_without_a_place_in_the_prefix_are_zero() -> None:
    # Not even a right window shows them a token, nor are there groups for them.
    call = replace(with_groups(4, 2, 1), ori_kv=numbered(2), ori_win_right=1)
    assert ori_keys(call) == [[], [], [0, 1], [0, 1]]
    assert cmp_keys(call) == [[], [], [0], [0, 1]]
    out, lse = attention(call)
    assert not out[0, :2].any()
    assert not lse[0, :2].any()
    assert out[0, 2:].all()


def test_dense_groups_are_those_complete_at_the_own_position() -> None:
    assert cmp_keys(with_groups(5, 9, 4)) == [[0], [0], [0], [0, 1], [0, 1]]
    assert cmp_keys(with_groups(1, 3, 4)) == [[]]


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ([3, -1, 2, 1], [3]),  # -1 ends the walk
        ([3, -9, 2, 1], [3]),  # and so does any negative id
        ([-1, 0, 1, 2], []),
        ([4, 2, 5, 0], [2, 0]),  # at or past the 4 complete groups: skipped
        ([2, 2, 0, 2], [2, 2, 0, 2]),  # duplicates count
        ([2**31 - 1, 0, 9, 3, 1], [0, 3]),  # only as many lanes as groups are looked at
        ([1], [1]),
    ],
)
def test_index_list(lanes: list[int], expected: list[int]) -> None:
    assert cmp_keys(with_groups(1, 19, 4, lanes)) == [expected]


def test_each_row_has_its_own_list() -> None:
    call = with_groups(2, 16, 4, [3, 0, 1, 2], [3, 0, 1, 2])
    assert cmp_keys(call) == [[0, 1], [3, 0, 1, 2]]


def test_uniform_weights_the_sink_and_its_lse() -> None:
    # Scores are 0: the window tokens 6, 7, 8 and groups 1, 2 (twice) weigh the same; a sink of ln 4
    # weighs 4 and is not scaled.
    call = replace(
        with_groups(1, 8, 4, [1, 1]),
        ori_kv=numbered(8),
        cmp_kv=numbered(2, first=101),
        sinks=np.array([np.log(4)], np.float32),
        softmax_scale=100.0,
    )
    out, lse = attention(call)
    np.testing.assert_allclose(out, np.full((1, 1, 1, 512), (6 + 7 + 8 + 2 * 102) / (5 + 4)))
    assert lse.shape == (1, 1, 1, 1)
    np.testing.assert_allclose(lse, np.log(9), rtol=1e-7)


def test_scaled_scores_over_the_whole_width() -> None:
    call = call_of(1, 2, q=np.ones((1, 1, 1, 512)), softmax_scale=1 / 512)
    kv = np.zeros((1, 2, 1, 512))
    kv[0, 1, 0, 508:] = 128 * np.log(3)  # its score is ln 3, that of token 0 is 0
    out, lse = attention(replace(call, ori_kv=kv))
    np.testing.assert_allclose(out[0, 0, 0, 508:], 0.75 * 128 * np.log(3))
    np.testing.assert_allclose(lse, np.log(4))


@pytest.mark.parametrize("kv_layout", ["BSND", "TND", "PA_ND"])
def test_used_tokens_win_over_the_other_sources(kv_layout: str) -> None:
    ori_kv, table, cu = numbered(6), None, None
    if kv_layout == "TND":
        ori_kv, cu = ori_kv[0], int32([0, 6])
    if kv_layout == "PA_ND":
        ori_kv, table = ori_kv.reshape(3, 2, 1, 512), int32([[2, 0, -1]])
    call = call_of(1, 6, ori_kv=ori_kv, ori_block_table=table, cu_seqlens_ori_kv=cu)
    call = replace(call, layout_kv=kv_layout, seqused_kv=int32([4]))
    assert ori_keys(call) == [[1, 2, 3]]
    # Page 2 holds tokens 0 and 1, page 0 tokens 2 and 3.
    expected = (6 + 1 + 2) / 3 if kv_layout == "PA_ND" else (2 + 3 + 4) / 3
    np.testing.assert_allclose(attention(call)[0], np.full((1, 1, 1, 512), expected))


def test_requests_begin_at_their_prefix_sums() -> None:
    call = call_of(
        3,
        5,
        q=np.zeros((4, 1, 512)),
        ori_kv=numbered(5)[0],
        cu_seqlens_q=int32([0, 1, 3]),
        cu_seqlens_ori_kv=int32([0, 2, 5]),
        layout_q="TND",
        layout_kv="TND",
        ori_win_left=0,
    )
    out, lse = attention(call)
    # The last row of q belongs to no request.
    assert out[:, 0, 0].tolist() == [2, 4, 5, 0]
    assert lse.tolist() == [[[0.0]]] * 4


def test_rows_behind_the_used_ones_are_zero() -> None:
    call = call_of(3, 5, ori_kv=numbered(5), ori_win_left=0, seqused_q=int32([2]))
    out, lse = attention(replace(call, sinks=np.zeros(1, np.float32)))
    assert out[0, :, 0, 0].tolist() == [2, 2.5, 0]
    assert lse[0, :, 0, 0].tolist() == [np.log(2), np.log(2), 0]


def test_a_stride_attribute_replaces_the_stride_of_the_array() -> None:
    pages = numbered(6).reshape(3, 2, 1, 512)  # of which every other one is a page of the cache
    call = call_of(1, 4, ori_kv=pages[:2], layout_kv="PA_ND", ori_block_table=int32([[0, 1]]))
    call = replace(call, seqused_kv=int32([4]), ori_win_left=1)
    for stride, expected in ((0, [3, 4]), (2 * 512, [3, 4]), (4 * 512, [5, 6])):
        out, _ = attention(replace(call, ori_kv_stride=stride))
        assert out[0, 0, 0, 0] == np.mean(expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_only_attended_tokens_hold_numbers(mode: str, layouts: tuple[str, str]) -> None:
    call = build(
        SharedKvCase(
            mode,
            layouts,
            rows=(3, 1, 0, 5),
            tokens=(700, 2, 30, 3),
            row_padding=1,
            token_padding=2,
            page_gap_elements=77,
            row_gap_elements=8,
        )
    )
    assert np.isnan(call.q.astype(np.float32)).any(axis=-1).sum() > 0
    out, lse = attention(call)
    assert np.isfinite(out).all()
    assert np.isfinite(lse).all()
    assert out.any()
    # Each further token of the window is one that no row attends to.
    wider, _ = attention(replace(call, ori_win_left=128))
    assert np.isnan(wider).any()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_sparse_flash_mla_oracle_agrees(case: SharedKvCase) -> None:
    call = build(replace(case, window=(case.window[0], 0)))
    out, lse = attention(call)
    expected, expected_lse = sparse_flash_mla.attention(as_sparse_flash_mla(call))
    assert np.isfinite(out).all()
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(lse[..., 0], expected_lse.reshape(lse.shape[:-1]))


def test_the_matrix_covers_what_it_claims() -> None:
    assert 80 <= len(CASES) <= 250
    assert len({str(case) for case in CASES}) == len(CASES)


def test_planning_arguments() -> None:
    call = build(SharedKvCase("scfa", rows=(2, 5), tokens=(9, 300), topk=32))
    arguments = planning_arguments(call)
    assert (arguments["batch_size"], arguments["cmp_topk"]) == (2, 32)
    assert (arguments["max_seqlen_q"], arguments["max_seqlen_kv"]) == (5, 300)
    assert arguments["seqused_kv"] is call.seqused_kv
    assert "sinks" not in arguments
