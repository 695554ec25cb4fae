# SPDX-License-Identifier: Apache-2.0
"""``sfmla bench``: how fast the operators are here, beside the machine's peak and its peers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from ..bench import report as tables
from ..bench.campaign import Plan, run
from ..bench.compare import Change, check_comparable, compare, load_base
from ..bench.probes import instruction_set
from ..bench.results import Report
from ..bench.roofline import save_roofline
from ..bench.workloads import WORKLOADS
from ..case_arrays import DTYPES
from ..plots import check_can_plot
from .files import OUTPUT_FILE, refuse_same_file, writing
from .options import FILE
from .output import json_option, print_json, print_table


@click.command()
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    type=click.Choice(list(WORKLOADS)),
    help="Measure only this one; may be repeated.",
)
@click.option(
    "--threads",
    multiple=True,
    type=click.IntRange(min=1),
    default=(1, 2),
    show_default=True,
    help="Number of threads; may be repeated.",
)
@click.option(
    "--dtype",
    type=click.Choice(list(DTYPES)),
    default="bfloat16",
    show_default=True,
    help="Type of q and caches.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Times that everything is measured, in turns.",
)
@click.option(
    "--peers/--no-peers",
    "with_peers",
    default=True,
    help="Whether to measure NumPy, and PyTorch where it is installed.",
)
@click.option(
    "--sweep",
    "with_sweep",
    is_flag=True,
    help="Vary one size at a time and look for cliffs; no workload unless --workload names it.",
)
@click.option(
    "--compare", "base_file", type=FILE, metavar="BASE", help="An earlier --json to compare with."
)
@click.option("--plot", type=OUTPUT_FILE, help="Save a roofline in this picture file.")
@json_option
@click.pass_context
def bench(
    context: click.Context,
    /,
    workloads: tuple[str, ...],
    threads: tuple[int, ...],
    dtype: str,
    rounds: int,
    with_peers: bool,
    with_sweep: bool,
    base_file: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure the operators on serving shapes, in turns with their peers.

    GFLOP/s count attended keys only; the peak is that of float32 multiply-adds, probed before every
    round. Workloads sas-* are SparseAttnSharedkv, whose peer is SparseFlashMla on the same problem,
    sfa-* SparseFlashAttention, all others SparseFlashMla. One thread is measured in processor time,
    more in wall time, also one thread where it is compared with more. A wall time during which
    others took 0.15 cores or more is marked and not judged. Sweeps use the first number of threads.
    Exit code 1: a cliff, or a workload more than 10 % slower than in BASE.
    """
    refuse_same_file({"--compare": base_file, "--plot": plot})
    chosen = workloads or (() if with_sweep else tuple(WORKLOADS))
    if plot is not None and not chosen:
        raise click.UsageError(
            "--plot: the roofline shows workloads, --workload names at least one"
        )
    plan = Plan(chosen, sorted(set(threads)), dtype, rounds, with_peers, with_sweep)
    if plot is not None:
        check_can_plot(plot)
    base = None if base_file is None else load_base(base_file)
    if base is not None:
        check_comparable(base, instruction_set(), dtype)
    with Console(stderr=True).status("starting") as status:
        report = run(plan, status.update)
    changes = [] if base is None else compare(base, report)
    if as_json:
        print_json(report.as_dict() | {"changes": [asdict(change) for change in changes]})
    else:
        _print_report(report, changes)
    if plot is not None:
        with writing("--plot"):
            save_roofline(report, plot)
    if _has_failed(report, changes):
        context.exit(1)


def _has_failed(report: Report, changes: list[Change]) -> bool:
    has_cliff = any(point.is_cliff for sweep in report.sweeps for point in sweep.points)
    return has_cliff or any(change.is_regression for change in changes)


def _print_report(report: Report, changes: list[Change]) -> None:
    for line in tables.summary(report):
        click.echo(line)
    shown = [tables.results_table(report), tables.memory_table(report)]
    shown += [tables.peers_table(report), tables.speedups_table(report)]
    shown.append(tables.comparison_table(changes))
    shown += [tables.sweep_table(sweep) for sweep in report.sweeps]
    for table in shown:
        if table.rows:
            print_table(table.title, table.columns, table.rows)
