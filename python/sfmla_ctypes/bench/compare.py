# SPDX-License-Identifier: Apache-2.0
"""A run against an earlier one, by fraction of peak: absolute rates move with the machine."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from .probes import BenchError
from .results import SCHEMA, Report, Result, is_disturbed

REGRESSION = 0.10  # of the base; smaller changes are noise on a shared machine
# Types of what is read of a base, and their names in JSON.
Fields = Mapping[str, tuple[tuple[type, ...], str]]
BASE_FIELDS: Fields = {
    "instruction_set": ((str,), "a string"),
    "dtype": ((str,), "a string"),
    "results": ((list,), "a list"),
}
ROW_FIELDS: Fields = {
    "workload": ((str,), "a string"),
    "threads": ((int,), "an integer"),
    "fraction_of_peak": ((float, int), "a number"),
    "other_cores": ((float, int, NoneType), "a number or null"),
}


@dataclass(frozen=True)
class Change:
    """One workload with one number of threads; None where the base did not measure it.

    ``is_disturbed``: others disturbed the wall time of this run or of the base.
    """

    workload: str
    threads: int
    base_fraction: float | None
    fraction: float
    is_disturbed: bool

    @property
    def change(self) -> float | None:
        """Relative; negative is slower."""
        return self.fraction / self.base_fraction - 1 if self.base_fraction else None

    @property
    def is_regression(self) -> bool:
        is_slower = self.change is not None and self.change < -REGRESSION
        return is_slower and not self.is_disturbed


def load_base(path: Path) -> dict[str, Any]:
    """A report that --json wrote, with all that ``compare`` reads. Raises BenchError for others."""
    try:
        base = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BenchError(f"{path}: cannot be read as JSON, {error}") from error
    schema = base.get("schema") if isinstance(base, dict) else None
    if schema != SCHEMA:
        raise BenchError(f"{path}: schema {schema}, must be {SCHEMA}, as `sfmla bench --json`")
    assert isinstance(base, dict)
    _check_fields(path, "", base, BASE_FIELDS)
    for index, row in enumerate(base["results"]):
        if not isinstance(row, dict):
            raise BenchError(f"{path}: results[{index}]: {row!r}, must be an object")
        _check_fields(path, f"results[{index}].", row, ROW_FIELDS)
    return base


def _check_fields(path: Path, place: str, found: Mapping[str, Any], fields: Fields) -> None:
    for name, (types, kind) in fields.items():
        if name not in found:
            raise BenchError(f"{path}: {place}{name}: missing, `sfmla bench --json` writes it")
        value = found[name]
        is_finite = not isinstance(value, float) or math.isfinite(value)
        if not isinstance(value, types) or not is_finite:
            raise BenchError(f"{path}: {place}{name}: {value!r}, must be {kind}")


def check_comparable(base: Mapping[str, Any], instruction_set: str, dtype: str) -> None:
    """Raise BenchError unless the base was measured with the same kernels on the same type."""
    for name, found in (("instruction_set", instruction_set), ("dtype", dtype)):
        if base.get(name) != found:
            raise BenchError(f"base: {name} {base.get(name)}, must be {found} as in this run")


def compare(base: Mapping[str, Any], report: Report) -> list[Change]:
    """The change of every result of the report. Raises BenchError as ``check_comparable``."""
    check_comparable(base, report.instruction_set, report.dtype)
    before = {(row["workload"], row["threads"]): row for row in base["results"]}
    return [_change(before.get((row.workload, row.threads)), row) for row in report.results]


def _change(before: Mapping[str, Any] | None, now: Result) -> Change:
    was_disturbed = before is not None and is_disturbed(now.threads, before["other_cores"])
    return Change(
        workload=now.workload,
        threads=now.threads,
        base_fraction=None if before is None else before["fraction_of_peak"],
        fraction=now.fraction_of_peak,
        is_disturbed=was_disturbed or now.is_disturbed,
    )
