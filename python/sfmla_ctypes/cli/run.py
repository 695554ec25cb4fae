# SPDX-License-Identifier: Apache-2.0
"""``sfmla run``: the user's own arrays through the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..case_arrays import Arguments
from ..case_files import check_suffix, save_arrays
from ..judge import Verdict
from ..operators import Operator
from .device import device_option, is_emulated
from .execute import Result, compare, execute, heads_of, keys_per_row
from .files import OUTPUT_FILE, refuse_same_file, writing
from .options import (
    CommandWithAttributes,
    attribute_options,
    load_with_overrides,
    operator_option,
)
from .output import json_option, milliseconds, print_json
from .refusals import Refusal


@click.command(cls=CommandWithAttributes)
@click.argument("case_name", metavar="CASE")
@click.option("-o", "--output", type=OUTPUT_FILE, help="Write the results here.")
@click.option("--reference", is_flag=True, help="Compare with the float64 reference, row by row.")
@device_option
@operator_option
@attribute_options
@json_option
@click.pass_context
def run(
    context: click.Context,
    /,
    case_name: str,
    output: Path | None,
    reference: bool,
    operator: str | None,
    as_json: bool,
    **attributes: Any,
) -> None:
    """Run an operator on the arrays in CASE.

    CASE is a file (.npz or .safetensors) or a name that `sfmla case --list` shows. Array names are
    the argument names of sparse_flash_mla, sparse_attn_sharedkv or sparse_flash_attention of
    sfmla_ctypes; the first of them that has all these arguments runs. The options below override
    the attributes of the case. Without an array named metadata a call that takes one is planned
    first. Exit code 1: the result differs from the reference.
    """
    refuse_same_file({"CASE": Path(case_name), "--output": output})
    if output is not None:
        check_suffix(output)
    chosen, arguments = load_with_overrides(case_name, attributes, operator)
    result = execute(chosen, arguments)
    failure = None if output is None else _save(output, result)
    verdicts = compare(chosen, arguments, result, "reference rows") if reference else []
    report = _report(chosen, arguments, result, verdicts)
    if as_json:
        print_json(report)
    else:
        _print_report(report, verdicts, output if failure is None else None)
    if failure is not None:
        raise failure
    if not all(verdict.ok for verdict in verdicts):
        context.exit(1)


def _save(output: Path, result: Result) -> Refusal | None:
    """Why the results are not in their file: those on the screen are shown all the same."""
    try:
        with writing("--output"):
            save_arrays(output, dict(result.outputs))
    except Refusal as refusal:
        return refusal
    return None


def _report(
    operator: Operator, arguments: Arguments, result: Result, verdicts: list[Verdict]
) -> dict[str, Any]:
    query = arguments[operator.query]
    call = operator.call(**arguments)
    keys = keys_per_row(call)
    gflop = operator.gflop(int(keys.sum()), heads_of(operator, arguments))
    return {
        "operator": operator.name,
        "mode": call.mode,
        "q_shape": list(query.shape),
        "dtype": str(query.dtype),
        "rows": int(keys.size),
        "attended_keys": int(keys.sum()),
        "is_emulated": is_emulated(),
        "seconds": result.seconds,
        "gflop_per_second": gflop / result.seconds,
        "verdicts": [verdict.as_dict() for verdict in verdicts],
    }


def _print_report(report: dict[str, Any], verdicts: list[Verdict], output: Path | None) -> None:
    click.echo(
        f"{report['operator']} {report['mode']}: q {tuple(report['q_shape'])} {report['dtype']}, "
        f"{report['rows']} rows, {report['attended_keys']} attended keys, "
        f"{milliseconds(report['seconds'])}, {report['gflop_per_second']:.1f} GFLOP/s"
        + (" (of the emulator)" if is_emulated() else "")
    )
    for verdict in verdicts:
        click.echo(
            f"{verdict.output}: {'ok' if verdict.ok else 'WRONG'}, {verdict.failed} of "
            f"{verdict.judged} rows and heads beyond tolerance, largest relative error "
            f"{verdict.worst_error:.2e}, closest to the limit at {verdict.worst_position}"
        )
    if output is not None:
        click.echo(f"wrote {output}")
