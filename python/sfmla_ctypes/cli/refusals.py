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


class Refusal(click.ClickException):
    """A message for the user instead of a traceback."""

    exit_code = REFUSED


@contextmanager
def as_refusals() -> Iterator[None]:
    """Turn the errors that bad input causes into refusals; anything else is a bug and passes."""
    try:
        yield
    except (AclError, BenchError, CaseError, PlotError, OverflowError, MemoryError) as error:
        raise Refusal(str(error)) from error
