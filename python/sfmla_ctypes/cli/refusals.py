# SPDX-License-Identifier: Apache-2.0
"""Refusals of the package and of the library as one sentence on standard error, exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def as_refusals() -> Iterator[None]:
    """Turn what bad input causes into its sentence."""
    try:
        yield
    except REFUSALS as error:
        raise Refusal(str(error) or "memory: not enough of it for this call") from error
