# SPDX-License-Identifier: Apache-2.0
"""Status codes as exceptions."""

import re
from typing import Any

import numpy as np
import pytest

import sfmla_ctypes as sfmla
from sfmla_ctypes import _errors

REPORT = (
    "EZ1001[PID: 7] 2026-01-31-10:20:30.123.456 AclNN_Parameter_Error(EZ1001): cmp_kv: dtype "
    "FLOAT16, must equal q (BFLOAT16)\n  TraceBack (most recent call last):"
)


@pytest.mark.parametrize(
    ("code", "kind", "base"),
    [
        (161001, sfmla.AclParamError, ValueError),
        (161002, sfmla.AclParamError, ValueError),
        (100000, sfmla.AclParamError, ValueError),
        (107000, sfmla.AclParamError, ValueError),
        (107001, sfmla.AclParamError, ValueError),
        (107002, sfmla.AclRuntimeError, RuntimeError),
        (207000, sfmla.AclRuntimeError, RuntimeError),
        (361001, sfmla.AclRuntimeError, RuntimeError),
        (207001, sfmla.AclMemoryError, MemoryError),
        (507015, sfmla.AclDeviceError, RuntimeError),
        (507018, sfmla.AclDeviceError, RuntimeError),
        (561003, sfmla.AclInternalError, RuntimeError),
        (999999, sfmla.AclError, Exception),
    ],
)
def test_class_of_code(code: int, kind: type[Exception], base: type[Exception]) -> None:
    error = _errors.error_of(code, "aclnnX", REPORT)
    assert type(error) is kind
    assert isinstance(error, base)
    assert isinstance(error, sfmla.AclError)
    assert (error.code, error.api) == (code, "aclnnX")


def test_text_is_the_sentence_and_report_the_whole() -> None:
    error = _errors.error_of(161002, "aclnnX", REPORT)
    assert error.text == "cmp_kv: dtype FLOAT16, must equal q (BFLOAT16)"
    assert error.report == REPORT
    assert str(error) == "cmp_kv: dtype FLOAT16, must equal q (BFLOAT16) [aclnnX: 161002]"


def test_library_error_carries_code_function_and_sentence() -> None:
    with pytest.raises(sfmla.AclParamError, match="99") as caught:
        sfmla.Device(99).set()
    assert (caught.value.code, caught.value.api) == (107001, "aclrtSetDevice")
    assert "PID" not in caught.value.text
    assert "PID" in caught.value.report


def test_raising_takes_the_report() -> None:
    with pytest.raises(sfmla.AclParamError):
        sfmla.Device(99).set()
    assert _errors.take_report() == ""


def test_missing_required_array_is_161001() -> None:
    with pytest.raises(sfmla.AclParamError, match="q") as caught:
        sfmla.sparse_flash_mla(None)  # type: ignore[arg-type]
    assert caught.value.code == 161001


@pytest.mark.parametrize("value", [1.0, "1", None])
def test_attribute_that_is_no_integer(value: object) -> None:
    with pytest.raises(TypeError, match=r"cmp_ratio: .*must be an integer"):
        sfmla.sparse_flash_mla(np.zeros((1, 1, 1, 512), np.float16), cmp_ratio=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["x", "", 0])
def test_a_stream_that_is_none(value: Any) -> None:
    sentence = re.escape(f"stream: {value!r}, must be a Stream or None")
    query = np.zeros((1, 1, 1, 512), np.float16)
    for call in (
        lambda: sfmla.sparse_flash_mla(query, ori_kv=query, stream=value),
        lambda: sfmla.sparse_flash_mla_metadata(64, 1, 512, stream=value),
        lambda: sfmla.Event().record(value),
        lambda: sfmla.DeviceArray.zeros(3, np.float16, value),
        lambda: sfmla.DeviceArray.empty(1, np.float16).copy_from(np.zeros(1, np.float16), value),
    ):
        with pytest.raises(TypeError, match=sentence):
            call()
    with pytest.raises(TypeError, match=re.escape(f"other: {value!r}, must be")):
        sfmla.Stream().wait(value)


def test_attribute_beyond_64_bits() -> None:
    with pytest.raises(
        OverflowError, match="softmax_scale: a number of 1329 bits, must fit in a double"
    ):
        sfmla.sparse_flash_mla(np.zeros((1, 1, 512), np.float16), softmax_scale=10**400)
    with pytest.raises(OverflowError, match="batch_size"):
        sfmla.sparse_flash_mla_metadata(64, 1, 512, batch_size=2**63)
