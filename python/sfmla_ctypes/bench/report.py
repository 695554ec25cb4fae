# SPDX-License-Identifier: Apache-2.0
"""The tables of a report: titles, columns and cells as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import Change
from .results import Report, Result, Sweep
from .sweeps import PLAIN_LIMIT

MIB = 1 << 20
MISSED = "!"  # behind a number that misses its target


@dataclass(frozen=True)
class Table:
    """Text cells; the first two columns are names."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def summary(report: Report) -> list[str]:
    """The facts that hold for the whole run, one sentence each."""
    peers = ", ".join(f"{name} {found or 'not installed'}" for name, found in report.peers.items())
    return [
        f"{report.processor}, {report.instruction_set}: FMA peak of one core "
        f"{report.peak_gflop_per_second:.1f} GFLOP/s, it reads "
        f"{report.read_gigabytes_per_second:.1f} GB/s from memory",
        f"a call costs its caller {report.call_overhead_seconds * 1e3:.2f} ms in Python, "
        "not in the times below: calls are queued",
        f"peers: {peers or 'not measured'}",
    ]


def results_table(report: Report) -> Table:
    """One row per workload and number of threads."""
    columns = (
        "workload",
        "threads",
        "time ms",
        "GFLOP/s",
        "of peak",
        "target",
        "x best peer",
        "target",
        "x float32",
        "KV GB/s",
        "extra MiB",
        "workspace",
        "others' cores",
    )
    rows = [_result_row(result) for result in report.results]
    title = f"{report.dtype}, medians of {report.rounds} rounds, {MISSED} misses its target"
    return Table(title, columns, rows)


def peers_table(report: Report) -> Table:
    """One row per contender: the peers' fastest ways."""
    columns = ("workload", "peer", "threads", "time ms", "of peak", "x", "error", "extra MiB")
    rows = [
        (
            result.workload,
            peer.name,
            str(result.threads),
            _milliseconds(peer.seconds),
            f"{peer.fraction_of_peak:.2f}",
            f"{peer.ratio:.2f}",
            f"{peer.error:.1e}",
            _mebibytes(peer.extra_bytes),
        )
        for result in report.results
        for peer in result.peers
    ]
    return Table("peers; x: times slower than the library", columns, rows)


def speedups_table(report: Report) -> Table:
    """Several threads against one."""
    rows = [
        (
            speedup.workload,
            f"{speedup.busy_processes} busy" if speedup.busy_processes else "alone",
            str(speedup.threads),
            _judged(speedup.ratio, speedup.target),
            _number(speedup.target),
        )
        for speedup in report.speedups
    ]
    return Table("against one thread", ("workload", "machine", "threads", "x", "target"), rows)


def sweep_table(sweep: Sweep) -> Table:
    """One row per value of the axis."""
    columns = (sweep.axis, "", "time ms", "GFLOP/s", "of peak", "time / plain")
    rows = [
        (
            str(point.value),
            "CLIFF" if point.is_cliff else "",
            _milliseconds(point.seconds),
            f"{point.gflop_per_second:.1f}",
            f"{point.fraction_of_peak:.3f}",
            _time_ratio(point.time_ratio),
        )
        for point in sweep.points
    ]
    return Table(f"{sweep.axis} of {sweep.base}", columns, rows)


def comparison_table(changes: Sequence[Change]) -> Table:
    """This run against the base."""
    columns = ("workload", "", "threads", "base", "now", "change")
    rows = [
        (
            change.workload,
            "SLOWER" if change.is_regression else "",
            str(change.threads),
            "-" if change.base_fraction is None else f"{change.base_fraction:.3f}",
            f"{change.fraction:.3f}",
            "-" if change.change is None else f"{change.change:+.1%}",
        )
        for change in changes
    ]
    return Table("fraction of peak against the base", columns, rows)


def _result_row(result: Result) -> tuple[str, ...]:
    return (
        result.workload,
        str(result.threads),
        _milliseconds(result.seconds),
        f"{result.gflop_per_second:.1f}",
        _judged(result.fraction_of_peak, result.target_fraction),
        _number(result.target_fraction),
        "-" if result.ratio is None else _judged(result.ratio, result.target_ratio),
        _number(result.target_ratio),
        _number(result.precise_ratio),
        f"{result.kv_gigabytes_per_second:.2f}",
        _extra(result),
        _mebibytes(result.workspace_bytes),
        "-" if result.other_cores is None else f"{result.other_cores:.1f}",
    )


def _extra(result: Result) -> str:
    """Beyond what was announced as workspace, 1 MiB per thread is the target."""
    allowed = result.threads * MIB + (result.workspace_bytes or 0)
    is_missed = result.extra_bytes is not None and result.extra_bytes > allowed
    return f"{_mebibytes(result.extra_bytes)}{MISSED if is_missed else ''}"


def _judged(value: float, target: float | None) -> str:
    is_missed = target is not None and value < target
    return f"{value:.2f}{MISSED if is_missed else ''}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _time_ratio(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}{MISSED if ratio > PLAIN_LIMIT else ''}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"


def _mebibytes(count: int | None) -> str:
    return "-" if count is None else f"{count / MIB:.2f}"
