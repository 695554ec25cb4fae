# SPDX-License-Identifier: Apache-2.0
"""A call that takes no time, for tests of what is around calls."""

from typing import Any

from operator_calls import arguments_of, on_device, plan

from reference.cases import Case, build

SMALL = build(Case("swa", ("BSND", "BSND"), rows=(2,), tokens=(8,)))
SMALL_PLAN = plan(SMALL)


def small_arguments(**changes: Any) -> dict[str, Any]:
    """Its arguments on the device, with a plan."""
    return on_device(arguments_of(SMALL) | {"metadata": SMALL_PLAN} | changes)
