# SPDX-License-Identifier: Apache-2.0
"""Compares an output with the oracle, one verdict for each query row and head.

Special values come first: NaN, infinities and rows that must be exactly zero sit in the same
places. Then every element of attn_out must be the oracle's to within

* half a unit in its last place: the final rounding to the output type, and
* SCORE_ERROR of the largest value of its row and head: float32 before that rounding.

Weights are taken to stay float32, unless the caller knows that the kernels round them: see
`rounded_weights`, and `ROUNDED_WEIGHTS` for those that do. To bfloat16 that typically costs 1e-3 of
a row's largest value, to float16 1e-4.

The package judges for users by the same rule, sfmla_ctypes/judge.py. This module shares no logic
with it, so that no mistake can hide in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import ml_dtypes
import numpy as np

from reference.call import Array

UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11}  # largest relative rounding error
SMALLEST_NORMAL = {"bfloat16": 2.0**-126, "float16": 2.0**-14}
# Absolute error of a float32 score, which is the relative error of its weight and the error of the
# LSE, for scores of size 1; larger ones scale it. Measured over the matrix of tests/python: at most
# 2.1e-6 for attn_out and 2.5e-6 for the LSE on each instruction set of x86-64 (2^-24 times 35 to
# 43, of 512 products). Four times that leaves room for other orders of summing.
SCORE_ERROR = 1e-5
# What rounding weights to the type of the values may cost, in unit roundoffs of the largest value
# of a row and head. Such errors add up like the values do: over the tests of tests/python at most
# 0.71 was seen.
ROUNDING_ERROR = 2.0
# The types to which instruction sets round weights before the second product, see docs/numerics.md;
# others round to none. The library is not asked, because it is what is tested here.
ROUNDED_WEIGHTS = {
    "avx512bf16": frozenset({"bfloat16"}),
    "amxbf16": frozenset({"bfloat16"}),
    "amxfp16": frozenset({"bfloat16", "float16"}),
    "neonbf16": frozenset({"bfloat16"}),
    "sve256bf16": frozenset({"bfloat16"}),
}
_rounding_types: ContextVar[frozenset[str]] = ContextVar("rounding_types", default=frozenset())


@contextmanager
def rounded_weights(dtypes: frozenset[str]) -> Iterator[None]:
    """Within it, weights of these types may be rounded to them."""
    token = _rounding_types.set(dtypes)
    try:
        yield
    finally:
        _rounding_types.reset(token)


def as_on(instruction_set: str) -> AbstractContextManager[None]:
    """Within it, weights may be rounded as that instruction set does."""
    return rounded_weights(ROUNDED_WEIGHTS.get(instruction_set, frozenset()))


def fail_at(verdict: Array, what: str, found: Array, expected: Array) -> None:
    """Raises for the first row and head whose verdict is false."""
    if verdict.all():
        return
    bad = np.argwhere(~verdict)
    where = tuple(int(i) for i in bad[0])
    raise AssertionError(
        f"{what}: {len(bad)} of {verdict.size} (row, head) pairs differ, first at {where}:\n"
        f"  found    {found[where].ravel()[:6]}\n  expected {expected[where].ravel()[:6]}"
    )


def same_special_values(found: Array, expected: Array) -> Array:
    """Elementwise: NaN, +inf and -inf where, and only where, they belong."""
    finite = np.isfinite(found) & np.isfinite(expected)
    return finite | (found == expected) | (np.isnan(found) & np.isnan(expected))


def finite_difference(found: Array, expected: Array) -> Array:
    """|found - expected| where the expected value is finite, else 0."""
    with np.errstate(invalid="ignore"):  # infinite minus infinite is not looked at
        return np.abs(np.where(np.isfinite(expected), found - expected, 0.0))


def score_error(lse: Array) -> Array:
    """Limit for each row and head; the LSE tells how large the scores are that matter."""
    return SCORE_ERROR * np.fmax(np.where(np.isinf(lse), 0.0, np.abs(lse)), 1.0)


def half_ulp(values: Array, dtype: str) -> Array:
    """Half the distance of the two numbers of `dtype` around each value."""
    binade = 2.0 ** np.floor(np.log2(np.fmax(np.abs(values), SMALLEST_NORMAL[dtype])))
    return UNIT_ROUNDOFF[dtype] * binade


def assert_output_close(found: Array, expected: Array, expected_lse: Array) -> None:
    """`found` (..., N1, 512) in its own type against `expected` in float64, with its LSE."""
    assert found.shape == expected.shape
    dtype = "bfloat16" if found.dtype == ml_dtypes.bfloat16 else "float16"
    values = found.astype(np.float64)
    fail_at(same_special_values(values, expected).all(axis=-1), "special values", found, expected)
    fail_at((expected.any(axis=-1)) | ~values.any(axis=-1), "rows of zeros", found, expected)

    finite = np.isfinite(expected)
    error = finite_difference(values, expected)
    size = np.where(finite, expected, 0.0)
    row_error = score_error(expected_lse).reshape(expected.shape[:-1])
    if dtype in _rounding_types.get():
        row_error = row_error + ROUNDING_ERROR * UNIT_ROUNDOFF[dtype]
    largest = np.abs(size).max(axis=-1)
    limit = half_ulp(size, dtype) + (row_error * largest)[..., None]
    fail_at((error <= limit).all(axis=-1), "error of an element", found, expected)


def assert_lse_close(found: Array, expected: Array) -> None:
    """softmax_lse in float32 against the oracle's; rows without a key must hold exactly 0."""
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    fail_at(same_special_values(found, expected), "special values of the LSE", found, expected)
    error = finite_difference(found, expected)
    fail_at(error <= np.where(expected == 0, 0.0, score_error(expected)), "LSE", found, expected)


def assert_softmax_close(found: tuple[Array, Array], expected: tuple[Array, Array]) -> None:
    """softmax_max and softmax_sum in float32 against the oracle's; rows without a key are exact.

    The sum is relative to the maximum, so an error of a score is a relative error of the sum.
    """
    limit = score_error(expected[0])
    alone = expected[1] <= 1  # no key, or one that is the maximum and no sink
    for name, value, right, allowed in (
        ("softmax_max", found[0], expected[0], np.where(expected[1] == 0, 0.0, limit)),
        ("softmax_sum", found[1], expected[1], np.where(alone, 0.0, limit * expected[1])),
    ):
        assert value.shape == right.shape
        assert value.dtype == np.float32
        fail_at(same_special_values(value, right), f"special values of {name}", value, right)
        error = finite_difference(value, right)
        fail_at(error <= allowed, name, value, right)


def assert_close(found: tuple[Any, Any], expected: tuple[Array, Array]) -> None:
    assert_output_close(np.asarray(found[0]), *expected)
    assert_lse_close(np.asarray(found[1]), expected[1])


def assert_same_bits(found: Any, expected: Any) -> None:
    """Equality of bytes: NaN equals itself, -0 differs from 0."""
    a, b = np.ascontiguousarray(found), np.ascontiguousarray(expected)
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    equal = a.reshape(-1).view(np.uint8) == b.reshape(-1).view(np.uint8)
    if not equal.all():
        element = int(np.argmin(equal)) // a.itemsize
        where = np.unravel_index(element, a.shape)
        raise AssertionError(
            f"bits differ first at {tuple(map(int, where))}: {a[where]!r} and {b[where]!r}"
        )
