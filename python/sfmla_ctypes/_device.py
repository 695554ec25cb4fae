# SPDX-License-Identifier: Apache-2.0
"""Devices: their number, names, cores and memory. A thread gets device 0 on first use."""

from typing import NamedTuple

from ._attributes import integer
from ._context import ensure_context, initialize, this_thread
from ._errors import check
from ._library import ffi, lib
from ._task import synchronize_device


class Cores(NamedTuple):
    """Numbers of cores that planning spreads work over."""

    cube: int
    vector: int


class Memory(NamedTuple):
    """Device memory in bytes."""

    free_bytes: int
    total_bytes: int


class Device:
    """One device by its id.

    Device 0 is the processor of this machine, or the cores that SFMLA_DEVICE emulates. As a context
    manager it is, inside the block, the device of the calling thread, as after `set`; leaving the
    block restores the device and the stream of before, and waits for nothing. Errors: AclParamError
    (107001) for an id that does not exist, from the first use.
    """

    def __init__(self, device_id: int = 0) -> None:
        self.id = integer("device_id", device_id, bits=32)

    def __repr__(self) -> str:
        return f"Device({self.id})"

    @staticmethod
    def count() -> int:
        """Number of devices."""
        initialize()
        count = ffi.new("uint32_t *")
        check("aclrtGetDeviceCount", lib.aclrtGetDeviceCount(count))
        return int(count[0])

    def set(self) -> None:
        """Makes this the device of the calling thread, whose own stream is then a new one."""
        initialize()
        this_thread.own_stream = None
        check("aclrtSetDevice", lib.aclrtSetDevice(self.id))
        this_thread.device_id = self.id

    @property
    def name(self) -> str:
        """The calling thread's processor in the platform's style: "HostCPU" or "Ascend910B2"."""
        ensure_context()
        return str(ffi.string(lib.aclrtGetSocName()).decode())

    @property
    def cores(self) -> Cores:
        """Cores that planning uses now: all of the device, or the limits that were set."""
        return Cores(
            self._core_limit(lib.ACL_RT_DEV_RES_CUBE_CORE),
            self._core_limit(lib.ACL_RT_DEV_RES_VECTOR_CORE),
        )

    def memory_info(self) -> Memory:
        """Free and total memory of the calling thread's device, now."""
        ensure_context()
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        check("aclrtGetMemInfo", lib.aclrtGetMemInfo(lib.ACL_HBM_MEM, free, total))
        return Memory(int(free[0]), int(total[0]))

    def set_core_limits(self, cube: int | None = None, vector: int | None = None) -> None:
        """Limits the cores that later planning uses; None leaves a limit as it is.

        The limit shapes schedules, never numbers: results have the same bits under any limit.
        """
        ensure_context()
        for name, kind, value in (
            ("cube", lib.ACL_RT_DEV_RES_CUBE_CORE, cube),
            ("vector", lib.ACL_RT_DEV_RES_VECTOR_CORE, vector),
        ):
            if value is not None:
                limit = integer(name, value, bits=32, is_signed=False)
                code = lib.aclrtSetDeviceResLimit(self.id, kind, limit)
                check("aclrtSetDeviceResLimit", code)

    def synchronize(self) -> None:
        """Waits for all streams of the calling thread's device.

        Raises an error that no wait has raised yet. Those of further streams stay with them.
        """
        ensure_context()
        synchronize_device(this_thread.device_id)

    def __enter__(self) -> "Device":
        ensure_context()
        context = ffi.new("aclrtContext *")
        check("aclrtGetCurrentContext", lib.aclrtGetCurrentContext(context))
        this_thread.left.append((this_thread.device_id, this_thread.own_stream, context[0]))
        try:
            self.set()
        except BaseException:
            _return_to_outer_device()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        _return_to_outer_device()

    def _core_limit(self, kind: int) -> int:
        ensure_context()
        value = ffi.new("uint32_t *")
        check("aclrtGetDeviceResLimit", lib.aclrtGetDeviceResLimit(self.id, kind, value))
        return int(value[0])


def _return_to_outer_device() -> None:
    if this_thread.left:  # nothing in a process forked since
        this_thread.device_id, this_thread.own_stream, context = this_thread.left.pop()
        check("aclrtSetCurrentContext", lib.aclrtSetCurrentContext(context))
