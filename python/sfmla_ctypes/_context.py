# SPDX-License-Identifier: Apache-2.0
"""What the calls of a thread work on while they name nothing: its device and its streams."""

import os
import threading
from typing import TYPE_CHECKING, Any

from ._errors import AclRuntimeError, check, take_report
from ._library import ffi, lib

if TYPE_CHECKING:
    from ._stream import Stream


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.device_id = -1  # -1: this thread has not used the package yet
        self.own_stream: Stream | None = None
        self.entered: list[Stream] = []  # streams of open `with` blocks, innermost last
        # Device, own stream and aclrtContext outside of each open `with` block of a device.
        self.left: list[tuple[int, Stream | None, Any]] = []


this_thread = _ThreadState()
_init_lock = threading.RLock()  # garbage collection may come back here
_is_initialized = False
_settings: dict[str, str] | None = None  # None: the library has not been used yet


def initialize() -> None:
    """Before anything else in the process; again does no harm."""
    global _is_initialized, _settings
    with _init_lock:
        if not _is_initialized:
            if _settings is None:
                _settings = {
                    name: value for name, value in os.environ.items() if name.startswith("SFMLA_")
                }
            code = lib.aclInit(ffi.NULL)
            if code == lib.ACL_ERROR_REPEAT_INITIALIZE:
                take_report()  # other code of this process did it before: harmless
            else:
                check("aclInit", code)
            _is_initialized = True


def setting(name: str) -> str | None:
    """An environment variable SFMLA_* as the library knows it; None when it was not set.

    The library reads its variables once, at its first use, and forked processes keep what it read:
    what os.environ says later changes nothing.
    """
    if _settings is None:
        initialize()
    assert _settings is not None
    return _settings.get(name)


def ensure_context() -> None:
    """Gives this thread a context: the one it has, else the primary context of device 0."""
    if this_thread.device_id >= 0:
        return
    initialize()
    device_id = ffi.new("int32_t *")
    if lib.aclrtGetDevice(device_id) != 0:
        take_report()
        check("aclrtSetDevice", lib.aclrtSetDevice(0))
    this_thread.device_id = device_id[0]


def refuse_inherited(operand: str) -> AclRuntimeError:
    """The exception for what the parent process made."""
    text = f"{operand}: made before the process forked, must be made in this process"
    return AclRuntimeError(lib.ACL_ERROR_RT_STREAM_CONTEXT, "sfmla_ctypes", text)


def _after_fork_in_child() -> None:
    global _init_lock, _is_initialized
    _init_lock = threading.RLock()
    _is_initialized = False
    this_thread.device_id = -1
    this_thread.own_stream = None
    this_thread.left.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
