# SPDX-License-Identifier: Apache-2.0
"""The tables of a report: titles, columns and cells as text, less than 100 characters wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import Change
from .results import (
    QUIET_CORES,
    PeerResult,
    Report,
    Result,
    Sweep,
    SweepPoint,
    is_disturbed,
)
from .sweeps import PLAIN_LIMIT

MIB = 1 << 20
MISSED = "!"  # behind a number that misses its target
DISTURBED = "?"  # behind a number from a wall time that others disturbed: it is not judged
NONE = "-"


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
        *_disturbed_line(report),
    ]


def _disturbed_line(report: Report) -> list[str]:
    walls = [result for result in report.results if result.threads > 1]
    disturbed = sum(result.is_disturbed for result in walls)
    if not disturbed:
        return []
    return [
        f"this machine is busy: {disturbed} of {len(walls)} wall times had {QUIET_CORES} cores or "
        f"more taken by others, they are marked {DISTURBED} and not judged"
    ]


def results_table(report: Report) -> Table:
    """One row per workload and number of threads."""
    columns = (
        "workload",
        "threads",
        "time\nms",
        "GFLOP/s",
        "of\npeak",
        "target",
        "x best\npeer",
        "target",
        "x\nfloat32",
        "others'\ncores",
    )
    title = (
        f"{report.dtype}, medians of {report.rounds} rounds; the time of one thread is processor "
        f"time, of more wall time\n{MISSED} misses its target, {DISTURBED} others disturbed the "
        "wall time: not judged"
    )
    return _without_empty(title, columns, [_result_row(result) for result in report.results])


def memory_table(report: Report) -> Table:
    """What the calls of ``results_table`` read, and what they need besides their operands."""
    columns = ("workload", "threads", "KV GB/s", "extra MiB", "workspace MiB")
    rows = [
        (
            result.workload,
            str(result.threads),
            _marked(f"{result.kv_gigabytes_per_second:.2f}", result.is_disturbed),
            _extra(result),
            _mebibytes(result.workspace_bytes),
        )
        for result in report.results
    ]
    title = f"memory; {MISSED} more than 1 MiB per thread beyond the workspace"
    return _without_empty(title, columns, rows)


def peers_table(report: Report) -> Table:
    """One row per contender: the peers' fastest ways."""
    columns = (
        "workload",
        "peer",
        "threads",
        "time\nms",
        "of\npeak",
        "x",
        "relative\nerror",
        "extra\nMiB",
    )
    rows = [
        (
            result.workload,
            peer.name,
            str(result.threads),
            _marked(_milliseconds(peer.seconds), is_disturbed(result.threads, peer.other_cores)),
            f"{peer.fraction_of_peak:.2f}",
            _marked(f"{peer.ratio:.2f}", peer.is_disturbed),
            f"{peer.error:.1e}",
            _mebibytes(peer.extra_bytes),
        )
        for result in report.results
        for peer in result.peers
    ]
    title = (
        "peers; x: times slower than the library; errors are relative to the largest value of a "
        "row and head"
    )
    return _without_empty(title, columns, rows)


def speedups_table(report: Report) -> Table:
    """Several threads against one."""
    columns = ("workload", "busy processes", "threads", "x", "target", "others' cores")
    rows = [
        (
            speedup.workload,
            str(speedup.busy_processes or "none"),
            str(speedup.threads),
            _judged(speedup.ratio, speedup.target, speedup.is_disturbed),
            _number(speedup.target),
            _cores(speedup.other_cores),
        )
        for speedup in report.speedups
    ]
    title = (
        "against one thread, wall time by wall time; busy processes are those that were started "
        "to compete"
    )
    return _without_empty(title, columns, rows)


def sweep_table(sweep: Sweep) -> Table:
    """One row per value of the axis."""
    columns = (sweep.axis, "", "time ms", "GFLOP/s", "of peak", "time / plain")
    rows = [
        (
            str(point.value),
            "CLIFF" if point.is_cliff else "",
            _marked(_milliseconds(point.seconds), point.is_disturbed),
            f"{point.gflop_per_second:.1f}",
            f"{point.fraction_of_peak:.3f}",
            _time_ratio(point),
        )
        for point in sweep.points
    ]
    return _without_empty(f"{sweep.axis} of {sweep.base}", columns, rows)


def comparison_table(changes: Sequence[Change]) -> Table:
    """This run against the base."""
    columns = ("workload", "", "threads", "base", "now", "change")
    rows = [
        (
            change.workload,
            "disturbed" if change.is_disturbed else "SLOWER" if change.is_regression else "",
            str(change.threads),
            NONE if change.base_fraction is None else f"{change.base_fraction:.3f}",
            f"{change.fraction:.3f}",
            NONE if change.change is None else f"{change.change:+.1%}",
        )
        for change in changes
    ]
    title = "fraction of peak against the base; what others disturbed, now or then, is not judged"
    return _without_empty(title, columns, rows)


def _without_empty(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    """The table without columns that have nothing to say in any row."""
    kept = [
        index
        for index in range(len(columns))
        if index < 2 or any(row[index] != NONE for row in rows)
    ]
    return Table(
        title,
        tuple(columns[index] for index in kept),
        [tuple(row[index] for index in kept) for row in rows],
    )


def _result_row(result: Result) -> tuple[str, ...]:
    return (
        result.workload,
        str(result.threads),
        _marked(_milliseconds(result.seconds), result.is_disturbed),
        f"{result.gflop_per_second:.1f}",
        _judged(result.fraction_of_peak, result.target_fraction, result.is_disturbed),
        _number(result.target_fraction),
        _ratio(result.best_peer, result.target_ratio),
        _number(result.target_ratio if result.peers else None),
        _ratio(result.precise_peer, None),
        _cores(result.other_cores),
    )


def _extra(result: Result) -> str:
    """Beyond what was announced as workspace, 1 MiB per thread is the target."""
    allowed = result.threads * MIB + (result.workspace_bytes or 0)
    is_missed = result.extra_bytes is not None and result.extra_bytes > allowed
    return f"{_mebibytes(result.extra_bytes)}{MISSED if is_missed else ''}"


def _ratio(peer: PeerResult | None, target: float | None) -> str:
    return NONE if peer is None else _judged(peer.ratio, target, peer.is_disturbed)


def _judged(value: float, target: float | None, disturbed: bool) -> str:
    is_missed = target is not None and value < target and not disturbed
    return _marked(f"{value:.2f}{MISSED if is_missed else ''}", disturbed)


def _marked(text: str, disturbed: bool) -> str:
    return f"{text}{DISTURBED if disturbed else ''}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _cores(count: float | None) -> str:
    return NONE if count is None else f"{count:.2f}"


def _time_ratio(point: SweepPoint) -> str:
    if point.time_ratio is None:
        return NONE
    is_missed = point.time_ratio > PLAIN_LIMIT and not point.is_disturbed
    return _marked(f"{point.time_ratio:.2f}{MISSED if is_missed else ''}", point.is_disturbed)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"


def _mebibytes(count: int | None) -> str:
    return NONE if count is None else f"{count / MIB:.2f}"
