# SPDX-License-Identifier: Apache-2.0
"""The group of all sub-commands: their refusals, and standard output that takes no more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import click

from .refusals import REFUSED, Refusal, as_refusals


class Commands(click.Group):
    """Exit code 2, not 1 as for wrong numbers, for refusals and for output that is not printed."""

    def invoke(self, context: click.Context) -> Any:
        """As click's; refusals of all sub-commands, wherever they rise, become their sentence."""
        with as_refusals():
            return super().invoke(context)

    def main(self, *args: Any, **settings: Any) -> Any:
        """As click's, which ends quietly for a closed pipe."""
        try:
            return super().main(*args, **settings)
        except OSError as error:
            if _can_print():
                raise
            reason = error.strerror
        # What the streams still hold would fail again when the interpreter ends.
        _discard(1)
        try:
            Refusal(f"standard output: cannot be written, {reason}").show()
        except OSError:
            _discard(2)
        sys.exit(REFUSED)


def _can_print() -> bool:
    with suppress(OSError):
        click.echo()
        return True
    return False


def _discard(descriptor: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
