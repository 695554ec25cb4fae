# SPDX-License-Identifier: Apache-2.0
"""A refusal of phase one is its code and a whole sentence: operand, found value, allowed one."""

from typing import Any

import pytest
from operator_calls import attend, plan

import sfmla_ctypes
from reference.attention import attention
from reference.call import Call
from reference.compare import assert_close

PARAM_NULL, PARAM_INVALID = 161001, 161002


def assert_refused(
    call: Call, changes: dict[str, Any], sentence: str, code: int = PARAM_INVALID
) -> None:
    """The main operator refuses with exactly this sentence; the next good call works."""
    metadata = plan(call)
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        attend(call, **({"metadata": metadata} | changes))
    assert (error.value.text, error.value.code) == (sentence, code)
    assert_close(attend(call, metadata), attention(call))


def assert_plan_refused(call: Call, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        plan(call, **changes)
    assert (error.value.text, error.value.code) == (sentence, PARAM_INVALID)
