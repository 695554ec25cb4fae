# SPDX-License-Identifier: Apache-2.0
"""Queued calls: what they use until their stream has passed them, and how they ended.

An interrupt (KeyboardInterrupt) may come behind any call in this package. Two rules keep that
harmless. What is about to happen is written down first, so that somebody who comes later can finish
it: a task is listed before it is queued. And what C reports once is stored by code that runs no
Python (`list.extend` over `map`, the exit of a lock), where no interrupt can come between.

The C interface reports an error of a stream to the first waiter only, and says which operator
failed, not which call. A failure is therefore given to every task of the stream that no wait has
found good yet, and stays with it.
"""

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ._errors import AclError, AclRuntimeError, check, error_of, take_report
from ._library import ffi, lib
from ._single import Single

if TYPE_CHECKING:
    from ._capture import Capture

_WAIT_FOREVER = -1
_DEVICE_TURN_MS = 10
_PAUSE_SECONDS = 0.001


class Mark(Protocol):
    """A position in a stream."""

    def query(self) -> bool: ...


class Failure:
    """An error that C reported for tasks of a stream."""

    def __init__(self, error: AclError) -> None:
        self.error = error
        self.is_reported = False

    @property
    def is_refusal(self) -> bool:
        """C did not wait, such as for a captured stream."""
        return bool(self.error.code // 1000 == lib.ACL_ERROR_RT_PARAM_INVALID // 1000)

    @property
    def is_timeout(self) -> bool:
        return bool(self.error.code == lib.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)

    def throw(self) -> NoReturn:
        self.is_reported = True
        raise type(self.error)(*self.error.args)  # a new one: threads may raise it at once


class Task:
    """One queued call.

    objects  kept alive until the stream has passed the call
    close    called then; may be called more than once
    streams  those that a wait must still find good before the results are
    failure  of this call or of one beside it
    capture  that records the call instead of queueing it, while it goes on
    """

    def __init__(
        self, objects: tuple[object, ...], close: Callable[[], object] = lambda: None
    ) -> None:
        self.objects = objects
        self.close = close
        # A lock, because its `with` ends without running Python.
        self.being_queued = threading.Lock()
        self.may_be_queued = False
        self.mark: Mark | None = None  # behind the task in its stream
        self.is_over = False
        self.streams: set[StreamState] = set()
        self.failure: Failure | None = None
        self.capture: Capture | None = None

    @property
    def is_good(self) -> bool:
        return not self.streams and self.failure is None

    def has_passed(self, stream: "StreamState") -> bool:
        if self.is_over:
            return True
        if self.mark is not None:
            return self.mark.query()
        # Interrupted while it was queued, or its caller waits: nobody knows how far it is.
        return not self.being_queued.locked() and stream.is_known_idle()

    def let_go(self) -> None:
        self.close()
        self.objects = ()
        self.is_over = True

    def wait(self) -> None:
        """Waits until it is known how the task ended; raises its failure."""
        for stream in tuple(self.streams):
            stream.wait()
        if self.failure is not None:
            self.failure.throw()


class StreamState(Single):
    """A stream of the C interface and its tasks; outlives the Stream object until all is done."""

    def __init__(self, owner: "weakref.ref[Any]", device_id: int) -> None:
        self.owner = owner
        self.device_id = device_id
        self.process = os.getpid()
        self.holder = ffi.new("aclrtStream *")  # filled by who makes the stream
        self.lock = threading.RLock()  # of the lists and the workspace; held shortly
        self.turn = threading.RLock()  # of calls that wait for themselves
        self.workspace: Any = None
        self.pending: deque[Task] = deque()  # not yet passed, in order
        self.failure: Failure | None = None
        self._wait_lock = threading.RLock()
        self._codes: list[int] = []  # returned by C and not yet handed on
        self._tasks: list[weakref.ref[Task]] = []  # those with results in use
        self._prune_at = 16
        self._end_codes: list[int] = []  # of the call that ends the stream, once it was made
        _states.add(self)

    @property
    def handle(self) -> Any:
        return self.holder[0]

    @property
    def is_alive(self) -> bool:
        return not self._end_codes and self.process == os.getpid()

    def is_idle(self) -> bool:
        status = ffi.new("aclrtStreamStatus *")
        check("aclrtStreamQuery", lib.aclrtStreamQuery(self.handle, status))
        return bool(status[0] == lib.ACL_STREAM_STATUS_COMPLETE)

    def is_known_idle(self) -> bool:
        """False also for a captured stream, which C does not look at."""
        try:
            return self.is_idle()
        except AclRuntimeError as error:
            if error.code != lib.ACL_ERROR_RT_STREAM_CAPTURED:
                raise
            return False

    def follow(self, task: Task) -> None:
        """Lets a failure of this stream reach the task."""
        task.streams.add(self)
        with self.lock:
            self._tasks.append(weakref.ref(task))
            if len(self._tasks) >= self._prune_at:
                self._tasks[:] = [ref for ref in self._tasks if self._is_waited_for(ref())]
                self._prune_at = 2 * len(self._tasks) + 16

    def _is_waited_for(self, task: Task | None) -> bool:
        return task is not None and self in task.streams

    def tasks(self) -> list[Task]:
        """Tasks that a wait for this stream must find good, as far as anybody can still ask."""
        found = (ref() for ref in tuple(self._tasks))
        return [task for task in found if task is not None and self in task.streams]

    def fail(self, failure: Failure) -> None:
        if self.failure is None or self.failure.is_reported:
            self.failure = failure
        for task in self.tasks():
            task.failure = task.failure or failure

    def report(self) -> None:
        """Raises the failure that nobody has seen yet."""
        failure = self.failure
        self.failure = None
        if failure is not None and not failure.is_reported:
            failure.throw()

    def wait(self, timeout_ms: int = _WAIT_FOREVER) -> bool:
        """Waits for all queued work and hands its failure on, raising none; False: not done."""
        queued = [task for task in tuple(self.pending) if not task.being_queued.locked()]
        with self._wait_lock:
            if not self.is_alive:
                return True
            asked = [task for task in self.tasks() if not task.being_queued.locked()]
            wait = lib.aclrtSynchronizeStreamWithTimeout
            try:
                self._codes.extend(map(wait, (self.handle,), (timeout_ms,)))
            finally:
                is_done = self._settle(asked)
        if is_done:
            for task in queued:
                task.let_go()
            self.release_passed()
        return is_done

    def _settle(self, asked: Iterable[Task]) -> bool:
        """Hands on what C returned. All that was asked about is good if there was no failure."""
        if not self._codes:
            return False
        # A wait for the device may have taken the error.
        with _device_lock:
            _settle_device()
        failure = _failure_of(self._codes, "aclrtSynchronizeStream")
        if self._end_codes:  # a finalizer came between on this thread, and has settled all
            self._codes.clear()
            return True
        if failure is not None and not failure.is_refusal and not failure.is_timeout:
            self.fail(failure)
        self._codes.clear()
        if failure is not None and failure.is_refusal:
            failure.throw()
        if failure is not None and failure.is_timeout:
            return False
        for task in asked:
            task.streams.discard(self)
        return True

    def release_passed(self) -> None:
        """Lets go of tasks that the stream has passed. Never waits."""
        while (task := self._oldest()) is not None and task.has_passed(self):
            task.let_go()
            with self.lock:
                if self._oldest() is task:
                    self.pending.popleft()

    def _oldest(self) -> Task | None:
        try:
            return self.pending[0]
        except IndexError:
            return None

    def settle_before_fork(self) -> None:
        """Finds out how finished tasks ended, for the child."""
        if self.tasks():
            self._unless_waited_for(lambda: self.wait(timeout_ms=1))

    def destroy(self) -> None:
        """Waits, then ends the stream, whose owner is gone; on any thread."""
        if self.process != os.getpid() or self.handle == ffi.NULL:
            _states.discard(self)
        else:
            self._unless_waited_for(self._destroy)

    def _destroy(self) -> None:
        if lib.aclrtGetDevice(ffi.new("int32_t *")) != 0:
            lib.aclrtSetDevice(self.device_id)
        self.wait()
        self._end_codes.extend(map(lib.aclrtDestroyStream, (self.handle,)))
        take_report()
        _states.discard(self)

    def _unless_waited_for(self, action: Callable[[], object]) -> None:
        """Does it while no other thread waits for the stream, else not at all."""
        acquired: list[bool] = []
        try:
            acquired.extend(map(self._wait_lock.acquire, (False,)))
            if acquired[0]:
                action()
        finally:
            # No call before the release, which an interrupt could come behind.
            if acquired and acquired[0]:
                self._wait_lock.release()


_states: set[StreamState] = set()
_inherited: list[StreamState] = []  # of the parent process, whose tasks never end here
_device_lock = threading.RLock()
_device_codes: list[int] = []  # returned by C and not yet handed on


def _failure_of(codes: list[int], api: str) -> Failure | None:
    """The first failure of waits, else what the last wait returned."""
    failures = [Failure(error_of(code, api, "")) for code in codes if code != 0]
    if not failures:
        return None
    chosen = next((f for f in failures if not f.is_refusal and not f.is_timeout), failures[-1])
    return Failure(error_of(chosen.error.code, api, take_report()))


def destroy_abandoned() -> None:
    """Ends streams whose owner is gone, but whose end was interrupted."""
    for state in tuple(_states):
        if state.owner() is None:
            state.destroy()


def release_passed_everywhere() -> None:
    for state in tuple(_states):
        state.release_passed()


def synchronize_device(device_id: int) -> None:
    """Waits for all streams of the current device, other packages' too; raises a failure."""
    states = [state for state in tuple(_states) if state.device_id == device_id]
    for state in states:
        state.wait()
    # Only what was queued just now, or not through this package, is left.
    failure = _wait_for_device()
    while failure is not None and failure.is_timeout:
        time.sleep(_PAUSE_SECONDS)  # lets other waits pass the lock
        failure = _wait_for_device()
    if failure is not None:
        failure.throw()
    for state in states:
        state.report()


def _wait_for_device() -> Failure | None:
    """A short wait."""
    with _device_lock:
        try:
            _device_codes.extend(map(lib.aclrtSynchronizeDeviceWithTimeout, (_DEVICE_TURN_MS,)))
        finally:
            failure = _settle_device()
    return failure


def _settle_device() -> Failure | None:
    """Hands on what C returned. An error may belong to any stream."""
    if not _device_codes:
        return None
    failure = _failure_of(_device_codes, "aclrtSynchronizeDevice")
    if failure is not None and not failure.is_refusal and not failure.is_timeout:
        for state in tuple(_states):
            state.fail(failure)
    _device_codes.clear()
    return failure


def _before_fork() -> None:
    for state in tuple(_states):
        with suppress(AclRuntimeError):  # captured: not known
            state.settle_before_fork()


def _after_fork_in_child() -> None:
    global _device_lock
    _device_lock = threading.RLock()  # another thread may have held it
    unfinished = AclRuntimeError(
        lib.ACL_ERROR_RT_STREAM_CONTEXT,
        "sfmla_ctypes",
        "array: its work was not done when the process forked, must be waited for before",
    )
    for state in tuple(_states):
        state.fail(Failure(unfinished))
    # Kept: releasing the memory of their tasks would call C inside the fork.
    _inherited.extend(_states)
    _states.clear()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
