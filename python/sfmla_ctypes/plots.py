# SPDX-License-Identifier: Apache-2.0
"""Pictures: which keys each row attends to, how a schedule spreads over the cores, which pipes of
an emulated core work at the same time.

Needs matplotlib, which the extra ``plot`` installs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reference import Call, query_rows, requests, row_keys
from .schedule import Schedule

NOTHING, COMPRESSED, ORIGINAL, BOTH = range(4)
COLORS = ("#f4f1ea", "#e0a458", "#2a6f97", "#7a3b69")
LABELS = ("not attended", "compressed key", "original key", "both")
PIXELS_PER_INCH = 150
FIRST_GROUP = ("AIC0", "AIV0", "AIV1")  # the first cube core and its vector cores
# Pipes in the order in which data passes them.
PIPES: Mapping[str, str] = {
    "MTE2": "copy into the core",
    "MTE1": "copy within the core",
    "M": "matrix products",
    "V": "vector arithmetic",
    "FIX": "copy out of the core",
    "MTE3": "copy out of the core",
}
WORK_COLORS: Mapping[str, str] = {
    "copy into the core": "#7fb7be",
    "copy within the core": "#a9a9a9",
    "matrix products": "#2a6f97",
    "vector arithmetic": "#7a3b69",
    "copy out of the core": "#e0a458",
}
TRACE_RESOLUTION = 1500  # of the whole time; shorter pauses are not drawn


class PlotError(RuntimeError):
    """A picture that cannot be drawn or saved; the text is one sentence."""


def check_can_plot(path: Path) -> None:
    """Raise PlotError when matplotlib is missing or cannot write files of this suffix."""
    supported = _new_figure(1, 1).canvas.get_supported_filetypes()
    if path.suffix[1:] not in supported:
        allowed = ", ".join("." + suffix for suffix in sorted(supported))
        raise PlotError(f"{path}: suffix {path.suffix!r}, must be one of {allowed}")


def save_attended_keys(calls: Mapping[str, Call], path: Path) -> None:
    """One panel per call: query rows downwards, token positions to the right.

    Only the first request of a call is drawn. A compressed key covers the original tokens that it
    stands for. Raises PlotError as ``check_can_plot`` does, or when the file cannot be written.
    """
    figure = _new_figure(11, 0.8 + 2.6 * len(calls))
    panels = figure.subplots(len(calls), 1, squeeze=False)[:, 0]
    for panel, (title, call) in zip(panels, calls.items(), strict=True):
        panel.imshow(_colored(attended_map(call)), aspect="auto", interpolation_stage="rgba")
        panel.set_title(title, loc="left", fontsize=10)
        panel.set_ylabel("query row")
    panels[-1].set_xlabel("token position of the request")
    handles = [_patch(color) for color in COLORS]
    figure.legend(handles, LABELS, loc="outside upper right", ncols=len(LABELS), frameon=False)
    _save(figure, path)


def attended_map(call: Call) -> NDArray[np.uint8]:
    """For the first request: (query rows, token positions) of NOTHING .. BOTH."""
    request = next(requests(call))
    tokens = max(request.original_tokens, request.restored_tokens)
    drawn = np.zeros((request.query_tokens, tokens), np.uint8)
    for row in query_rows(call):
        if row.request != request.index:
            break
        original, compressed = row_keys(call, row)
        covered = compressed[:, np.newaxis] * call.cmp_ratio + np.arange(call.cmp_ratio)
        drawn[row.token, covered.ravel()] |= COMPRESSED
        drawn[row.token, original] |= ORIGINAL
    return drawn


def save_schedule(schedule: Schedule, title: str, path: Path) -> None:
    """A bar per enabled core, as high as its cost, and the mean as a line.

    Raises PlotError as ``save_attended_keys`` does.
    """
    figure = _new_figure(11, 4)
    panel = figure.subplots()
    cores = [work.core for work in schedule.cores]
    panel.bar(cores, [work.cost for work in schedule.cores], color=COLORS[ORIGINAL])
    if cores:
        mean = schedule.cost / len(cores)
        panel.axhline(mean, color=COLORS[COMPRESSED], label=f"mean {mean:.0f}")
        figure.legend(loc="outside upper right", frameon=False)
    panel.set(xlabel="core", ylabel="cost")
    panel.locator_params(axis="x", integer=True)
    panel.set_title(f"{title}: balance {schedule.balance:.1%}", loc="left", fontsize=10)
    _save(figure, path)


def save_trace(trace: Mapping[str, Any], title: str, path: Path) -> None:
    """When the pipes of the first group of cores work, from a trace that the emulator wrote.

    Raises PlotError as ``save_attended_keys`` does.
    """
    tracks = busy_times(trace)
    end = max((times[-1][1] for times in tracks.values()), default=1)
    figure = _new_figure(11, 0.9 + 0.24 * len(tracks))
    panel = figure.subplots()
    for place, ((_, pipe), times) in enumerate(tracks.items()):
        drawn = [(begin, end - begin) for begin, end in _joined(times, end // TRACE_RESOLUTION)]
        panel.broken_barh(drawn, (place - 0.4, 0.8), color=WORK_COLORS[PIPES[pipe]])
    panel.set_yticks(range(len(tracks)), [" ".join(track) for track in tracks])
    panel.set(
        xlabel="program time (ticks), not hardware time",
        xlim=(0, end),
        ylim=(len(tracks) - 0.4, -0.6),
    )
    panel.set_title(title, loc="left", fontsize=10)
    handles = [_patch(color) for color in WORK_COLORS.values()]
    figure.legend(handles, WORK_COLORS, loc="outside lower center", ncols=5, frameon=False)
    _save(figure, path)


def busy_times(trace: Mapping[str, Any]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Of the first group, by core and pipe: when it works, [begin, end) in ticks, in order."""
    names: dict[Any, str] = {}
    times: dict[Any, list[tuple[int, int]]] = {}
    for event in trace["traceEvents"]:
        track = (event["pid"], event["tid"])
        if event["name"] == "process_name":
            names[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            names[track] = event["args"]["name"]
        elif event["ph"] == "X":
            times.setdefault(track, []).append((event["ts"], event["ts"] + event["dur"]))
    named = {(names[track[0]], names[track]): sorted(times[track]) for track in times}
    order = [(core, pipe) for core in FIRST_GROUP for pipe in PIPES]
    return {track: _joined(named[track], 0) for track in order if track in named}


def _joined(times: Iterable[tuple[int, int]], pause: int) -> list[tuple[int, int]]:
    """The times, in order, without pauses up to `pause` between them."""
    joined: list[tuple[int, int]] = []
    for begin, end in times:
        if joined and begin <= joined[-1][1] + pause:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def _colored(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    palette = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in COLORS]
    colored: NDArray[np.uint8] = np.array(palette, np.uint8)[drawn]
    return colored


def _patch(color: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=color, edgecolor="#888888")


def _new_figure(width_inches: float, height_inches: float) -> Any:
    """A figure apart from pyplot's global state, so that any thread may draw."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError(
            "pictures need matplotlib, install it with: python -m pip install 'sfmla-ctypes[plot]'"
        ) from error
    return Figure((width_inches, height_inches), dpi=PIXELS_PER_INCH, layout="constrained")


def _save(figure: Any, path: Path) -> None:
    check_can_plot(path)
    try:
        figure.savefig(path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be written, {error.strerror or error}") from error
