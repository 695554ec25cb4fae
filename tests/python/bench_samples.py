# SPDX-License-Identifier: Apache-2.0
"""Made-up rounds, the reports of them, and rows of their tables."""

from typing import Any

from sfmla_ctypes.bench.report import Table
from sfmla_ctypes.bench.results import Report, Samples
from sfmla_ctypes.bench.timing import Round
from sfmla_ctypes.bench.workloads import Work

WORK = Work(flop=1000, kv_bytes=50, moved_bytes=100)


def samples(
    name: str, seconds: list[float], threads: int = 1, other_cores: float | None = 0.0
) -> Samples:
    """Rounds whose processor time is ``seconds``, whose wall time is twice that, at peak 100."""
    rounds = tuple(Round(one, 2 * one, 100.0, other_cores) for one in seconds)
    return Samples(name, threads, WORK, rounds, error=0.001, extra_bytes=1 << 19)


def report_of(*results: Any) -> Report:
    return Report(
        version="1",
        processor="some",
        instruction_set="avx2",
        dtype="bfloat16",
        rounds=3,
        peers={"numpy": "2", "torch": None},
        peak_gflop_per_second=100.0,
        read_gigabytes_per_second=10.0,
        call_overhead_seconds=1e-4,
        results=results,
    )


def cells(table: Table, row: int = 0) -> dict[str, str]:
    """A row by column; of two columns with one name the first."""
    pairs = zip(table.columns, table.rows[row], strict=True)
    return dict(reversed(list(pairs)))
