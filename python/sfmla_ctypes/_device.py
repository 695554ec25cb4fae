# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events.

A thread gets device 0 and a stream of its own on first use; nothing needs to be set up. Calls on
one stream run in order; calls on different streams may run at the same time.
"""

import threading
import weakref
from collections import deque
from types import TracebackType
from typing import Any, NamedTuple

from ._errors import check, take_report
from ._library import ffi, lib


class Cores(NamedTuple):
    """Numbers of cores that planning spreads work over."""

    cube: int
    vector: int


class Memory(NamedTuple):
    """Device memory in bytes."""

    free_bytes: int
    total_bytes: int


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.device_id = -1  # -1: this thread has not used the package yet
        self.own_stream: Stream | None = None
        self.entered: list[Stream] = []  # streams of open `with` blocks, innermost last


_thread = _ThreadState()
_init_lock = threading.RLock()  # garbage collection may come back here
_is_initialized = False


def _initialize() -> None:
    global _is_initialized
    with _init_lock:
        if not _is_initialized:
            code = lib.aclInit(ffi.NULL)
            if code == lib.ACL_ERROR_REPEAT_INITIALIZE:
                take_report()  # other code of this process did it before: harmless
            else:
                check("aclInit", code)
            _is_initialized = True


def ensure_context() -> None:
    """Gives this thread a context: the one it has, else the primary context of device 0."""
    if _thread.device_id >= 0:
        return
    _initialize()
    device_id = ffi.new("int32_t *")
    if lib.aclrtGetDevice(device_id) != 0:
        take_report()
        check("aclrtSetDevice", lib.aclrtSetDevice(0))
    _thread.device_id = device_id[0]


class Device:
    """One device by its id.

    Device 0 is the processor of this machine. Errors: AclParamError (107001) for an id that does
    not exist, from the first use.
    """

    def __init__(self, device_id: int = 0) -> None:
        self.id = device_id

    def __repr__(self) -> str:
        return f"Device({self.id})"

    @staticmethod
    def count() -> int:
        """Number of devices."""
        _initialize()
        count = ffi.new("uint32_t *")
        check("aclrtGetDeviceCount", lib.aclrtGetDeviceCount(count))
        return int(count[0])

    def set(self) -> None:
        """Makes this the device of the calling thread, whose own stream is then a new one."""
        _initialize()
        check("aclrtSetDevice", lib.aclrtSetDevice(self.id))
        _thread.device_id = self.id
        _thread.own_stream = None

    @property
    def name(self) -> str:
        """Name of the processor in the platform's style, such as "HostCPU" or "Ascend910B3"."""
        ensure_context()
        return str(ffi.string(lib.aclrtGetSocName()).decode())

    @property
    def cores(self) -> Cores:
        """Cores that planning uses now: all of the device, or the limits that were set."""
        return Cores(
            self._core_limit(lib.ACL_RT_DEV_RES_CUBE_CORE),
            self._core_limit(lib.ACL_RT_DEV_RES_VECTOR_CORE),
        )

    @property
    def memory(self) -> Memory:
        """Free and total memory of the calling thread's device."""
        ensure_context()
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        check("aclrtGetMemInfo", lib.aclrtGetMemInfo(lib.ACL_HBM_MEM, free, total))
        return Memory(int(free[0]), int(total[0]))

    def set_core_limits(self, cube: int | None = None, vector: int | None = None) -> None:
        """Limits the cores that later planning uses; None leaves a limit as it is.

        The limit shapes schedules, never numbers: results have the same bits under any limit.
        """
        ensure_context()
        for kind, value in (
            (lib.ACL_RT_DEV_RES_CUBE_CORE, cube),
            (lib.ACL_RT_DEV_RES_VECTOR_CORE, vector),
        ):
            if value is not None:
                code = lib.aclrtSetDeviceResLimit(self.id, kind, value)
                check("aclrtSetDeviceResLimit", code)

    def synchronize(self) -> None:
        """Waits for all streams of the calling thread's device; raises what a task reported."""
        ensure_context()
        check("aclrtSynchronizeDevice", lib.aclrtSynchronizeDevice())

    def _core_limit(self, kind: int) -> int:
        ensure_context()
        value = ffi.new("uint32_t *")
        check("aclrtGetDeviceResLimit", lib.aclrtGetDeviceResLimit(self.id, kind, value))
        return int(value[0])


class Event:
    """A position in a stream, to wait for or to measure time with."""

    def __init__(self) -> None:
        ensure_context()
        handle = ffi.new("aclrtEvent *")
        check("aclrtCreateEvent", lib.aclrtCreateEvent(handle))
        self._handle = handle[0]
        weakref.finalize(self, lib.aclrtDestroyEvent, self._handle).atexit = False

    def record(self, stream: "Stream | None" = None) -> None:
        """Moves the event to the present end of the stream."""
        target = stream or Stream.current()
        check("aclrtRecordEvent", lib.aclrtRecordEvent(self._handle, target.handle))

    def query(self) -> bool:
        """True when the stream has passed the event, or it was never recorded."""
        ensure_context()
        status = ffi.new("aclrtEventRecordedStatus *")
        check("aclrtQueryEventStatus", lib.aclrtQueryEventStatus(self._handle, status))
        return bool(status[0] == lib.ACL_EVENT_RECORDED_STATUS_COMPLETE)

    def synchronize(self) -> None:
        """Waits until the stream has passed the event. Task errors stay with their stream."""
        ensure_context()
        check("aclrtSynchronizeEvent", lib.aclrtSynchronizeEvent(self._handle))

    def elapsed_ms(self, start: "Event") -> float:
        """Milliseconds from `start` to this event; both recorded and passed."""
        ensure_context()
        milliseconds = ffi.new("float *")
        code = lib.aclrtEventElapsedTime(milliseconds, start._handle, self._handle)
        check("aclrtEventElapsedTime", code)
        return float(milliseconds[0])


class _StreamState:
    """What outlives the Stream object until its queue is empty."""

    def __init__(self, handle: Any, device_id: int) -> None:
        self.handle = handle
        self.device_id = device_id
        self.lock = threading.Lock()
        self.workspace: Any = None
        # What queued tasks use, each entry with the event behind its task.
        self.pending: deque[tuple[Event, tuple[object, ...]]] = deque()


def _destroy(state: _StreamState) -> None:
    # Runs on whatever thread collects garbage, which may have no context. The memory in `state` is
    # released only behind the wait.
    if lib.aclrtGetDevice(ffi.new("int32_t *")) != 0:
        lib.aclrtSetDevice(state.device_id)
    lib.aclrtSynchronizeStream(state.handle)
    lib.aclrtDestroyStream(state.handle)
    take_report()


class Stream:
    """An ordered queue of work on the device of the thread that makes it.

    Arrays and workspace of a queued call are kept alive until the stream has passed it. As a
    context manager the stream serves, inside the block, the calls of this thread that name no
    stream; leaving the block waits for it. Any thread may use a stream. A stream that is no longer
    referenced finishes its work before it goes.
    """

    def __init__(self) -> None:
        ensure_context()
        handle = ffi.new("aclrtStream *")
        check("aclrtCreateStream", lib.aclrtCreateStream(handle))
        self._state = _StreamState(handle[0], _thread.device_id)
        weakref.finalize(self, _destroy, self._state).atexit = False

    @staticmethod
    def current() -> "Stream":
        """The stream of calls that name none: of the innermost `with`, else the thread's own."""
        if _thread.entered:
            return _thread.entered[-1]
        if _thread.own_stream is None:
            _thread.own_stream = Stream()
        return _thread.own_stream

    @property
    def lock(self) -> threading.Lock:
        """Guards `workspace`."""
        return self._state.lock

    @property
    def workspace(self) -> Any:
        """Device memory that the operators of this stream work in; None before the first."""
        return self._state.workspace

    @workspace.setter
    def workspace(self, memory: Any) -> None:
        self._state.workspace = memory

    @property
    def handle(self) -> Any:
        """The aclrtStream, for C functions called through cffi."""
        ensure_context()
        return self._state.handle

    def synchronize(self) -> None:
        """Waits for all work queued so far.

        Raises, once, the error of a task that failed since the last wait (AclDeviceError: 507015
        bad values in device memory, 507018 metadata of another call); the stream then works on.
        """
        try:
            check("aclrtSynchronizeStream", lib.aclrtSynchronizeStream(self.handle))
        finally:
            self._release_passed()

    def query(self) -> bool:
        """True when no queued work is left. Never waits."""
        status = ffi.new("aclrtStreamStatus *")
        check("aclrtStreamQuery", lib.aclrtStreamQuery(self.handle, status))
        return bool(status[0] == lib.ACL_STREAM_STATUS_COMPLETE)

    def wait(self, other: "Stream") -> None:
        """Lets work queued from now on start after the present work of `other`. No host wait."""
        event = Event()
        event.record(other)
        check("aclrtStreamWaitEvent", lib.aclrtStreamWaitEvent(self.handle, event._handle))

    def keep_until_passed(self, *objects: object) -> None:
        """Keeps objects alive until the stream has passed the work queued so far."""
        event = Event()
        event.record(self)
        with self._state.lock:
            self._state.pending.append((event, objects))
        self._release_passed()

    def __enter__(self) -> "Stream":
        _thread.entered.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _thread.entered.pop()
        self.synchronize()

    def _release_passed(self) -> None:
        state = self._state
        released = []  # let go of outside the lock
        with state.lock:
            while state.pending and state.pending[0][0].query():
                released.append(state.pending.popleft())
