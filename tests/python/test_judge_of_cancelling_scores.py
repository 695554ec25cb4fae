# SPDX-License-Identifier: Apache-2.0
"""Scores much smaller than their terms: float32 rounds the terms, so the judge looks at them."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from operator_calls import FEW_AND_MANY

from sfmla_ctypes.bench.probes import rounds_weights
from sfmla_ctypes.judge import TERM_ERROR
from sfmla_ctypes.operators import OPERATORS, Operator
from sfmla_ctypes.reference.rows import score_sizes

KEYS = 8


def cancelling(operator: Operator, heads: int, dtype: Any) -> dict[str, Any]:
    """Elements around 16, whose products the second half takes back but for a rest."""
    rng = np.random.default_rng(3)
    half_q = 16 * rng.standard_normal((1, 1, heads, 256))
    half_k = 16 * rng.standard_normal((1, KEYS, 1, 256))
    half_k[..., 0] = 0
    q = np.concatenate([half_q, -half_q], axis=-1).astype(dtype)
    keys = np.concatenate([half_k, half_k], axis=-1).astype(dtype)
    keys[..., 0] = 0.0625
    found: dict[str, Any] = {operator.query: q, "return_softmax_lse": True}
    if operator.name == "sparse_flash_attention":
        rope = {"query_rope": np.zeros((1, 1, heads, 64), dtype)}
        rope["key_rope"] = np.zeros((1, KEYS, 1, 64), dtype)
        lists = np.arange(KEYS, dtype=np.int32).reshape(1, 1, 1, KEYS)
        return found | rope | {"key": keys, "sparse_indices": lists, "scale_value": 1.0}
    if operator.name == "sparse_attn_sharedkv":
        found["layout_kv"] = "BSND"
    return found | {"ori_kv": keys, "sinks": np.zeros(heads, np.float32)}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_right_results_pass_and_wrong_ones_do_not(name: str, heads: int, dtype: Any) -> None:
    operator = OPERATORS[name]
    arguments = cancelling(operator, heads, dtype)
    planned = operator.with_metadata(arguments)
    outputs = operator.poisoned_outputs(planned)
    operator.run(planned, outputs)
    expected = operator.reference(**arguments)
    rounds = rounds_weights(np.dtype(dtype).name)
    assert all(verdict.ok for verdict in operator.judge(outputs, expected, rounds))
    # Terms around 16 x 16 over 512 elements: far more than any score here.
    assert expected[-1].min() > 1000 * np.abs(expected[1]).min()
    for output, array in outputs.items():
        damaged = array.copy()
        factor = 1.25 if output == next(iter(outputs)) else 1.0
        shift = 0.0 if factor > 1 else 3 * TERM_ERROR * expected[-1].max() * max(1, array.max())
        damaged[0, 0] = (array[0, 0].astype(np.float64) * factor + shift).astype(array.dtype)
        verdicts = operator.judge({**outputs, output: damaged}, expected, rounds)
        assert [verdict.output for verdict in verdicts if not verdict.ok] == [output]


def test_sizes_are_those_of_the_terms_and_finite() -> None:
    queries = np.array([[1.0, -2.0], [np.inf, 0.0]])
    keys = np.array([[2.0, 1.0], [-3.0, 0.0], [np.nan, 1.0]])
    assert np.array_equal(score_sizes(queries, keys, -0.5), [2.0, 0.0])


@pytest.mark.parametrize("name", OPERATORS)
def test_limits_are_as_before_where_nothing_cancels(name: str) -> None:
    """Terms of one sign: the score is as large as they are, and the LSE no smaller."""
    operator = OPERATORS[name]
    arguments = {
        argument: np.abs(value) if getattr(value, "dtype", None) == np.float16 else value
        for argument, value in cancelling(operator, 8, np.float16).items()
    }
    *_, sizes = expected = operator.reference(**arguments)
    assert (TERM_ERROR * sizes.ravel() < 1e-5 * np.abs(expected[1]).ravel()).all()
