# SPDX-License-Identifier: Apache-2.0
"""``sfmla sim``: a call on emulated cores, under many schedules."""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from .. import AclDeviceError
from ..case_arrays import Arguments
from ..case_files import load_case
from ..cases import CaseError
from ..judge import Verdict
from ..operators import OPERATORS, Operator, operator_of
from ..plots import check_can_plot, save_trace
from .device import EMULATED, VARIABLE, check_has_emulated_kernel
from .execute import execute
from .files import OUTPUT_FILE, refuse_same_file, writing
from .options import POSITIVE, build_named, changed_spec, named_spec, spec_options
from .output import json_option, print_json, print_table, row_progress, waiting
from .refusals import Refusal

Outputs = Mapping[str, NDArray[Any]]
CORES = click.IntRange(1, 36)


@dataclass(frozen=True)
class Run:
    """What one schedule gave."""

    seed: int
    fault: str  # "" without one
    verdicts: tuple[Verdict, ...]
    same_bits: bool  # as the first schedule

    @property
    def ok(self) -> bool:
        return not self.fault and self.same_bits and all(verdict.ok for verdict in self.verdicts)


@click.command()
@click.argument("case_name", metavar="CASE")
@click.option("--seeds", type=POSITIVE, default=20, show_default=True, help="Schedules to try.")
@click.option("--cores", type=CORES, help="Cube cores, each with two vector cores [24].")
@click.option(
    "--trace", type=OUTPUT_FILE, help="Write what ran when in the first schedule, as JSON."
)
@click.option("--plot", type=OUTPUT_FILE, help="Save a picture of its first core and vector cores.")
@click.option("--checks/--no-checks", default=True, help="Check hazards, or only the numbers.")
@spec_options
@json_option
@click.pass_context
def sim(
    context: click.Context,
    /,
    case_name: str,
    seeds: int,
    cores: int | None,
    trace: Path | None,
    plot: Path | None,
    checks: bool,
    as_json: bool,
    **changes: Any,
) -> None:
    """Run the Ascend C kernel for CASE on emulated Atlas A2 cores, once per schedule.

    CASE is a file that `sfmla case` wrote, or one of its names, with sizes changed by the options
    below. Seed 0 is program order; other seeds pick among all orders that the chip may take. Every
    result is compared with the float64 reference, and bit by bit with that of seed 0. The relative
    error is the largest difference in a row and head over the largest reference value there. A
    trace opens in ui.perfetto.dev. Exit code 1: a fault, a wrong number, or bits that depend on the
    seed.
    """
    settings = {VARIABLE: EMULATED, "SFMLA_SIM_CHECKS": "on" if checks else "off"}
    if cores is not None:
        settings["SFMLA_SIM_CORES"] = str(cores)
    refuse_same_file({"CASE": Path(case_name), "--trace": trace, "--plot": plot})
    with _trace_file(trace, plot) as traced:
        operator, arguments = _arguments(case_name, changes)
        runs = _run_all(operator, arguments, seeds, settings, traced)
        if as_json:
            print_json([_as_json(run) for run in runs])
        else:
            _print(case_name, runs)
        if traced is not None and traced.exists():
            for line in _write(case_name, runs, traced, trace, plot):
                click.echo(line, err=as_json)
    if not all(run.ok for run in runs):
        context.exit(1)


@contextmanager
def _trace_file(trace: Path | None, plot: Path | None) -> Iterator[Path | None]:
    """Where the first schedule writes its trace, for the file, the picture or both."""
    if trace is None and plot is None:
        yield None
        return
    if plot is not None:
        check_can_plot(plot)
    try:
        folder = tempfile.TemporaryDirectory()
    except OSError as error:
        raise Refusal(f"trace: no temporary folder, {error.strerror}") from error
    with folder as name:
        yield Path(name) / "trace.json"


def _write(
    case_name: str, runs: list[Run], traced: Path, trace: Path | None, plot: Path | None
) -> list[str]:
    """Write the trace and the picture, which only a run without a fault has; lines about them."""
    lines = []
    if trace is not None:
        with writing("--trace"):
            _copy(traced, trace)
        lines.append(f"wrote {trace}: open it in https://ui.perfetto.dev")
    if plot is not None and not runs[0].fault:
        with writing("--plot"):
            save_trace(json.loads(traced.read_text()), f"{case_name}, in program order", plot)
        lines.append(f"wrote {plot}")
    return lines


def _copy(source: Path, target: Path) -> None:
    try:
        target.write_bytes(source.read_bytes())
    except OSError as error:
        raise CaseError(f"{target}: cannot be written, {error.strerror or error}") from error


def _arguments(case_name: str, changes: Mapping[str, Any]) -> tuple[Operator, Arguments]:
    spec = named_spec(case_name)
    if spec is not None:
        spec = changed_spec(spec, changes)
        operator = OPERATORS[spec.function]
        check_has_emulated_kernel(operator)
        return operator, build_named(case_name, spec)
    given = [name for name, value in changes.items() if value is not None]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise click.UsageError(f"{option}: given with the file {case_name}, which has its sizes")
    arguments = load_case(Path(case_name))
    operator = operator_of(arguments)
    check_has_emulated_kernel(operator)
    return operator, arguments


def _run_all(
    operator: Operator,
    arguments: Arguments,
    seeds: int,
    settings: Mapping[str, str],
    trace: Path | None,
) -> list[Run]:
    runs: list[Run] = []
    first: Outputs | None = None
    expected: tuple[NDArray[Any], ...] = ()
    for seed in range(seeds):
        own = {"SFMLA_SIM_SEED": str(seed)}
        if trace is not None and seed == 0:
            own["SFMLA_SIM_TRACE"] = str(trace)
        with waiting(f"seed {seed} of {seeds}"):
            outputs, fault = _in_own_process(operator.name, arguments, {**settings, **own})
        if trace is not None and f"'{trace}' cannot be written" in fault:
            raise CaseError(f"{trace}: the temporary trace cannot be written, TMPDIR may be full")
        if fault:
            runs.append(Run(seed, fault, (), True))
            continue
        if first is None:
            first = outputs
            with row_progress("reference rows") as progress:
                expected = operator.reference(**arguments, progress=progress)
        verdicts = operator.judge(outputs, expected, rounds_weights=True)
        same = all(outputs[name].tobytes() == first[name].tobytes() for name in first)
        runs.append(Run(seed, "", tuple(verdicts), same))
    return runs


def _in_own_process(
    operator: str, arguments: Arguments, settings: Mapping[str, str]
) -> tuple[Outputs, str]:
    """Outputs, or the text of a fault. The library reads its settings once per process."""
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=_set, initargs=(settings,)
    ) as processes:
        return processes.submit(_execute, operator, arguments).result()


def _set(settings: Mapping[str, str]) -> None:
    os.environ.update(settings)


def _execute(operator: str, arguments: Arguments) -> tuple[Outputs, str]:
    try:
        return execute(OPERATORS[operator], arguments).outputs, ""
    except AclDeviceError as error:
        return {}, str(error)


def _print(case_name: str, runs: list[Run]) -> None:
    rows = []
    for run in runs:
        verdict, bits, error = "-", "-", "-"
        if not run.fault:
            verdict = "ok" if all(verdict.ok for verdict in run.verdicts) else "WRONG"
            bits = "same" if run.same_bits else "DIFFERENT"
            error = f"{run.verdicts[0].worst_error:.1e}"
        rows.append((str(run.seed), "FAULT" if run.fault else "none", verdict, error, bits))
    columns = ("seed", "fault", "numbers", "relative error", "bits")
    print_table(f"{case_name} on emulated cores", columns, rows)
    for run in runs:
        if run.fault:
            click.echo(f"seed {run.seed}: {run.fault}")


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "seed": run.seed,
        "fault": run.fault or None,
        "verdicts": [verdict.as_dict() for verdict in run.verdicts],
        "same_bits": None if run.fault else run.same_bits,
        "ok": run.ok,
    }
