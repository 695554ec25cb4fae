# SPDX-License-Identifier: Apache-2.0
"""Status codes of the C interface as exceptions: one class per class of code."""

import re

from ._library import ffi, lib


class AclError(Exception):
    """A C function returned a status other than 0.

    code    the status, e.g. 161002; the numbers are in the headers acl/acl_base_rt.h,
            acl/error_codes/rt_error_codes.h and aclnn/opdev/op_errno.h
    api     the function that returned it, or "sfmla_ctypes" when an argument has no form in C
    text    the library's sentence: operand, what was found, what is allowed
    report  the whole text of aclGetRecentErrMsg, of which `text` is the sentence
    """

    def __init__(self, code: int, api: str, text: str, report: str = "") -> None:
        super().__init__(code, api, text, report)
        self.code = code
        self.api = api
        self.text = text
        self.report = report

    def __str__(self) -> str:
        return f"{self.text} [{self.api}: {self.code}]"


class AclParamError(AclError, ValueError):
    """An argument was refused before anything ran (161001, 161002, 100000, 107000, 107001)."""


class AclRuntimeError(AclError, RuntimeError):
    """A runtime call is not possible now: context, stream, event, capture (507903), resource."""


class AclMemoryError(AclError, MemoryError):
    """Memory could not be allocated (207001, 207018, 200000)."""


class AclDeviceError(AclError, RuntimeError):
    """A task failed while it ran (507xxx but 507903); reported by the wait that follows it."""


class AclInternalError(AclError, RuntimeError):
    """The library failed in a way that no argument explains (561xxx, 500xxx)."""


_CLASS_OF_CODE: dict[int, type[AclError]] = {
    lib.ACLNN_ERR_PARAM_NULLPTR: AclParamError,
    lib.ACLNN_ERR_PARAM_INVALID: AclParamError,
    lib.ACL_ERROR_INVALID_PARAM: AclParamError,
    lib.ACL_ERROR_RT_PARAM_INVALID: AclParamError,
    lib.ACL_ERROR_RT_INVALID_DEVICEID: AclParamError,
    lib.ACL_ERROR_RT_MEMORY_ALLOCATION: AclMemoryError,
    lib.ACL_ERROR_RT_DEVICE_OOM: AclMemoryError,
    lib.ACL_ERROR_BAD_ALLOC: AclMemoryError,
    lib.ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED: AclRuntimeError,
}
_CLASS_OF_THOUSAND: dict[int, type[AclError]] = {
    100: AclRuntimeError,
    107: AclRuntimeError,
    200: AclRuntimeError,
    207: AclRuntimeError,
    361: AclRuntimeError,
    500: AclInternalError,
    507: AclDeviceError,
    561: AclInternalError,
}
# "EZ1001[PID: 7] 2026-01-31-10:20:30.123.456 AclNN_Parameter_Error(EZ1001): the sentence"
_HEADER = re.compile(r"^\w+\[PID: \d+\] \S+ \w*\(\w+\): ?")


def take_report() -> str:
    """This thread's pending text of aclGetRecentErrMsg, which forgets it; "" when there is none."""
    report = lib.aclGetRecentErrMsg()
    return "" if report == ffi.NULL else ffi.string(report).decode("utf-8", "replace").strip()


def error_of(code: int, api: str, report: str) -> AclError:
    """The exception for a status and the report, or the sentence, that belongs to it."""
    first_line = report.split("\n", 1)[0]
    text = _HEADER.sub("", first_line) or "no text was given"
    kind = _CLASS_OF_CODE.get(code) or _CLASS_OF_THOUSAND.get(code // 1000, AclError)
    return kind(code, api, text, report)


def check(api: str, code: int) -> None:
    """Raises the exception of a status, not 0, that `api` just returned on this thread."""
    if code != 0:
        raise error_of(code, api, take_report())


def refuse(text: str) -> AclParamError:
    """The exception for an argument that has no form in C, so that the library cannot refuse it."""
    return AclParamError(lib.ACLNN_ERR_PARAM_INVALID, "sfmla_ctypes", text)
