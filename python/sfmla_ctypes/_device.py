# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events.

A thread gets device 0 and a stream of its own on first use; nothing needs to be set up. Calls on
one stream run in order; calls on different streams may run at the same time.

After `os.fork` the child starts anew: its calls make streams of their own. Streams and events of
the parent are refused there; arrays in memory are as they were.
"""

import os
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from ._errors import AclRuntimeError, check, take_report
from ._library import ffi, lib
from ._task import StreamState, Task, destroy_abandoned, synchronize_device


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


def _after_fork_in_child() -> None:
    global _init_lock, _is_initialized
    _init_lock = threading.RLock()
    _is_initialized = False
    _thread.device_id = -1
    _thread.own_stream = None


os.register_at_fork(after_in_child=_after_fork_in_child)


def _refuse_inherited(operand: str) -> AclRuntimeError:
    text = f"{operand}: made before the process forked, must be made in this process"
    return AclRuntimeError(lib.ACL_ERROR_RT_STREAM_CONTEXT, "sfmla_ctypes", text)


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
        _thread.own_stream = None
        check("aclrtSetDevice", lib.aclrtSetDevice(self.id))
        _thread.device_id = self.id

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
        """Waits for all streams of the calling thread's device.

        Raises an error that no wait has raised yet. Those of further streams stay with them.
        """
        ensure_context()
        synchronize_device(_thread.device_id)

    def _core_limit(self, kind: int) -> int:
        ensure_context()
        value = ffi.new("uint32_t *")
        check("aclrtGetDeviceResLimit", lib.aclrtGetDeviceResLimit(self.id, kind, value))
        return int(value[0])


class Event:
    """A position in a stream, to wait for or to measure time with."""

    def __init__(self) -> None:
        ensure_context()
        self._process = os.getpid()
        self._holder = ffi.new("aclrtEvent *")
        weakref.finalize(self, _destroy_event, self._holder).atexit = False
        check("aclrtCreateEvent", lib.aclrtCreateEvent(self._holder))

    @property
    def _handle(self) -> Any:
        if self._process != os.getpid():
            raise _refuse_inherited("event")
        return self._holder[0]

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


def _destroy_event(holder: Any) -> None:
    if holder[0] != ffi.NULL:
        lib.aclrtDestroyEvent(holder[0])


class Stream:
    """An ordered queue of work on the device of the thread that makes it.

    Arrays and workspace of a queued call are kept alive until the stream has passed it. As a
    context manager the stream serves, inside the block, the calls of this thread that name no
    stream; leaving the block waits for it. Any thread may use a stream. A stream that is no longer
    referenced finishes its work before it goes.

    Errors of queued calls (AclDeviceError: 507015 bad values in device memory, 507018 metadata of
    another call): the stream works on, and the first wait for it, by whoever, learns of the first
    error, which names the operator but not the call. The results of every DeviceArray call that the
    stream took since the last wait without an error then raise it when they are read, however often
    and in whichever thread, and calls refuse them as input: one of them is wrong, and what was
    queued beside it cannot be told from it. A wait between two calls tells them apart. A call
    with a NumPy argument waits before and after its work, so that it raises its own error only;
    if another thread queues DeviceArray calls on the same stream meanwhile, it may raise theirs.
    """

    def __init__(self) -> None:
        ensure_context()
        destroy_abandoned()
        self._state = StreamState(weakref.ref(self), _thread.device_id)
        weakref.finalize(self, self._state.destroy).atexit = False
        check("aclrtCreateStream", lib.aclrtCreateStream(self._state.holder))

    @staticmethod
    def current() -> "Stream":
        """The stream of calls that name none: of the innermost `with`, else the thread's own."""
        for stream in reversed(_thread.entered):
            if not stream._is_inherited:
                return stream
        if _thread.own_stream is None:
            _thread.own_stream = Stream()
        return _thread.own_stream

    @property
    def _is_inherited(self) -> bool:
        return self._state.process != os.getpid()

    @property
    def state(self) -> StreamState:
        """Its tasks. AclRuntimeError (107003) in a process forked since the stream was made."""
        if self._is_inherited:
            raise _refuse_inherited("stream")
        return self._state

    @property
    def handle(self) -> Any:
        """The aclrtStream, for C functions called through cffi.

        Waiting for it in C takes errors away from the arrays that they belong to.
        """
        ensure_context()
        return self.state.handle

    def synchronize(self) -> None:
        """Waits for all work queued so far.

        Raises the error of a call that failed, unless something raised it before.
        """
        ensure_context()
        self.state.wait()
        self.state.report()

    def query(self) -> bool:
        """True when no queued work is left. Never waits."""
        ensure_context()
        return self.state.is_idle()

    def wait(self, other: "Stream") -> None:
        """Lets work queued from now on start after the present work of `other`. No host wait."""
        event = Event()
        event.record(other)
        check("aclrtStreamWaitEvent", lib.aclrtStreamWaitEvent(self.handle, event._handle))

    def follow(self, state: StreamState) -> None:
        """As `wait`, for the stream of a task."""
        owner = state.owner()
        if owner is None:
            state.wait()  # it is about to go: nothing can be recorded in it
        elif owner is not self and state.is_alive and not owner.query():
            self.wait(owner)

    def submit(
        self,
        task: Task,
        prepare: Callable[[], None],
        launch: Callable[[], None],
        caller_waits: bool = False,
    ) -> None:
        """Queues a task with `launch`, after what can be refused without waiting in `prepare`.

        The stream holds on to what the task uses from before `launch` until it has passed the task,
        wherever an interrupt comes. An exception out of `launch` waits for the stream.
        """
        state = self.state
        try:
            with task.being_queued:
                state.follow(task)
                state.pending.append(task)
                prepare()
                task.may_be_queued = True
                launch()
                if not caller_waits:
                    mark = Event()
                    mark.record(self)
                    task.mark = mark
        except BaseException:
            if task.may_be_queued:
                state.wait()
            else:
                task.let_go()
            raise
        state.release_passed()

    def keep_until_passed(self, *objects: object) -> None:
        """Keeps objects alive until the stream has passed the work queued so far."""
        self.submit(Task(objects), _do_nothing, _do_nothing)

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
        if not self._is_inherited:
            self.synchronize()


def _do_nothing() -> None:
    pass
