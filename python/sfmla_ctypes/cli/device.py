# SPDX-License-Identifier: Apache-2.0
"""Which device a command runs on, and the option ``--device``."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from .. import Device
from ..cases import CaseError
from ..operators import OPERATORS, Operator
from .refusals import Refusal, as_refusals

VARIABLE = "SFMLA_DEVICE"
EMULATED = "ascend910b"
# Values of the variable, and what the device then calls itself.
NAMES: Mapping[str, str] = {"cpu": "HostCPU", EMULATED: "Ascend910B2"}


def is_emulated() -> bool:
    """Whether calls of this process run on emulated cores."""
    return Device().name == NAMES[EMULATED]


def check_has_emulated_kernel(operator: Operator) -> None:
    """Raise CaseError for an operator that the emulated device does not have.

    The library refuses it too, but only a call that breaks no rule of the product.
    """
    if not operator.has_emulated_kernel:
        allowed = " or ".join(name for name, one in OPERATORS.items() if one.has_emulated_kernel)
        raise CaseError(
            f"operator: {operator.name} has no kernel for emulated cores, must be {allowed}"
        )


def product_rules() -> str:
    """The product whose rules refuse calls in this process."""
    return EMULATED if is_emulated() else os.environ.get("SFMLA_RULES", "cpu")


def _use(_context: click.Context, _parameter: click.Parameter, device: str | None) -> None:
    """The library reads the variable at its first use, which in a command is here."""
    if device is None:
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = device
    with as_refusals():
        found = Device().name
    if found != NAMES[device]:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before
        raise Refusal(f"--device: {device}, but this process already runs on {found}")


device_option = click.option(
    "--device",
    type=click.Choice(list(NAMES)),
    expose_value=False,
    callback=_use,
    help="Where to run: this processor, or emulated Atlas A2 cores [SFMLA_DEVICE, or cpu].",
)
