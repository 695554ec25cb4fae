# SPDX-License-Identifier: Apache-2.0
"""Streams and events.

A thread gets a stream of its own on first use. Calls on one stream run in order; calls on different
streams may run at the same time.

After `os.fork` the child starts anew: its calls make streams of their own. Streams and events of
the parent are refused there; arrays in memory are as they were.
"""

import os
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._capture import Capture, capture_of, refuse_captured_array, refuse_if_captured
from ._context import ensure_context, refuse_inherited, this_thread
from ._errors import check
from ._library import ffi, lib
from ._single import Single
from ._task import StreamState, Task, destroy_abandoned

if TYPE_CHECKING:
    from ._graph import Graph


class Event(Single):
    """A position in a stream, to wait for or to measure time with.

    Recorded on a captured stream it is a position in the graph: streams that wait for it take part
    in the capture, see Stream.capture. Until the capture ends, waiting for it on the host, querying
    and timing it raise AclRuntimeError (107028); afterwards it is as if never recorded.

    A context manager that closes the event. Not closed, it goes with its last reference.
    """

    def __init__(self) -> None:
        ensure_context()
        self._process = os.getpid()
        self._holder = ffi.new("aclrtEvent *")
        self._destroy = weakref.finalize(self, _destroy_event, self._holder)
        self._destroy.atexit = False
        self.capture: Capture | None = None  # that has recorded it last
        flags = lib.ACL_EVENT_SYNC | lib.ACL_EVENT_TIME_LINE
        code = lib.aclrtCreateEventExWithFlag(self._holder, flags)
        check("aclrtCreateEventExWithFlag", code)

    @property
    def handle(self) -> Any:
        """The aclrtEvent, for C functions called through cffi."""
        if self._process != os.getpid():
            raise refuse_inherited("event")
        return self._holder[0]

    def record(self, stream: "Stream | None" = None) -> None:
        """Moves the event to the present end of the stream."""
        target = chosen_stream(stream)
        capture = capture_of(target.state)
        if capture is not None:
            capture.require_own_thread()
        self.capture = capture
        check("aclrtRecordEvent", lib.aclrtRecordEvent(self.handle, target.handle))

    def query(self) -> bool:
        """True when the stream has passed the event, or it was never recorded."""
        ensure_context()
        status = ffi.new("aclrtEventRecordedStatus *")
        check("aclrtQueryEventStatus", lib.aclrtQueryEventStatus(self.handle, status))
        return bool(status[0] == lib.ACL_EVENT_RECORDED_STATUS_COMPLETE)

    def synchronize(self) -> None:
        """Waits until the stream has passed the event. Task errors stay with their stream."""
        ensure_context()
        check("aclrtSynchronizeEvent", lib.aclrtSynchronizeEvent(self.handle))

    def elapsed_ms(self, start: "Event") -> float:
        """Milliseconds from `start` to this event, negative if this one was passed first.

        AclDeviceError (507000): one was never recorded. AclRuntimeError (107006): one is not passed
        yet.
        """
        ensure_context()
        milliseconds = ffi.new("float *")
        code = lib.aclrtEventElapsedTime(milliseconds, start.handle, self.handle)
        check("aclrtEventElapsedTime", code)
        return float(milliseconds[0])

    def close(self) -> None:
        """Ends the event. Streams that were told to wait for it still do. May be called again."""
        self._destroy()

    def __enter__(self) -> "Event":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _destroy_event(holder: Any) -> None:
    if holder[0] != ffi.NULL:
        lib.aclrtDestroyEvent(holder[0])


class Stream(Single):
    """An ordered queue of work on the device of the thread that makes it.

    Arrays and workspace of a queued call are kept alive until the stream has passed it. As a
    context manager the stream serves, inside the block, the calls of this thread that name no
    stream; leaving the block waits for it, unless it is captured. Any thread may use a stream. A
    stream that is no longer referenced finishes its work before it goes.

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
        self._state = StreamState(weakref.ref(self), this_thread.device_id)
        weakref.finalize(self, self._state.destroy).atexit = False
        check("aclrtCreateStream", lib.aclrtCreateStream(self._state.holder))

    @staticmethod
    def current() -> "Stream":
        """The stream of calls that name none: of the innermost `with`, else the thread's own."""
        for stream in reversed(this_thread.entered):
            if not stream._is_inherited:
                return stream
        if this_thread.own_stream is None:
            this_thread.own_stream = Stream()
        return this_thread.own_stream

    @property
    def _is_inherited(self) -> bool:
        return self._state.process != os.getpid()

    @property
    def state(self) -> StreamState:
        """Its tasks. AclRuntimeError (107003) in a process forked since the stream was made."""
        if self._is_inherited:
            raise refuse_inherited("stream")
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
        event.record(chosen_stream(other, "other"))
        self.wait_event(event)

    def wait_event(self, event: Event) -> None:
        """Lets work queued from now on start after the newest record of the event. No host wait.

        An event that was never recorded is not waited for.
        """

        def wait() -> None:
            check("aclrtStreamWaitEvent", lib.aclrtStreamWaitEvent(self.handle, event.handle))

        own_capture = capture_of(self.state)
        if own_capture is not None:
            own_capture.require_own_thread()
        elif event.capture is not None and event.capture.is_open():
            event.capture.join(self, wait)
            return
        wait()

    def follow(self, state: StreamState) -> None:
        """As `wait`, for the stream of a task."""
        owner = state.owner()
        if owner is None:
            state.wait()  # it is about to go: nothing can be recorded in it
        elif owner is not self and state.is_alive:
            own_capture, capture = capture_of(self.state), capture_of(state)
            if capture is not None and capture is not own_capture:
                raise refuse_captured_array()
            # What is queued outside of a capture is waited for by each replay.
            if capture is not None or (own_capture is None and not owner.query()):
                self.wait(owner)

    def capture(self, name: str = "") -> "AbstractContextManager[Graph]":
        """Records what the `with` block queues on this stream, instead of running it, as a graph.

            with stream.capture() as graph:
                plan = sparse_flash_mla_metadata(...)
                out, lse = sparse_flash_mla(...)
            graph.replay()

        Inside the block this is the stream of calls of this thread that name none. Recorded are
        calls with DeviceArrays, DeviceArray.zeros, copy_from of pinned arrays (see pinned_empty,
        each replay reads them anew) and keep_until_passed. Host memory is refused: arrays as
        operands (AclParamError 161002), pageable values in copy_from (107000), from_numpy, which
        would copy once and not in replays (AclRuntimeError 207000). Nothing runs: what a recorded
        call writes has no new contents before a replay, and reading it inside the block is refused
        like every other wait for the stream (107027). Calls on other streams run as always, but
        not with what a recorded call writes (107027).

        Other streams take part from when they wait for this one, or for an event recorded on it,
        to the end; this one must wait for each of them behind its last work, else there is no graph
        (AclRuntimeError 107025). Waiting inside the block for work outside of it invalidates the
        capture (107024, later 507903). Arrays order streams that take part as they do elsewhere.

        Until the block ends, other threads may not use these streams (107027), nor wait for the
        device. A stream is captured once at a time (107027); a replay cannot be recorded (207000).

        An exception that leaves the block, or an error at its end, ends the capture: there is no
        graph, and the streams queue again.
        """
        from ._graph import capture  # a graph needs streams

        return capture(self, name)

    def submit(
        self,
        task: Task,
        prepare: Callable[[], None],
        launch: Callable[[], None],
        caller_waits: bool = False,
    ) -> None:
        """Queues a task with `launch`, after what can be refused without waiting in `prepare`.

        The stream holds on to what the task uses from before `launch` until it has passed the task,
        wherever an interrupt comes. An exception out of `launch` waits for the stream. While the
        stream is captured, the task is recorded instead.
        """
        state = self.state
        capture = capture_of(state)
        if capture is not None:
            capture.record(task, state, prepare, launch)
            return
        try:
            with task.being_queued:
                state.follow(task)
                state.pending.append(task)
                refuse_if_captured(state)  # since it was asked for, by another thread
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
        entered = this_thread.entered
        depth = len(entered)
        try:
            entered.append(self)
        except BaseException:
            del entered[depth:]
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        this_thread.entered.pop()
        if not self._is_inherited and capture_of(self._state) is None:
            self.synchronize()


def chosen_stream(stream: Stream | None, name: str = "stream") -> Stream:
    """The stream that the argument `name` names, Stream.current() for None, else TypeError."""
    if stream is None:
        return Stream.current()
    if not isinstance(stream, Stream):
        raise TypeError(f"{name}: {stream!r}, must be a Stream or None")
    return stream


def _do_nothing() -> None:
    pass
