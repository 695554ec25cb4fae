# SPDX-License-Identifier: Apache-2.0
"""What the sub-commands print: tables and sentences for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

PIPE_COLUMNS = 200  # a pipe has no width; nothing is wrapped there
LONGEST_WORD = 24  # longer ones, paths, may be broken to fit a terminal

Rows = Callable[[int, int], None]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; every column after the first two is right-aligned.

    On a terminal that is too narrow cells wrap between words, and then the terminal wraps lines.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for index, column in enumerate(columns):
        words = " ".join([column, *(row[index] for row in rows)]).split()
        table.add_column(
            column,
            justify="left" if index < 2 else "right",
            overflow="fold",
            min_width=min(LONGEST_WORD, max(map(len, words), default=0)),
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_COLUMNS)
    console.print(table, crop=False)


@contextmanager
def row_progress(text: str) -> Iterator[Rows]:
    """A progress bar on standard error for `progress(done, total)`; without a terminal one line."""
    console = Console(stderr=True)
    if not console.is_terminal:
        click.echo(text, err=True)
        yield _show_nothing
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _show_nothing(_done: int, _total: int) -> None:
    pass


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner on standard error; without a terminal one line."""
    console = Console(stderr=True)
    if not console.is_terminal:
        click.echo(text, err=True)
        yield
        return
    with console.status(text):
        yield


def milliseconds(seconds: float) -> str:
    """A time with three significant digits or more."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"
