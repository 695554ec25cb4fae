# SPDX-License-Identifier: Apache-2.0
"""The oracle itself, against closed forms and against key lists written out by hand."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from reference.attention import attend, attention, rows_of
from reference.call import Call
from reference.case_arrays import DTYPES
from reference.cases import LAYOUTS, MODES, Case, build
from reference.compare import assert_close, assert_output_close


def keys_of(call: Call) -> list[tuple[list[int], list[int]]]:
    return [(row.ori_keys.tolist(), row.cmp_keys.tolist()) for row in rows_of(call)]


def call_of(rows: int, tokens: int, **changes: object) -> Call:
    """One request in BSND with one head."""
    arguments: dict[str, object] = {
        "q": np.zeros((1, rows, 1, 512)),
        "ori_kv": np.zeros((1, tokens, 1, 512)),
    }
    return Call(**(arguments | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mask", "window", "expected"),
    [
        (0, (-1, -1), [[0, 1, 2, 3, 4]] * 3),
        (3, (0, 0), [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]),
        (4, (1, 0), [[1, 2], [2, 3], [3, 4]]),
        (4, (0, 1), [[2, 3], [3, 4], [4]]),
        (4, (-1, 0), [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]),
        (4, (0, -1), [[2, 3, 4], [3, 4], [4]]),
    ],
)
def test_dense_window(mask: int, window: tuple[int, int], expected: list[list[int]]) -> None:
    call = call_of(3, 5, ori_mask_mode=mask, ori_win_left=window[0], ori_win_right=window[1])
    assert [ori for ori, _ in keys_of(call)] == expected


def test_rows_before_the_first_key_see_a_right_window() -> None:
    call = call_of(4, 2, ori_mask_mode=4, ori_win_left=0, ori_win_right=1)
    assert [ori for ori, _ in keys_of(call)] == [[], [0], [0, 1], [1]]


def test_compressed_threshold_counts_the_residual() -> None:
    # 4 rows at the end of 258 tokens, ratio 128: tokens 255..258 are visible, the first of them
    # still lacks the second compressed token.
    call = call_of(
        4,
        258,
        cmp_kv=np.zeros((1, 2, 1, 512)),
        cmp_ratio=128,
        cmp_mask_mode=3,
        cmp_residual_kv=np.array([2], np.int32),
    )
    assert [len(cmp) for _, cmp in keys_of(call)] == [1, 2, 2, 2]


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ([5, -1, 3, -1], [5]),  # the first negative entry ends the list
        ([16, 2, 2, 99], [2, 2]),  # past the threshold: skipped; duplicates count twice
        ([-7, 0, 1, 2], []),
        ([0, 1, 2, 3], [0, 1, 2, 3]),
    ],
)
def test_index_list(lanes: list[int], expected: list[int]) -> None:
    call = call_of(
        1,
        64,
        cmp_kv=np.zeros((1, 16, 1, 512)),
        cmp_ratio=4,
        cmp_mask_mode=3,
        cmp_residual_kv=np.array([0], np.int32),
        cmp_sparse_indices=np.array(lanes, np.int32).reshape(1, 1, 1, 4),
    )
    assert keys_of(call)[0][1] == expected


def test_lanes_past_the_visible_count_are_not_looked_at() -> None:
    call = call_of(
        1,
        6,
        cmp_kv=np.zeros((1, 1, 1, 512)),
        cmp_ratio=4,
        cmp_mask_mode=3,
        cmp_residual_kv=np.array([2], np.int32),
        cmp_sparse_indices=np.array([7, 0, -1], np.int32).reshape(1, 1, 1, 3),
    )
    assert keys_of(call)[0][1] == []


def test_uniform_weights_and_sink() -> None:
    kv = np.arange(3 * 512, dtype=np.float64).reshape(3, 512)
    sinks = np.array([0.0, np.inf, -np.inf])
    out, largest, total = attend(np.zeros((3, 512)), kv, kv, sinks, 1.0)
    np.testing.assert_allclose(out[0], kv.sum(axis=0) / 4)
    np.testing.assert_allclose(out[2], kv.mean(axis=0))
    assert not out[1].any()
    np.testing.assert_allclose(largest, [0, np.inf, 0])
    np.testing.assert_allclose(total, [4, 1, 3])


def test_a_nan_reaches_its_own_row_only() -> None:
    call = build(Case(rows=(3,), tokens=(200,), window=(0, 0), heads=2, layouts=("TND", "TND")))
    call.ori_kv[198] = np.nan
    out, lse = attention(call)
    assert np.isnan(out).any(axis=(1, 2)).tolist() == [False, True, False]
    assert np.isnan(lse[0]).any(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("mode", MODES)
def test_layouts_agree_and_nothing_else_is_read(mode: str) -> None:
    """All layouts of one case draw other numbers, but each is finite: NaN is everywhere else."""
    for layouts in LAYOUTS:
        case = Case(
            mode,
            layouts,
            rows=(3, 1, 0, 5),
            tokens=(700, 2, 30, 3),
            row_padding=1,
            token_padding=2,
            page_gap_elements=77,
            row_gap_elements=8,
        )
        out, lse = attention(build(case))
        assert np.isfinite(out).all()
        assert np.isfinite(lse).all()
        assert out.any()


def test_comparison_accepts_rounding_and_refuses_one_damaged_row() -> None:
    call = build(Case(rows=(4,), tokens=(640,), heads=4, ori_mask=3))
    expected = attention(call)
    out, lse = expected[0].astype(ml_dtypes.bfloat16), expected[1].astype(np.float32)
    assert_close((out, lse), expected)
    damaged = out.copy()
    damaged[2, 1] *= ml_dtypes.bfloat16(1.02)
    with pytest.raises(AssertionError, match="1 of 16"):
        assert_output_close(damaged, *expected)
    for junk in (np.nan, np.inf, 0.5):
        damaged = out.copy()
        damaged[3, 0, 17] = junk
        with pytest.raises(AssertionError, match="1 of 16"):
            assert_output_close(damaged, *expected)


def test_comparison_refuses_a_lost_key() -> None:
    call = build(Case(rows=(1,), tokens=(1000,), heads=4, ori_mask=0))
    shorter = build(Case(rows=(1,), tokens=(1000,), heads=4, ori_mask=0))
    assert shorter.seqused_ori_kv is not None
    shorter.seqused_ori_kv[:] = 999
    with pytest.raises(AssertionError, match="4 of 4"):
        assert_output_close(attention(shorter)[0].astype(ml_dtypes.bfloat16), *attention(call))


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparison_refuses_rounded_probabilities(dtype: str) -> None:
    """The output of an implementation that rounds P to the input type, else exact."""
    kind = DTYPES[dtype]
    case = Case(dtype=dtype, rows=(1,), tokens=(640,), ori_mask=0, layouts=("TND", "TND"))
    call = build(case)
    q, kv = call.q[0].astype(np.float64), call.ori_kv[:, 0].astype(np.float64)
    expected = attention(replace(call, sinks=None))
    scores = call.softmax_scale * (q @ kv.T)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    for rounded, is_refused in ((weights, False), (weights.astype(kind).astype(np.float64), True)):
        out = ((rounded @ kv) / weights.sum(axis=1, keepdims=True)).astype(kind)[None]
        if is_refused:
            with pytest.raises(AssertionError, match="8 of 8"):
                assert_output_close(out, *expected)
        else:
            assert_output_close(out, *expected)
