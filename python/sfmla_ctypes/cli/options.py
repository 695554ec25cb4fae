# SPDX-License-Identifier: Apache-2.0
"""What several sub-commands share: the argument CASE, attributes of a call, sizes of a case."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from ..case_arrays import DTYPES, Arguments
from ..case_files import ATTRIBUTE_TYPES, SUFFIXES, load_case
from ..case_sizes import array_bytes, requests_of
from ..cases import (
    LAYOUTS_KV,
    LAYOUTS_Q,
    CaseError,
    CaseSpec,
    build_case,
    case_names,
    named_case,
    resize,
)
from ..cases import OPERATORS as OPERATOR_NAMES
from ..operators import OPERATORS, Operator, operator_of
from .output import waiting

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)
LARGEST = 2**31 - 1  # of a length, which is an int32
POSITIVE = click.IntRange(1, LARGEST)
TOKENS = click.IntRange(0, LARGEST)

SIZES = ("batch", "query_tokens", "kv_tokens", "heads", "topk", "cmp_ratio", "page_tokens")

operator_option = click.option(
    "--operator",
    type=click.Choice(list(OPERATORS)),
    help="The operator, where several have the arguments.",
)


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
    return tuple(TOKENS.convert(cast("Any", part), parameter, context) for part in parts)


_SPEC_OPTIONS = (
    click.option("--batch", type=POSITIVE, help="Requests."),
    click.option(
        "--query-tokens",
        metavar="N[,N...]",
        callback=_token_counts,
        help="Newest tokens of each request.",
    ),
    click.option(
        "--kv-tokens",
        metavar="N[,N...]",
        callback=_token_counts,
        help="Cached tokens, the newest included.",
    ),
    click.option("--heads", type=click.IntRange(1, 128), help="Query heads."),
    click.option("--topk", type=POSITIVE, help="Width of the index lists."),
    click.option("--cmp-ratio", type=click.IntRange(1, 128), help="Tokens per compressed token."),
    click.option("--page-tokens", type=click.IntRange(1, 1024), help="Tokens per page."),
    click.option("--layout-q", type=click.Choice(LAYOUTS_Q), help="Layout of q."),
    click.option(
        "--layout-kv", type=click.Choice(LAYOUTS_KV), help="Layout of the caches; PA_BBND: paged."
    ),
    click.option("--dtype", type=click.Choice(list(DTYPES)), help="Type of q and caches."),
    click.option(
        "--return-softmax-lse/--no-return-softmax-lse", default=None, help="Ask for the LSE."
    ),
    click.option(
        "--operator",
        type=click.Choice(OPERATOR_NAMES),
        help="Write the arguments of this operator, which must have the mode.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of the values."),
)


def spec_options(command: Command) -> Command:
    """One option per size and kind of a named case; None where the user gave none."""
    for option in reversed(_SPEC_OPTIONS):
        command = option(command)
    return command


def changed_spec(spec: CaseSpec, changes: Mapping[str, Any]) -> CaseSpec:
    """The spec with what the user gave in ``spec_options``."""
    given = {key: value for key, value in changes.items() if value is not None}
    sizes = {key: given.pop(key, None) for key in ("batch", "query_tokens", "kv_tokens")}
    changed = replace(spec, **given)
    _check_memory(changed, sizes, changes)
    return resize(changed, **sizes)


def _check_memory(spec: CaseSpec, sizes: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Refuse arrays that this machine cannot hold, before anything is as long as the batch."""
    needed = array_bytes(spec, requests_of(spec, **sizes))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        given = [name for name in SIZES if changes.get(name) is not None]
        options = ", ".join("--" + name.replace("_", "-") for name in given or SIZES)
        raise CaseError(
            f"{options}: the arrays of the case need {needed} bytes, "
            f"must be at most {memory}, the memory of this machine"
        )


class _AttributeOption(click.Option):
    """An option that overrides the attribute of its name."""

    @property
    def group(self) -> str:
        """Heading of the operators that have the attribute."""
        having = [one.name for one in OPERATORS.values() if self.name in one.attribute_types]
        names = "all operators" if len(having) == len(OPERATORS) else " and ".join(having)
        return f"Attributes of {names}"


class CommandWithAttributes(click.Command):
    """Its help shows the options of ``attribute_options`` by operator."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            group = parameter.group if isinstance(parameter, _AttributeOption) else "Options"
            if record is not None:
                groups.setdefault(group, []).append(record)
        for group in sorted(groups, key=lambda name: name != "Options"):  # else as declared
            with formatter.section(group):
                formatter.write_dl(groups[group])


def attribute_options(command: Command) -> Command:
    """One option per attribute of an operator; None where the user gave none."""
    for name, kind in reversed(list(ATTRIBUTE_TYPES.items())):
        words = name.replace("_", "-")
        command = click.option(
            f"--{words}/--no-{words}" if kind is bool else f"--{words}",
            name,
            cls=_AttributeOption,
            type=None if kind is bool else kind,  # of two flags it is implied
            default=None,
            help=f"Override the attribute {name}.",
        )(command)
    return command


def named_spec(case_name: str) -> CaseSpec | None:
    """What CASE names; None where it is a file. Raises CaseError for what is neither."""
    if case_name in case_names():
        return named_case(case_name)
    if Path(case_name).suffix in SUFFIXES:
        return None
    raise CaseError(
        f"CASE: {case_name!r} is unknown, must be a name that `sfmla case --list` shows "
        f"or a file that ends in {' or '.join(SUFFIXES)}"
    )


def build_named(case_name: str, spec: CaseSpec) -> Arguments:
    """The arguments of a named case, after a word to who waits for them."""
    with waiting(f"building {case_name}"):
        return build_case(spec)


def load_with_overrides(
    case_name: str, overrides: Arguments, operator: str | None = None
) -> tuple[Operator, Arguments]:
    """The operator and the arguments of CASE, with the attributes that the user gave.

    Of a named case they are those of ``operator``, else of the one that the name stands for.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    spec = named_spec(case_name)
    if spec is None:
        arguments = load_case(Path(case_name)) | given
        return operator_of(arguments, operator), arguments
    spec = replace(spec, operator=operator)
    arguments = build_named(case_name, spec) | given
    return operator_of(arguments, spec.function), arguments
