# SPDX-License-Identifier: Apache-2.0
"""A picture: what was reached under what arithmetic units and memory allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plots import COLORS, COMPRESSED, ORIGINAL, PIXELS_PER_INCH, PlotError, check_can_plot
from .probes import rounds_weights
from .results import Report

THREAD_COLORS = (COLORS[ORIGINAL], COLORS[COMPRESSED])
MARKERS = "os^vD<>pPX*hdH8"


def save_roofline(report: Report, path: Path) -> None:
    """GFLOP/s against FLOP per byte of distinct KV rows, q and output; one roof per thread count.

    The roof is that of float32 multiply-adds, which products of bfloat16 pairs may pass; how far
    depends on the processor. Hollow points are wall times that others disturbed.
    Raises PlotError without matplotlib, for an unknown suffix, for a report without results, or
    when the file cannot be written.
    """
    check_can_plot(path)
    if not report.results:
        raise PlotError(f"{path}: no workload was measured, the roofline shows at least one")
    from matplotlib.figure import Figure

    figure = Figure((10, 5.5), dpi=PIXELS_PER_INCH, layout="constrained")
    panel = figure.subplots()
    for index, threads in enumerate(sorted({row.threads for row in report.results})):
        _draw(panel, report, threads, THREAD_COLORS[index % len(THREAD_COLORS)])
    for marker, workload in _markers(report).items():
        panel.scatter([], [], color="#888888", marker=marker, label=workload)
    panel.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="GFLOP/s")
    panel.set_title(_title(report), loc="left", fontsize=10)
    figure.legend(loc="outside right upper", frameon=False)
    try:
        figure.savefig(path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be written, {error.strerror or error}") from error


def roof(report: Report, threads: int, intensities: NDArray[Any]) -> NDArray[Any]:
    """GFLOP/s that ``threads`` cores allow at so many FLOP per byte."""
    by_memory = report.read_gigabytes_per_second * intensities
    return threads * np.minimum(by_memory, report.peak_gflop_per_second)


def _title(report: Report) -> str:
    title = f"{report.dtype}, {report.instruction_set}; roofs: float32 FMA peak, memory"
    if rounds_weights(report.dtype):
        title += "; products of bfloat16 pairs may pass the peak"
    if any(row.is_disturbed for row in report.results):
        title += "\nhollow: others disturbed the wall time"
    return title


def _markers(report: Report) -> dict[str, str]:
    """Workload by marker, in the order of the report."""
    names = dict.fromkeys(row.workload for row in report.results)
    return dict(zip(MARKERS, names, strict=False))


def _draw(panel: Any, report: Report, threads: int, color: str) -> None:
    rows = {row.workload: row for row in report.results if row.threads == threads}
    highest = max(row.flop / row.moved_bytes for row in rows.values())
    intensities = np.geomspace(0.5, 2 * highest, 100)
    label = f"{threads} thread" + ("s" if threads > 1 else "")
    panel.plot(intensities, roof(report, threads, intensities), color=color, label=label)
    for marker, workload in _markers(report).items():
        row = rows.get(workload)
        if row is not None:
            place = row.flop / row.moved_bytes, row.gflop_per_second
            fill = "none" if row.is_disturbed else color
            panel.scatter(*place, edgecolors=color, facecolors=fill, marker=marker)
