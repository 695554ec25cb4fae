# SPDX-License-Identifier: Apache-2.0
"""``sfmla case``: write a realistic case to start from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..case_arrays import DTYPES, Arguments
from ..case_files import check_suffix, save_arrays
from ..cases import (
    LAYOUTS_KV,
    LAYOUTS_Q,
    OPERATORS,
    CaseSpec,
    build_case,
    case_names,
    named_case,
    resize,
)
from .options import FILE
from .output import json_option, print_json, print_table, waiting
from .refusals import as_refusals


def _token_counts(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[int, ...] | None:
    """One length, or one per request separated by commas."""
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise click.BadParameter(
            f"{text!r}, must be token counts such as 8192 or 28,8192", context, parameter
        )
    return tuple(map(int, parts))


POSITIVE = click.IntRange(min=1)


@click.command()
@click.argument("name", required=False)
@click.option("-o", "--output", type=FILE, help="File to write: .npz or .safetensors.")
@click.option("--list", "show_list", is_flag=True, help="List the names and their sizes.")
@click.option("--batch", type=POSITIVE, help="Requests.")
@click.option(
    "--query-tokens",
    metavar="N[,N...]",
    callback=_token_counts,
    help="Newest tokens of each request.",
)
@click.option(
    "--kv-tokens",
    metavar="N[,N...]",
    callback=_token_counts,
    help="Cached tokens, the newest included.",
)
@click.option("--heads", type=click.IntRange(1, 128), help="Query heads.")
@click.option("--topk", type=POSITIVE, help="Width of the index lists.")
@click.option("--cmp-ratio", type=click.IntRange(1, 128), help="Tokens per compressed token.")
@click.option("--page-tokens", type=click.IntRange(1, 1024), help="Tokens per page.")
@click.option("--layout-q", type=click.Choice(LAYOUTS_Q), help="Layout of q.")
@click.option(
    "--layout-kv", type=click.Choice(LAYOUTS_KV), help="Layout of the caches; PA_BBND: paged."
)
@click.option("--dtype", type=click.Choice(list(DTYPES)), help="Type of q and caches.")
@click.option("--return-softmax-lse/--no-return-softmax-lse", default=None, help="Ask for the LSE.")
@click.option(
    "--operator",
    type=click.Choice(OPERATORS),
    help="Write the arguments of this operator, which must have the mode.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the values.")
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
    with as_refusals():
        check_suffix(output)
        spec = _changed(named_case(name), changes)
        with waiting(f"building {name}"):
            arguments = build_case(spec)
            save_arrays(output, arguments)
    _print_summary(output, arguments, as_json)


def _changed(spec: CaseSpec, changes: dict[str, Any]) -> CaseSpec:
    sizes = {key: changes.pop(key) for key in ("batch", "query_tokens", "kv_tokens")}
    given = {key: value for key, value in changes.items() if value is not None}
    return replace(resize(spec, **sizes), **given)


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
