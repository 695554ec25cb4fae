# SPDX-License-Identifier: Apache-2.0
"""Is what is about to be timed right? A few rows against the float64 reference.

This catches a measurement of the wrong thing. ``sfmla run --reference`` judges all rows, and more
sharply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .probes import BenchError
from .workloads import Shape, only_row, operator_of

Array = NDArray[Any]

# Half a unit in the last place of the largest element, and a little for arithmetic before it; the
# same again where weights are rounded first.
OWN_LIMIT = {"bfloat16": 2.0**-8 * 1.05, "float16": 2.0**-11 * 1.05}
ROUNDED_WEIGHTS_LIMIT = {dtype: 2 * limit for dtype, limit in OWN_LIMIT.items()}
PEER_LIMIT = {"bfloat16": 2.0**-8 * 4, "float16": 2.0**-11 * 4}


def checked_error(
    name: str, shape: Shape, arguments: Mapping[str, Any], found: Array, limit: float
) -> float:
    """The largest error of the first, a middle and the last row of ``found`` (rows, heads, 512).

    Errors are relative to the largest value of a row and head. Raises BenchError beyond ``limit``.
    """
    rows = sorted({0, len(found) // 2, len(found) - 1})
    error = float(np.max([_row_error(shape, arguments, found, row) for row in rows]))
    if not error <= limit:  # a NaN in any row is an error too
        raise BenchError(f"{name}: largest relative error {error:.1e}, must be at most {limit:.1e}")
    return error


def _row_error(shape: Shape, arguments: Mapping[str, Any], found: Array, row: int) -> float:
    expected = operator_of(shape).reference(**only_row(shape, arguments, row))[0][0]
    difference = np.abs(found[row].astype(np.float64) - expected).max(axis=-1)
    return float(np.max(difference / np.abs(expected).max(axis=-1)))
