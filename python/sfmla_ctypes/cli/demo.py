# SPDX-License-Identifier: Apache-2.0
"""``sfmla demo``: the attention modes of DeepSeek-V4-Flash and V3.2, computed and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..case_arrays import Arguments
from ..cases import CaseSpec, build_case, named_case, resize
from ..judge import Verdict
from ..operators import OPERATORS
from ..plots import check_can_plot, save_attended_keys
from ..reference import Call
from .device import device_option, is_emulated
from .execute import compare, execute, keys_per_row
from .files import OUTPUT_FILE, writing
from .output import json_option, milliseconds, print_json, print_table, waiting
from .refusals import Refusal, as_refusals

DEFAULT_PICTURE = "sfmla_demo.png"
MODES = ("swa", "csa", "hca")
MAX_REPEATS = 5
BUDGET_SECONDS = 0.5  # of timed calls, per case


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    mode: str
    phase: str
    spec: CaseSpec
    keys: NDArray[np.int64]  # of each query row
    seconds: float
    gflop_per_second: float
    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        return all(verdict.ok for verdict in self.verdicts)


@click.command()
@click.option(
    "--plot",
    type=OUTPUT_FILE,
    help="Where to save the picture of the keys each row attends to "
    f"[{DEFAULT_PICTURE} when matplotlib is installed].",
)
@click.option("--no-plot", is_flag=True, help="Save no picture.")
@device_option
@json_option
@click.pass_context
def demo(context: click.Context, /, plot: Path | None, no_plot: bool, as_json: bool) -> None:
    """Run SWA, CSA and HCA at DeepSeek-V4-Flash shapes, SFA at V3.2 ones; check all rows and heads.

    Each case is planned and computed by the library, with output arrays full of NaN, and compared
    with a float64 NumPy reference. The relative error is the largest difference in a row and head
    over the largest reference value there. GFLOP/s counts attended keys only. The emulated device
    has no kernel of SFA, and its times are those of the emulator. Exit code 1: a result is wrong.
    """
    if plot is not None:
        check_can_plot(plot)
    specs = demo_specs()
    with waiting("building the cases"):
        cases = {name: build_case(spec) for name, spec in specs.items()}
    lines = [_run(name, spec, cases[name]) for name, spec in specs.items()]
    if as_json:
        print_json([_as_json(line) for line in lines])
    else:
        _print_lines(lines)
    click.echo(_draw(cases, plot, no_plot), err=as_json)
    if not all(line.ok for line in lines):
        context.exit(1)


def _draw(cases: Mapping[str, Arguments], plot: Path | None, no_plot: bool) -> str:
    """A line about the picture; one that nobody asked for need not succeed."""
    path = Path(DEFAULT_PICTURE) if plot is None else plot
    if plot is not None:
        with writing("--plot"):
            _save_picture(cases, plot)
    elif no_plot:
        return "no picture of the attended keys: --no-plot"
    elif find_spec("matplotlib") is None:
        needs = "needs matplotlib, pip install 'sfmla-ctypes[plot]'"
        return f"no picture of the attended keys: {needs}"
    else:
        try:
            with as_refusals():
                _save_picture(cases, path)
        except Refusal as refusal:
            return f"no picture of the attended keys: {refusal.message}"
    return f"wrote a picture of the attended keys: {path.absolute()}"


def demo_specs() -> dict[str, CaseSpec]:
    """Decode at full size, and a prefill chunk small enough for the reference."""
    names = {mode: f"v4-flash-{mode}" for mode in MODES}
    if not is_emulated():
        names["sfa"] = "v3.2-sfa"
    specs = {f"{mode} decode": named_case(f"{name}-decode") for mode, name in names.items()}
    for mode, name in names.items():
        spec = named_case(f"{name}-prefill")
        specs[f"{mode} prefill"] = resize(spec, query_tokens=[128], kv_tokens=[4096])
    return specs


def _run(name: str, spec: CaseSpec, arguments: Arguments) -> Line:
    operator = OPERATORS[spec.function]
    with waiting(f"{name}: running"):
        result = execute(operator, arguments, MAX_REPEATS, BUDGET_SECONDS)
    verdicts = compare(operator, arguments, result, f"{name}: reference rows")
    keys = keys_per_row(operator.call(**arguments))
    mode, phase = name.split()
    rate = operator.gflop(int(keys.sum()), spec.heads) / result.seconds
    return Line(mode.upper(), phase, spec, keys, result.seconds, rate, tuple(verdicts))


def _save_picture(cases: Mapping[str, Arguments], path: Path) -> None:
    chosen = {
        name: Call(**cases[name]) for name in (f"{mode} prefill" for mode in MODES) if name in cases
    }
    save_attended_keys({_title(name): call for name, call in chosen.items()}, path)


def _title(name: str) -> str:
    mode, phase = name.split()
    return f"{mode.upper()}, {phase}"


def _print_lines(lines: list[Line]) -> None:
    emulated = is_emulated()
    rows = [
        (
            f"{line.mode} {line.phase}",
            f"{line.spec.batch}x{line.spec.query_tokens[0]} rows of {line.spec.kv_tokens[0]}",
            str(line.spec.heads),
            _span(line.keys),
            milliseconds(line.seconds),
            f"{line.gflop_per_second:{'.2g' if emulated else '.1f'}}",
            f"{line.verdicts[0].worst_error:.1e}",
            "ok" if line.ok else "WRONG",
        )
        for line in lines
    ]
    title = "SparseFlashMla, DeepSeek-V4-Flash"
    if any(line.mode == "SFA" for line in lines):
        title += "; SFA: SparseFlashAttention, DeepSeek-V3.2"
    if emulated:
        title += "\non emulated Atlas A2 cores: time and GFLOP/s are those of the emulator"
    columns = (
        "mode",
        "shape",
        "heads",
        "keys\nper row",
        "emulated\ntime" if emulated else "time",
        "emulated\nGFLOP/s" if emulated else "GFLOP/s",
        "relative\nerror",
        "checked",
    )
    print_table(title, columns, rows)


def _span(keys: NDArray[np.int64]) -> str:
    low, high = int(keys.min()), int(keys.max())
    return str(low) if low == high else f"{low}-{high}"


def _as_json(line: Line) -> dict[str, Any]:
    return {
        "mode": line.mode,
        "phase": line.phase,
        "batch": line.spec.batch,
        "query_tokens": line.spec.query_tokens[0],
        "kv_tokens": line.spec.kv_tokens[0],
        "heads": line.spec.heads,
        "dtype": line.spec.dtype,
        "keys_per_row": [int(line.keys.min()), int(line.keys.max())],
        "is_emulated": is_emulated(),
        "seconds": line.seconds,
        "gflop_per_second": line.gflop_per_second,
        "verdicts": [verdict.as_dict() for verdict in line.verdicts],
        "ok": line.ok,
    }
