# SPDX-License-Identifier: Apache-2.0
"""``sfmla case``: write a realistic case to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..case_arrays import Arguments
from ..case_files import check_suffix, save_arrays
from ..cases import CaseSpec, case_names, named_case
from .files import OUTPUT_FILE
from .options import build_named, changed_spec, spec_options
from .output import json_option, print_json, print_table


@click.command()
@click.argument("name", required=False)
@click.option("-o", "--output", type=OUTPUT_FILE, help="File to write: .npz or .safetensors.")
@click.option("--list", "show_list", is_flag=True, help="List the names and their sizes.")
@spec_options
@json_option
def case(
    name: str | None, output: Path | None, show_list: bool, as_json: bool, **changes: Any
) -> None:
    """Write the named case NAME: arrays and attributes for `sfmla run` and `sfmla plan`.

    NAME is MODEL-MODE-PHASE, for example v4-flash-csa-decode; --list shows all. The options change
    its sizes. Lengths are one number for all requests or one number per request. With --operator
    sparse_attn_sharedkv the modes swa, csa and hca are written for that operator.
    """
    if show_list:
        _print_list(as_json)
        return
    if name is None or output is None:
        raise click.UsageError("give a case NAME and -o FILE, or --list")
    check_suffix(output)
    arguments = build_named(name, changed_spec(named_case(name), changes))
    save_arrays(output, arguments)
    _print_summary(output, arguments, as_json)


def _print_list(as_json: bool) -> None:
    specs = {name: named_case(name) for name in case_names()}
    if as_json:
        print_json({name: _sizes(spec) for name, spec in specs.items()})
        return
    rows = [
        (
            name,
            spec.mode,
            str(spec.batch),
            _span(spec.query_tokens),
            _span(spec.kv_tokens),
            str(spec.heads),
            str(spec.topk) if spec.has_lists else "-",
        )
        for name, spec in specs.items()
    ]
    columns = ("name", "mode", "requests", "query tokens", "KV tokens", "heads", "top-k")
    print_table("cases", columns, rows)


def _sizes(spec: CaseSpec) -> dict[str, Any]:
    return {
        "operator": spec.function,
        "mode": spec.mode,
        "query_tokens": list(spec.query_tokens),
        "kv_tokens": list(spec.kv_tokens),
        "heads": spec.heads,
        "topk": spec.topk,
    }


def _span(lengths: tuple[int, ...]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low}-{high}"


def _print_summary(output: Path, arguments: Arguments, as_json: bool) -> None:
    shapes = {
        name: {"dtype": str(value.dtype), "shape": list(value.shape)}
        for name, value in arguments.items()
        if isinstance(value, np.ndarray)
    }
    attributes = {name: value for name, value in arguments.items() if name not in shapes}
    if as_json:
        print_json({"file": str(output), "arrays": shapes, "attributes": attributes})
        return
    rows = [(name, str(entry["dtype"]), str(entry["shape"])) for name, entry in shapes.items()]
    rows += [(name, type(value).__name__, str(value)) for name, value in attributes.items()]
    print_table(f"wrote {output}", ("argument", "type", "shape or value"), rows)
