# SPDX-License-Identifier: Apache-2.0
"""Compares an output with the oracle, one verdict for each query row and head.

Special values come first: NaN, infinities and rows that must be exactly zero sit in the same
places. Then two limits, so that neither one damaged element nor one lost key can hide:

* the relative L2 error of the 512 elements. Rounding P and the output to the input type costs
  about 2^-9 / sqrt(3) each in bfloat16, 2^-12 / sqrt(3) in float16; the limit is four times that.
* the error of each element, against its own size and the row's root mean square.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from reference.call import Array

RELATIVE_L2 = {"bfloat16": 5e-3, "float16": 7e-4}
HALF_ULP = {"bfloat16": 2.0**-9, "float16": 2.0**-12}
TINY = {"bfloat16": 1e-6, "float16": 2.0**-23}  # outputs this close to 0 have no relative precision
LSE_ABSOLUTE, LSE_RELATIVE = 2e-5, 4e-6


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


def assert_output_close(found: Array, expected: Array) -> None:
    """`found` (..., N1, 512) in its own type against `expected` in float64."""
    assert found.shape == expected.shape
    dtype = "bfloat16" if found.dtype == ml_dtypes.bfloat16 else "float16"
    values = found.astype(np.float64)
    fail_at(same_special_values(values, expected).all(axis=-1), "special values", found, expected)
    fail_at((expected.any(axis=-1)) | ~values.any(axis=-1), "rows of zeros", found, expected)

    error = np.abs(np.where(np.isfinite(expected), values - expected, 0.0))
    size = np.where(np.isfinite(expected), expected, 0.0)
    norm = np.linalg.norm(size, axis=-1)
    tiny = TINY[dtype]
    l2_limit = RELATIVE_L2[dtype] * norm + tiny * expected.shape[-1] ** 0.5
    fail_at(np.linalg.norm(error, axis=-1) <= l2_limit, "relative L2 error", found, expected)
    rms = norm[..., None] / expected.shape[-1] ** 0.5
    limit = 2 * HALF_ULP[dtype] * np.abs(size) + 6 * HALF_ULP[dtype] * rms + tiny
    fail_at((error <= limit).all(axis=-1), "error of an element", found, expected)


def assert_lse_close(found: Array, expected: Array) -> None:
    """softmax_lse in float32 against the oracle's; rows without a key must hold exactly 0."""
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    fail_at(same_special_values(found, expected), "special values of the LSE", found, expected)
    error = np.abs(np.where(np.isfinite(expected), found - expected, 0.0))
    limit = LSE_ABSOLUTE + LSE_RELATIVE * np.abs(np.where(np.isfinite(expected), expected, 0.0))
    fail_at(error <= np.where(expected == 0, 0.0, limit), "LSE", found, expected)


def assert_close(found: tuple[Any, Any], expected: tuple[Array, Array]) -> None:
    assert_output_close(np.asarray(found[0]), expected[0])
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
