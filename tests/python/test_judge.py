# SPDX-License-Identifier: Apache-2.0
"""How wrong is too wrong: the judge of the package, alone and beside that of the tests."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from reference.compare import assert_output_close, rounded_weights
from sfmla_ctypes.judge import judge_attn_out, judge_softmax_lse


def test_the_judge_sees_special_values_first() -> None:
    expected, lse = np.ones((2, 1, 512)), np.zeros((2, 1))
    found = expected.astype(np.float16)
    assert judge_attn_out(found, expected, lse).ok
    found[1, 0, 3] = np.nan
    verdict = judge_attn_out(found, expected, lse)
    assert (verdict.failed, verdict.worst_position) == (1, (1, 0))
    expected[1, 0, 3] = np.nan
    assert judge_attn_out(found, expected, lse).ok
    assert not judge_softmax_lse(np.array([np.inf], np.float32), np.array([1.0])).ok
    assert judge_softmax_lse(np.array([np.inf], np.float32), np.array([np.inf])).ok


def test_the_judge_wants_exact_zeros_where_the_reference_is_zero() -> None:
    found, expected, lse = (
        np.zeros((1, 1, 512), np.float16),
        np.zeros((1, 1, 512)),
        np.zeros((1, 1)),
    )
    assert judge_attn_out(found, expected, lse).ok
    found[0, 0, 0] = 1e-6
    assert not judge_attn_out(found, expected, lse).ok
    assert not judge_softmax_lse(np.full((1, 1), 1e-6, np.float32), lse).ok


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("size", [1.0, 1.6, 1e-6])
def test_the_judge_allows_the_final_rounding_and_no_step_more(dtype: Any, size: float) -> None:
    expected, lse = np.full((1, 1, 512), size), np.zeros((1, 1))
    found = expected.astype(dtype)
    assert judge_attn_out(found, expected, lse).ok
    found.view(np.uint16)[0, 0, 9] += 1
    assert not judge_attn_out(found, expected, lse).ok


def refused_by_tests(found: np.ndarray, expected: np.ndarray, lse: np.ndarray) -> bool:
    try:
        assert_output_close(found, expected, lse)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("rounds_weights", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_the_judge_and_that_of_the_tests_agree(dtype: Any, rounds_weights: bool) -> None:
    """They share no logic, but what one accepts the other accepts, on both sides of the limit."""
    rounded = frozenset({np.dtype(dtype).name} if rounds_weights else ())
    rng = np.random.default_rng(5)
    answers = set()
    for damage in np.geomspace(1e-7, 1.0, 40):
        expected = rng.standard_normal((1, 1, 512))
        lse = rng.choice([0.0, -2.0, 30.0], (1, 1))
        noise = damage * rng.choice([-1.0, 1.0], expected.shape)
        found = (expected + noise).astype(dtype)
        with rounded_weights(rounded):
            refused = refused_by_tests(found, expected, lse)
        verdict = judge_attn_out(found, expected, lse, rounds_weights=rounds_weights)
        assert verdict.ok is not refused
        answers.add(refused)
    assert answers == {False, True}
