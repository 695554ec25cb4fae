# SPDX-License-Identifier: Apache-2.0
"""Options that several sub-commands share: attributes of the call that override a case file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..case_arrays import Arguments
from ..case_files import ATTRIBUTE_TYPES, load_case
from ..operators import OPERATORS, Operator, operator_of

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)

operator_option = click.option(
    "--operator",
    type=click.Choice(list(OPERATORS)),
    help="The operator, where several have the arguments.",
)


def attribute_options(command: Command) -> Command:
    """One option per attribute of an operator; None where the user gave none."""
    for name, kind in reversed(list(ATTRIBUTE_TYPES.items())):
        flag = "--" + name.replace("_", "-")
        if kind is bool:
            declaration = f"{flag}/--no-{flag[2:]}"
            command = click.option(declaration, name, default=None, help=_help(name))(command)
        else:
            command = click.option(flag, name, type=kind, help=_help(name))(command)
    return command


def load_with_overrides(
    path: Path, overrides: Arguments, operator: str | None = None
) -> tuple[Operator, Arguments]:
    """The operator and the arguments in a case file, with the attributes that the user gave."""
    given = {name: value for name, value in overrides.items() if value is not None}
    arguments = load_case(path) | given
    return operator_of(arguments, operator), arguments


def _help(name: str) -> str:
    return f"Override the attribute {name}."
