# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes: refused before it works rather than after."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .refusals import Refusal, as_refusals


class _OutputFile(click.Path):
    """A path that can be written; looking changes neither a file nor its folder."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            _try_to_open(path)
        except OSError as error:
            self.fail(f"{path}: cannot be written, {error.strerror or error}", param, ctx)
        return path


OUTPUT_FILE = _OutputFile(dir_okay=False, path_type=Path)


def refuse_same_file(files: Mapping[str, Path | None]) -> None:
    """Refuse two names of one file, links included: files by option, None where not given."""
    given = [(option, path) for option, path in files.items() if path is not None]
    for (first, path), (second, other) in itertools.combinations(given, 2):
        if _is_same(path, other):
            raise Refusal(f"{second}: {other} is the file of {first}, must be another one")


@contextmanager
def writing(option: str) -> Iterator[None]:
    """Turn the errors of writing the file of an option into refusals that name the option."""
    try:
        with as_refusals():
            yield
    except Refusal as refusal:
        raise Refusal(f"{option}: {refusal.message}") from refusal


def _try_to_open(path: Path) -> None:
    if path.is_file():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
    elif path.exists():
        # A pipe or a device, which opening may block or change.
        if not os.access(path, os.W_OK):
            raise PermissionError(None, "Permission denied")
    else:
        target = path.resolve()  # of a link to a file that is yet to be made
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        target.unlink()


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()
