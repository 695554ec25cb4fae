# SPDX-License-Identifier: Apache-2.0
"""``sfmla plan``: the schedule of a call, decoded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from .. import Device
from ..cases import CaseError
from ..operators import OPERATORS, Operator, Planner
from ..plots import check_can_plot, save_schedule
from ..schedule import CUBE_RECORDS, Cursor, Schedule
from .files import OUTPUT_FILE, refuse_same_file, writing
from .options import (
    CommandWithAttributes,
    attribute_options,
    load_with_overrides,
    operator_option,
)
from .output import json_option, print_json, print_table


@click.command(cls=CommandWithAttributes)
@click.argument("case_name", metavar="CASE")
@click.option(
    "--plot", type=OUTPUT_FILE, help="Save a bar chart of the costs in this picture file."
)
@click.option("--cores", type=click.IntRange(1, CUBE_RECORDS), help="Plan for so many cube cores.")
@operator_option
@attribute_options
@json_option
def plan(
    case_name: str,
    plot: Path | None,
    cores: int | None,
    operator: str | None,
    as_json: bool,
    **attributes: Any,
) -> None:
    """Show what each core does for the call in CASE, and its cost.

    CASE is a file (.npz or .safetensors) or a name that `sfmla case --list` shows.

    A cursor is request.row.block: the KV blocks of a row are 512 tokens, original blocks first;
    a core works from its start up to, not including, its end. The cost of a block of s keys for m
    heads is 6*ceil(m/16) + 10*ceil(s/64). Plans of sparse_attn_sharedkv count row blocks instead of
    rows: one row with an index list, else 256 pairs of row and head. An array named metadata in
    CASE is decoded as it is.
    """
    title = Path(case_name).name
    refuse_same_file({"CASE": Path(case_name), "--plot": plot})
    if plot is not None:
        check_can_plot(plot)
    chosen, arguments = load_with_overrides(case_name, attributes, operator)
    planner = _planner(chosen)
    with _core_limit(cores):
        arguments = chosen.with_metadata(arguments)
    schedule = planner.decode(arguments["metadata"], chosen.call(**arguments))
    if as_json:
        print_json(_as_json(schedule))
    else:
        _print_cores(title, schedule)
        _print_merges(schedule)
    if plot is not None:
        with writing("--plot"):
            save_schedule(schedule, title, plot)
        click.echo(f"wrote {plot}", err=as_json)


def _planner(operator: Operator) -> Planner:
    if operator.planner is not None:
        return operator.planner
    planned = " or ".join(name for name, other in OPERATORS.items() if other.planner)
    raise CaseError(f"operator: {operator.name} is not planned, must be {planned}")


@contextmanager
def _core_limit(cores: int | None) -> Iterator[None]:
    """Plan for fewer cores inside; the process may go on with the limits it had."""
    device = Device()
    before = device.cores
    if cores is not None:
        device.set_core_limits(cube=cores, vector=2 * cores)
    try:
        yield
    finally:
        device.set_core_limits(cube=before.cube, vector=before.vector)


def _as_json(schedule: Schedule) -> dict[str, Any]:
    return {
        "cost": schedule.cost,
        "largest_cost": schedule.largest_cost,
        "balance": schedule.balance,
        "cores": [asdict(work) for work in schedule.cores],
        "merges": [asdict(merge) for merge in schedule.merges],
    }


def _print_cores(title: str, schedule: Schedule) -> None:
    rows = [
        (
            str(work.core),
            f"{_cursor(work.start)} .. {_cursor(work.end)}",
            str(work.rows),
            str(work.kv_blocks),
            str(work.cost),
            f"{work.cost / schedule.cost:.1%}" if schedule.cost else "-",
        )
        for work in schedule.cores
    ]
    columns = ("core", "start .. end", "rows", "KV blocks", "cost", "share")
    print_table(f"schedule of {title}", columns, rows)
    click.echo(
        f"{len(schedule.cores)} cores, cost {schedule.cost}, largest {schedule.largest_cost}, "
        f"balance {schedule.balance:.1%} (mean over largest)"
    )


def _print_merges(schedule: Schedule) -> None:
    if not schedule.merges:
        click.echo("no row is split over cores: nothing to merge")
        return
    rows = [
        (
            str(merge.vector_core),
            f"{merge.request}.{merge.row}",
            f"{merge.first_slot}..{merge.first_slot + merge.slots - 1}",
            f"{merge.first_head}..{merge.first_head + merge.heads - 1}",
        )
        for merge in schedule.merges
    ]
    columns = ("vector core", "request.row", "slots", "heads")
    print_table("merges of rows that several cores share", columns, rows)


def _cursor(cursor: Cursor) -> str:
    return ".".join(map(str, cursor))
