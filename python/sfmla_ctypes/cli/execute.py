# SPDX-License-Identifier: Apache-2.0
"""One call through the library, planned, timed, and with poisoned outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bench.probes import rounds_weights
from ..judge import Verdict
from ..operators import Operator
from ..reference import AnyCall
from .device import check_has_emulated_kernel, is_emulated
from .output import row_progress

Array = NDArray[Any]


@dataclass(frozen=True)
class Result:
    """Outputs of a call by name, those that it asked for."""

    outputs: Mapping[str, Array]
    seconds: float  # median of the repeated calls, planning not included


def execute(
    operator: Operator,
    arguments: Mapping[str, Any],
    max_repeats: int = 1,
    budget_seconds: float = 0,
) -> Result:
    """Plan and run a call; repeat it until ``max_repeats`` or the time budget is reached.

    Output arrays hold NaN before the call, so that a value never written shows.
    """
    if is_emulated():
        check_has_emulated_kernel(operator)
    planned = operator.with_metadata(arguments)
    outputs = operator.poisoned_outputs(planned)
    seconds: list[float] = []
    while not seconds or (len(seconds) < max_repeats and sum(seconds) < budget_seconds):
        started = time.perf_counter()
        operator.run(planned, outputs)
        seconds.append(time.perf_counter() - started)
    return Result(outputs, float(np.median(seconds)))


def compare(
    operator: Operator, arguments: Mapping[str, Any], result: Result, title: str
) -> list[Verdict]:
    """The verdict on every output, with a progress bar over the rows of the reference."""
    with row_progress(title) as progress:
        expected = operator.reference(**arguments, progress=progress)
    dtype = arguments[operator.query].dtype.name
    return operator.judge(result.outputs, expected, is_emulated() or rounds_weights(dtype))


def keys_per_row(call: AnyCall) -> NDArray[np.int64]:
    """Attended keys of every query row that is not padding."""
    return np.array([sum(map(len, row.keys)) for row in call.attended_rows()], np.int64)


def heads_of(operator: Operator, arguments: Mapping[str, Any]) -> int:
    """Query heads of a call."""
    return int(arguments[operator.query].shape[-2])
