# SPDX-License-Identifier: Apache-2.0
"""Refusals of the package and of the library as one sentence on standard error, exit code 2."""

from __future__ import annotations

from typing import Any

import click

from .. import AclError
from ..bench.probes import BenchError
from ..cases import CaseError
from ..plots import PlotError

REFUSED = 2
# What bad input, or a machine without what was asked for, causes. Anything else is a bug.
REFUSALS = (AclError, BenchError, CaseError, PlotError, OverflowError, MemoryError)


class Refusal(click.ClickException):
    """A message for the user instead of a traceback."""

    exit_code = REFUSED


class RefusingGroup(click.Group):
    """Turns the refusals of all its sub-commands, wherever they rise, into their sentence."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except REFUSALS as error:
            raise Refusal(str(error) or "memory: not enough of it for this call") from error
