# SPDX-License-Identifier: Apache-2.0
"""Graphs: calls recorded once and replayed as often as wanted."""

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._attributes import c_string
from ._capture import Capture, Footprint
from ._context import ensure_context, refuse_inherited, this_thread
from ._errors import check, error_of, take_report
from ._library import ffi, lib
from ._single import Single
from ._stream import Stream, chosen_stream
from ._task import Task

_CAPTURING = "its capture goes on"
_CLOSED = "closed"
_FAILED = "its capture failed"


class _Recording(Single):
    """A graph of the C interface and what it uses, until no Graph and no queued replay needs it."""

    def __init__(self, capture: Capture) -> None:
        """Ends the capture, successfully or not."""
        self.calls = len(capture.tasks)
        self.objects = [task.objects for task in capture.tasks]
        self.footprint = Footprint(capture.uses)
        self.holder = ffi.new("aclmdlRI *")
        weakref.finalize(self, _destroy, self.holder).atexit = False
        capture.end(self.holder)


def _destroy(holder: Any) -> None:
    if holder[0] != ffi.NULL:
        lib.aclmdlRIDestroy(holder[0])
        take_report()


class Graph(Single):
    """Calls that were recorded with Stream.capture.

    Each replay runs all of them, in order, on the arrays of the recording, whose contents it reads
    anew: lengths, block tables, plans and queries may be overwritten in place between two replays.
    Shapes, attributes and core limits are those of the recording. Results have the same bits as
    those of fresh calls.

        with stream.capture("decode") as graph:
            plan = sparse_flash_mla_metadata(..., seqused_ori_kv=lengths)
            out, _ = sparse_flash_mla(q, seqused_ori_kv=lengths, metadata=plan, ...)
        for step in steps:
            lengths.copy_from(step.lengths)
            q.copy_from(step.q)
            graph.replay()
            use(out.numpy())

    The graph keeps all arrays, workspaces and pinned host arrays of its calls alive: until it is
    closed, or no longer referenced, and the last replay has passed. As a context manager it is
    closed behind the block.

    name  given to Stream.capture, for people
    """

    def __init__(self, name: str) -> None:
        self._c_name = c_string("name", name)
        self.name = name
        self._process = os.getpid()
        self._recording: _Recording | None = None
        self._why_none = _CAPTURING

    def __repr__(self) -> str:
        recording = self._recording
        state = self._why_none if recording is None else f"{recording.calls} calls"
        return f"<Graph {self.name!r}: {state}>"

    def replay(self, stream: Stream | None = None) -> None:
        """Queues one run of all calls on `stream`, of any thread; None: Stream.current().

        It is one piece of work of that stream. Arrays order it like a call: behind the work of
        other streams that writes what it reads or writes, and whoever reads its results waits for
        it. Errors as for a call: one in any of its calls is raised by reading any of its results,
        and by replays and calls that would read them; results are good again when overwritten, as
        by another replay. Replays of one graph take turns, whatever their streams.

        Overwriting what a replay on *another* stream may still read, pinned host arrays included,
        is the caller's to order, as for calls.

        AclParamError (107000): the capture goes on or has failed, or the graph was closed.
        AclRuntimeError (107003): made before the process forked; (107004): captured on another
        device; (207000): the stream is captured.
        """
        recording = self._require_recording()
        stream = chosen_stream(stream)
        task = Task((recording,))

        def launch() -> None:
            code = lib.aclmdlRIExecuteAsync(recording.holder[0], stream.handle)
            check("aclmdlRIExecuteAsync", code)

        stream.submit(task, lambda: recording.footprint.order(task, stream), launch)
        recording.footprint.was_queued(task)

    def close(self) -> None:
        """Ends the graph; queued replays still run. May be called again."""
        self._end(_CLOSED)

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def finish(self, capture: Capture) -> None:
        """Takes over what was captured."""
        if self._process != os.getpid():  # forked inside the block
            capture.abandon()
            return
        recording = _Recording(capture)
        check("aclmdlRISetName", lib.aclmdlRISetName(recording.holder[0], self._c_name))
        if self._why_none == _CAPTURING:
            self._recording = recording

    def fail(self) -> None:
        """There is nothing to take over."""
        self._end(_FAILED)

    def _end(self, why: str) -> None:
        self._why_none = why
        self._recording = None

    def _require_recording(self) -> _Recording:
        if self._process != os.getpid():
            raise refuse_inherited("graph")
        if self._recording is None:
            text = f"graph {self.name!r}: {self._why_none}, must be captured and open"
            raise error_of(lib.ACL_ERROR_RT_PARAM_INVALID, "sfmla_ctypes", text)
        return self._recording


@contextmanager
def capture(stream: Stream, name: str) -> Iterator[Graph]:
    """As Stream.capture."""
    ensure_context()
    graph = Graph(name)
    capture = Capture(stream)
    entered = this_thread.entered
    depth = len(entered)
    try:
        capture.begin()
        entered.append(stream)
        yield graph
        graph.finish(capture)
    except BaseException:
        capture.abandon()
        graph.fail()
        raise
    finally:
        del entered[depth:]
