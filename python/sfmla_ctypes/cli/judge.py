# SPDX-License-Identifier: Apache-2.0
"""Is a result right? Every query row and head is judged on its own, nothing is averaged.

Special values come first: NaN and infinities must be where the reference has them. Then, per row
and head, the largest difference over the 512 values may be two rounding steps of the output type
of the largest reference value (one for the output, the other for P and fp32 sums), plus a small
absolute part; a row that the reference leaves 0 must be exactly 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Half the spacing above 1, and the absolute part, per output type.
ROUNDING_STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
ABSOLUTE_PART = {"bfloat16": 1e-4, "float16": 2.5e-5}
ALLOWED_STEPS = 2
LSE_RELATIVE, LSE_ABSOLUTE = 2.0**-13, 2.5e-5


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


def judge_attn_out(found: Array, expected: Array) -> Verdict:
    """Verdict on attn_out; ``expected`` is the float64 reference of the same shape."""
    name = found.dtype.name
    values = found.astype(np.float64)
    largest = np.max(np.abs(expected), axis=-1, initial=0.0, where=np.isfinite(expected))
    relative = ALLOWED_STEPS * ROUNDING_STEP[name]
    allowed = np.where(largest > 0, relative * largest + ABSOLUTE_PART[name], 0.0)
    difference = np.max(_difference(values, expected), axis=-1, initial=0.0)
    return _verdict("attn_out", difference, allowed, np.where(largest > 0, largest, 1.0))


def judge_softmax_lse(found: Array, expected: Array) -> Verdict:
    """Verdict on softmax_lse; ``expected`` is the float64 reference of the same shape."""
    finite = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    difference = _difference(found.astype(np.float64), expected)
    allowed = LSE_RELATIVE * finite + LSE_ABSOLUTE
    return _verdict("softmax_lse", difference, allowed, np.maximum(finite, 1.0))


def _difference(found: Array, expected: Array) -> Array:
    """|found - expected|; 0 where both are the same special value, +inf where only one is."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    comparable = np.isfinite(found) & np.isfinite(expected)
    with np.errstate(invalid="ignore"):
        difference = np.where(comparable, np.abs(found - expected), np.inf)
    return np.where(same, 0.0, difference)


def _verdict(output: str, difference: Array, allowed: Array, scale: Array) -> Verdict:
    if difference.size == 0:
        return Verdict(output, 0, 0, 0.0, ())
    with np.errstate(divide="ignore", invalid="ignore"):
        pressure = np.where(difference > 0, difference / allowed, 0.0)
    worst = np.unravel_index(int(np.argmax(pressure)), pressure.shape)
    return Verdict(
        output=output,
        judged=difference.size,
        failed=int(np.count_nonzero(difference > allowed)),
        worst_error=float(np.max(difference / scale)),
        worst_position=tuple(int(axis) for axis in worst),
    )
