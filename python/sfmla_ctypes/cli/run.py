# SPDX-License-Identifier: Apache-2.0
"""``sfmla run``: the user's own arrays through the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..case_files import check_suffix, save_arrays
from ..cases import Arguments
from ..judge import Verdict, judge_attn_out, judge_softmax_lse
from ..reference import sparse_flash_mla as reference_attention
from .execute import Result, as_call, execute, gflop, keys_per_row
from .options import FILE, attribute_options, load_with_overrides
from .output import json_option, milliseconds, print_json, row_progress
from .refusals import as_refusals


@click.command()
@click.argument("case_file", metavar="CASE", type=FILE)
@click.option("-o", "--output", type=FILE, help="Write attn_out (and softmax_lse) here.")
@click.option("--reference", is_flag=True, help="Compare with the float64 reference, row by row.")
@attribute_options
@json_option
@click.pass_context
def run(
    context: click.Context,
    /,
    case_file: Path,
    output: Path | None,
    reference: bool,
    as_json: bool,
    **attributes: Any,
) -> None:
    """Run SparseFlashMla on the arrays in CASE (.npz or .safetensors).

    Array names are the argument names of sfmla_ctypes.sparse_flash_mla; the options below override
    the attributes in the file. Without an array named metadata the call is planned first. Exit
    code 1: the result differs from the reference.
    """
    with as_refusals():
        if output is not None:
            check_suffix(output)
        arguments = load_with_overrides(case_file, attributes)
        result = execute(arguments)
        if output is not None:
            save_arrays(output, _outputs(result))
    verdicts = _compare(arguments, result) if reference else []
    report = _report(arguments, result, verdicts)
    if as_json:
        print_json(report)
    else:
        _print_report(report, verdicts, output)
    if not all(verdict.ok for verdict in verdicts):
        context.exit(1)


def _outputs(result: Result) -> Arguments:
    lse = {} if result.softmax_lse is None else {"softmax_lse": result.softmax_lse}
    return {"attn_out": result.attn_out, **lse}


def _compare(arguments: Arguments, result: Result) -> list[Verdict]:
    with row_progress("reference rows") as progress:
        attn_out, softmax_lse = reference_attention(**arguments, progress=progress)
    verdicts = [judge_attn_out(result.attn_out, attn_out, softmax_lse)]
    if result.softmax_lse is not None:
        verdicts.append(judge_softmax_lse(result.softmax_lse, softmax_lse))
    return verdicts


def _report(arguments: Arguments, result: Result, verdicts: list[Verdict]) -> dict[str, Any]:
    call = as_call(arguments)
    keys = keys_per_row(call)
    return {
        "mode": call.mode,
        "q_shape": list(call.q.shape),
        "dtype": str(call.q.dtype),
        "rows": int(keys.size),
        "attended_keys": int(keys.sum()),
        "seconds": result.seconds,
        "gflop_per_second": gflop(keys, call.q.shape[-2]) / result.seconds,
        "verdicts": [verdict.as_dict() for verdict in verdicts],
    }


def _print_report(report: dict[str, Any], verdicts: list[Verdict], output: Path | None) -> None:
    click.echo(
        f"{report['mode']}: q {tuple(report['q_shape'])} {report['dtype']}, {report['rows']} rows, "
        f"{report['attended_keys']} attended keys, {milliseconds(report['seconds'])}, "
        f"{report['gflop_per_second']:.1f} GFLOP/s"
    )
    for verdict in verdicts:
        click.echo(
            f"{verdict.output}: {'ok' if verdict.ok else 'WRONG'}, {verdict.failed} of "
            f"{verdict.judged} rows and heads beyond tolerance, largest relative error "
            f"{verdict.worst_error:.2e}, closest to the limit at {verdict.worst_position}"
        )
    if output is not None:
        click.echo(f"wrote {output}")
