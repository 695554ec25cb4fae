# SPDX-License-Identifier: Apache-2.0
"""Is a result right? Every query row and head is judged on its own, nothing is averaged.

Special values come first: NaN and infinities must be where the reference has them, and a row that
the reference leaves 0 must be exactly 0. Every other element of attn_out may be half a unit in its
last place away from the reference, for the final rounding, plus FLOAT32_ERROR of the largest value
of its row and head, for the arithmetic before it; the LSE has only the latter. Where the terms of
scores cancel, TERM_ERROR of their sizes may be more. docs/numerics.md says where the numbers come
from. A device that multiplies 16-bit numbers, as cube cores and some
instruction sets do, rounds weights to the type of the query first, which may cost twice a unit
roundoff of that largest value.

This module answers users. The tests judge by the same rule, but for TERM_ERROR, which their inputs
do not need, with tests/reference/compare.py, which shares no logic with it, so that no mistake can
hide in both.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Half the spacing of the numbers above 1, and the exponent of the smallest normal number.
UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
LEAST_EXPONENT = {"bfloat16": -126, "float16": -14}
# Error of a float32 score, and so the relative one of its weight, in units of max(1, |LSE|).
FLOAT32_ERROR = 1e-5
# The same in units of the summed |terms| of a score, which count where terms cancel: sqrt(n) unit
# roundoffs for n = 512 + 64 products, as n rounding errors of either sign add up.
TERM_ERROR = 24 * 2.0**-24


@dataclass(frozen=True)
class Verdict:
    """The worst of one output.

    ``worst_error`` is relative: for attn_out the largest difference of a row and head over the
    largest reference value there, for the LSE over max(1, |LSE|). ``worst_position`` is the row
    and head that came closest to, or went furthest beyond, what is allowed.
    """

    output: str
    judged: int  # row and head pairs
    failed: int
    worst_error: float
    worst_position: tuple[int, ...]

    @property
    def ok(self) -> bool:
        return self.failed == 0

    def as_dict(self) -> dict[str, Any]:
        error = self.worst_error if np.isfinite(self.worst_error) else None
        return asdict(self) | {"ok": self.ok, "worst_error": error}


def judge_attn_out(
    found: Array,
    expected: Array,
    expected_lse: Array,
    output: str = "attn_out",
    rounds_weights: bool = False,
    score_sizes: Array | float = 0.0,
) -> Verdict:
    """Verdict on attn_out, or the output of another name that is the same.

    ``found`` (..., N1, 512) is float16 or bfloat16. ``expected``, of its shape, and
    ``expected_lse``, one value per row and head, are the float64 reference. ``rounds_weights``: the
    device rounds weights to the type of the query. ``score_sizes``, as ``expected_lse``: the summed
    |terms| of the largest score, see reference.score_sizes.
    """
    largest = np.max(np.abs(expected), axis=-1, initial=0.0, where=np.isfinite(expected))
    score_error = _score_error(expected_lse, score_sizes).reshape(largest.shape)
    if rounds_weights:
        score_error = score_error + 2 * UNIT_ROUNDOFF[found.dtype.name]
    spacing = _half_spacing(expected, found.dtype.name)
    allowed = np.where(expected == 0, 0.0, spacing) + (score_error * largest)[..., np.newaxis]
    difference = _difference(found.astype(np.float64), expected)
    return _verdict(output, difference, allowed, np.where(largest > 0, largest, 1.0))


def judge_softmax_lse(found: Array, expected: Array, score_sizes: Array | float = 0.0) -> Verdict:
    """Verdict on softmax_lse; ``expected`` is the float64 reference of the same shape."""
    size = _score_size(expected)
    allowed = np.where(expected == 0, 0.0, _score_error(expected, score_sizes))
    return _verdict_per_head("softmax_lse", found, expected, allowed, size)


def judge_softmax(
    found: tuple[Array, Array],
    expected: tuple[Array, Array],
    score_sizes: Array | float = 0.0,
) -> tuple[Verdict, Verdict]:
    """Verdicts on softmax_max and softmax_sum; ``expected`` are their float64 references.

    An error of a score is an error of the maximum, and a relative one of the sum. Where the sum is
    0, or 1 because the maximum is all there is, it must be exact; 0 goes with a maximum of 0.
    """
    (largest, total), size = expected, _score_size(expected[0])
    error = _score_error(largest, score_sizes)
    allowed = np.where(total == 0, 0.0, error)
    allowed_of_sum = np.where(total <= 1, 0.0, error * total)
    return (
        _verdict_per_head("softmax_max", found[0], largest, allowed, size),
        _verdict_per_head("softmax_sum", found[1], total, allowed_of_sum, np.maximum(total, 1.0)),
    )


def log_sum_exp(largest: Array, total: Array) -> Array:
    """The LSE that softmax_max and softmax_sum stand for; 0 for a row without key and sink."""
    return np.asarray(largest + np.log(np.where(total > 0, total, 1.0)), np.float64)


def _score_error(lse: Array, score_sizes: Array | float) -> Array:
    """What a score may be off by, in the shape of the LSE."""
    terms = np.asarray(score_sizes, np.float64)
    terms = terms.reshape(lse.shape) if terms.ndim else terms
    return np.asarray(np.maximum(FLOAT32_ERROR * _score_size(lse), TERM_ERROR * terms))


def _score_size(lse: Array) -> Array:
    return np.maximum(np.where(np.isfinite(lse), np.abs(lse), 0.0), 1.0)


def _half_spacing(values: Array, dtype: str) -> Array:
    """Half a unit in the last place of ``dtype`` at each value."""
    exponent = np.frexp(values)[1] - 1
    normal = np.ldexp(UNIT_ROUNDOFF[dtype], np.maximum(exponent, LEAST_EXPONENT[dtype]))
    return np.asarray(normal, np.float64)


def _difference(found: Array, expected: Array) -> Array:
    """|found - expected|; 0 where both are the same special value, +inf where only one is."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    comparable = np.isfinite(found) & np.isfinite(expected)
    with np.errstate(invalid="ignore"):
        difference = np.where(comparable, np.abs(found - expected), np.inf)
    return np.where(same, 0.0, difference)


def _verdict_per_head(
    output: str, found: Array, expected: Array, allowed: Array, scale: Array
) -> Verdict:
    """On an output of one number per row and head."""
    difference = _difference(found.astype(np.float64), expected)
    return _verdict(output, difference[..., np.newaxis], allowed[..., np.newaxis], scale)


def _verdict(output: str, difference: Array, allowed: Array, scale: Array) -> Verdict:
    """From errors and limits (rows and heads..., elements), and a scale per row and head."""
    if difference.size == 0:
        return Verdict(output, 0, 0, 0.0, ())
    with np.errstate(divide="ignore", invalid="ignore"):
        pressure = np.where(difference > 0, difference / allowed, 0.0).max(axis=-1)
    worst = np.unravel_index(int(np.argmax(pressure)), pressure.shape)
    return Verdict(
        output=output,
        judged=pressure.size,
        failed=int(np.count_nonzero((difference > allowed).any(axis=-1))),
        worst_error=float(np.max(difference.max(axis=-1) / scale)),
        worst_position=tuple(int(axis) for axis in worst),
    )
