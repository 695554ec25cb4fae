# SPDX-License-Identifier: Apache-2.0
"""Calls that are recorded on captured streams, and the memory that they use.

The C interface knows addresses only. Here is what they belong to: the objects that must live as
long as the graph, and the bytes that each replay reads and writes, so that a replay takes its place
among all work on the same arrays.
"""

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from ._context import ensure_context
from ._errors import AclRuntimeError, check, take_report
from ._library import ffi, lib
from ._task import StreamState, Task

_OTHER_THREAD = "stream: another thread captures it, takes no other work before the capture ends"

Span = tuple[int, int]


class Memory(Protocol):
    """An allocation that knows the tasks that write it."""

    @property
    def is_being_written(self) -> bool: ...
    def is_read_by(self, task: Task, stream: Any, begin: int, end: int) -> None: ...
    def is_written_by(self, task: Task, stream: Any, begin: int, end: int) -> None: ...
    def was_queued(self, task: Task) -> None: ...


class Use(NamedTuple):
    """The bytes [begin, end) that a recorded call reads or writes."""

    memory: Memory
    begin: int
    end: int
    is_write: bool


def outside(span: Span, covers: Iterable[Span]) -> list[Span]:
    """The parts of a span that no span of `covers` contains."""
    parts = [span]
    for cover_begin, cover_end in covers:
        sides = [
            side
            for begin, end in parts
            for side in ((begin, min(end, cover_begin)), (max(begin, cover_end), end))
        ]
        parts = [(begin, end) for begin, end in sides if begin < end]
    return parts


class Footprint:
    """The bytes that a replay takes from before it, and those that it leaves behind."""

    def __init__(self, uses: Iterable[Use] = ()) -> None:
        self._reads: dict[Memory, list[Span]] = {}
        self._writes: dict[Memory, list[Span]] = {}
        for use in uses:
            reads = self._reads.setdefault(use.memory, [])
            writes = self._writes.setdefault(use.memory, [])
            if use.is_write:
                writes += outside((use.begin, use.end), writes)
            else:
                reads += outside((use.begin, use.end), (*reads, *writes))

    def order(self, task: Task, stream: Any) -> None:
        """Orders a replay on `stream` behind other work; raises a failure of what it reads."""
        for memory, spans in self._reads.items():
            if memory.is_being_written:
                for span in spans:
                    memory.is_read_by(task, stream, *span)
        for memory, spans in self._writes.items():
            for span in spans:
                memory.is_written_by(task, stream, *span)

    def was_queued(self, task: Task) -> None:
        for memory in self._writes:
            memory.was_queued(task)


class Capture:
    """The recording of a stream, and of those that join, between `begin` and `end`.

    tasks  the recorded calls, which hold the objects that they use
    uses   of memory, in the order of the calls
    """

    def __init__(self, stream: Any) -> None:
        self.tasks: list[Task] = []
        self.uses: list[Use] = []
        self._streams = [stream]  # as long as they are captured, they must not go
        self._states: list[StreamState] = [stream.state]
        self._thread = threading.get_ident()
        self._process = os.getpid()
        self._begin_codes: list[int] = []
        self._is_ending = False

    def begin(self) -> None:
        state = self._states[0]
        finish_interrupted()  # also those whose streams nobody uses again
        # From here on calls of other threads see the capture. Those that did not are refused here.
        _open_captures.append(self)
        _refuse_if_busy(state)
        mode = lib.ACL_MODEL_RI_CAPTURE_MODE_RELAXED  # other threads and streams work as always
        self._begin_codes.extend(map(lib.aclmdlRICaptureBegin, (state.handle,), (mode,)))
        check("aclmdlRICaptureBegin", self._begin_codes[0])
        state.workspace = None  # that of the graph is its own

    def end(self, holder: Any) -> None:
        """Puts the graph into `holder` (aclmdlRI *), or raises why there is none."""
        self._is_ending = True
        check("aclmdlRICaptureEnd", lib.aclmdlRICaptureEnd(self._states[0].handle, holder))
        self._close()

    def abandon(self) -> None:
        """Ends without a graph, whatever happened before. May be called more than once."""
        self._is_ending = True
        if self._begin_codes == [0] and self in _open_captures and self._process == os.getpid():
            ensure_context()  # a generator may be closed on a thread that never used the package
            holder = ffi.new("aclmdlRI *")
            if lib.aclmdlRICaptureEnd(self._states[0].handle, holder) == 0:
                lib.aclmdlRIDestroy(holder[0])
            take_report()
        self._close()

    def _close(self) -> None:
        for task in self.tasks:
            task.let_go()
            task.streams.clear()  # nothing is waited for: what it writes is as before
            task.capture = None
        if self._begin_codes == [0]:
            for state in self._states:
                state.workspace = None
        if self in _open_captures:
            _open_captures.remove(self)
        self._streams.clear()

    def includes(self, state: StreamState) -> bool:
        return state in self._states

    def is_open(self) -> bool:
        return self in _open_captures

    def is_of_this_thread(self) -> bool:
        return threading.get_ident() == self._thread

    def require_own_thread(self) -> None:
        if not self.is_of_this_thread():
            raise _captured(_OTHER_THREAD)

    def finish_if_interrupted(self) -> bool:
        """True when it was ending and had not come to the end."""
        was_interrupted = self._is_ending and self.is_of_this_thread()
        if was_interrupted:
            self.abandon()
        return was_interrupted

    def record(
        self,
        task: Task,
        state: StreamState,
        prepare: Callable[[], None],
        launch: Callable[[], None],
    ) -> None:
        """As Stream.submit, for a call that runs in replays only."""
        self.require_own_thread()
        uses = len(self.uses)
        task.capture = self
        task.streams.add(state)  # so that who reads what it writes is refused
        self.tasks.append(task)
        try:
            prepare()
            launch()
        except Exception:  # not an interrupt, which may have come behind `launch`
            self.tasks.remove(task)
            del self.uses[uses:]
            task.let_go()
            task.streams.clear()
            raise

    def join(self, stream: Any, wait: Callable[[], None]) -> None:
        """Lets a stream take part, which `wait` makes wait for an event of the capture."""
        self.require_own_thread()
        state = stream.state
        self._states.append(state)
        self._streams.append(stream)
        try:
            _refuse_if_busy(state)
            wait()
        except BaseException:
            if not _is_captured(state):
                self._states.remove(state)
            raise
        state.workspace = None


_open_captures: list[Capture] = []


def capture_of(state: StreamState) -> Capture | None:
    """What records the stream now; None: its work is queued."""
    for capture in tuple(_open_captures):
        if capture.includes(state) and not capture.finish_if_interrupted():
            return capture
    return None


def refuse_if_captured(state: StreamState) -> None:
    """AclRuntimeError (107027) for a stream that takes no work outside of a capture now."""
    capture = capture_of(state)
    if capture is not None:
        raise _captured(_OTHER_THREAD)


def _captured(text: str) -> AclRuntimeError:
    return AclRuntimeError(lib.ACL_ERROR_RT_STREAM_CAPTURED, "sfmla_ctypes", text)


def refuse_captured_array() -> AclRuntimeError:
    """The exception for work outside of a capture with what the capture writes."""
    return _captured(
        "array: a captured call writes it, must be used on a stream of that capture until the end"
    )


def _refuse_if_busy(state: StreamState) -> None:
    if any(task.being_queued.locked() for task in tuple(state.pending)):
        raise _captured("stream: another thread queues work on it, must be unused to be captured")


def _is_captured(state: StreamState) -> bool:
    status = ffi.new("aclmdlRICaptureStatus *")
    code = lib.aclmdlRICaptureGetInfo(state.handle, status, ffi.NULL)
    check("aclmdlRICaptureGetInfo", code)
    return bool(status[0] != lib.ACL_MODEL_RI_CAPTURE_STATUS_NONE)


def finish_interrupted() -> None:
    """Ends captures of this thread whose end was interrupted."""
    for capture in tuple(_open_captures):
        capture.finish_if_interrupted()


def is_capturing() -> bool:
    """Whether the calling thread is between the begin and the end of a capture."""
    finish_interrupted()
    return any(capture.is_of_this_thread() for capture in tuple(_open_captures))


def _after_fork_in_child() -> None:
    _open_captures.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
