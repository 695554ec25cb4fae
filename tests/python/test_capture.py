# SPDX-License-Identifier: Apache-2.0
"""What a capture records, what it refuses, and which streams and threads take part."""

import gc
import re
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, attend, plan, replace
from small_call import SMALL, SMALL_PLAN, small_arguments
from stream_work import keep_busy

import sfmla_ctypes as sfmla
from reference.compare import assert_same_bits
from sfmla_ctypes import DeviceArray, Event, Stream
from sfmla_ctypes._task import Task

ONES = np.ones(8, np.float32)


def refused(code: int, text: str, kind: type[sfmla.AclError] = sfmla.AclRuntimeError) -> Any:
    """Expects an exception of this code whose text has this part."""
    return pytest.raises(kind, match=rf"{re.escape(text)}.*: {code}\]")


def in_thread(function: Callable[[], Any]) -> None:
    """Calls it in another thread and raises what it raises."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(function).result()


def assert_works(stream: Stream) -> None:
    """The stream queues: what is put into it runs."""
    assert DeviceArray.zeros(8, np.float32, stream).numpy().sum() == 0
    stream.synchronize()


def test_what_cannot_be_recorded(stream: Stream) -> None:
    arguments = small_arguments()
    array = DeviceArray.zeros(8, np.float32)
    with stream.capture() as graph:
        with refused(161002, "q: an array in host memory, must be a DeviceArray in a capture",
                     sfmla.AclParamError):  # fmt: skip
            sfmla.sparse_flash_mla(**arguments | {"q": SMALL.q})
        with refused(161002, "metadata: an array in host memory", sfmla.AclParamError):
            plan(SMALL)
        with refused(107000, "must be pinned", sfmla.AclParamError):
            array.copy_from(ONES)
        with refused(207000, "from_numpy: it copies once and in no replay"):
            DeviceArray.from_numpy(ONES)
        with refused(161002, "softmax_scale", sfmla.AclParamError):
            sfmla.sparse_flash_mla(**arguments | {"softmax_scale": float("nan")})
        out, _ = sfmla.sparse_flash_mla(**arguments)
    assert repr(graph) == "<Graph '': 1 calls>"
    graph.replay()
    assert_same_bits(out.numpy(), attend(SMALL)[0])


def test_nothing_waits_for_a_captured_stream(stream: Stream) -> None:
    before = DeviceArray.zeros(8, np.float32)
    event = Event()
    with stream.capture() as graph:
        written = DeviceArray.zeros(8, np.float32)
        event.record()
        for wait in (written.numpy, stream.synchronize, stream.query, sfmla.Device().synchronize):
            with refused(107027, "captured"):
                wait()
        for ask in (event.query, event.synchronize):
            with refused(107028, "captur"):
                ask()
        assert before.numpy().sum() == 0
    graph.replay()
    assert written.numpy().sum() == 0
    assert event.query()


def test_exception_in_the_block_discards_the_graph(stream: Stream) -> None:
    with pytest.raises(KeyError, match="lost"), stream.capture("step") as graph:
        raise KeyError(DeviceArray.zeros(8, np.float32), "lost")
    assert Stream.current() is not stream
    assert_works(stream)
    with refused(107000, "graph 'step': its capture failed", sfmla.AclParamError):
        graph.replay()
    with stream.capture() as graph:
        pass


def test_block_that_is_never_left_ends_with_its_generator(stream: Stream) -> None:
    def begin() -> Generator[None, None, None]:
        with stream.capture():
            yield

    block = begin()
    next(block)
    del block
    gc.collect()
    assert Stream.current() is not stream
    assert_works(stream)


def test_block_left_on_a_thread_that_never_used_the_package(stream: Stream) -> None:
    def begin() -> Generator[None, None, None]:
        with stream.capture():
            yield

    block = begin()
    next(block)
    thread = threading.Thread(target=block.close)
    thread.start()
    thread.join()
    assert_works(stream)


def test_replay_needs_a_graph(stream: Stream) -> None:
    goes_on = refused(107000, "graph 'outer': its capture goes on", sfmla.AclParamError)
    with stream.capture("outer") as graph, goes_on:
        graph.replay(Stream())
    with stream.capture(), refused(207000, "a replay cannot be captured"):
        graph.replay()
    graph.close()
    graph.close()
    with refused(107000, "graph 'outer': closed", sfmla.AclParamError):
        graph.replay()
    with stream.capture() as closed_within:
        closed_within.close()
    with refused(107000, "closed", sfmla.AclParamError):
        closed_within.replay()


def test_streams_are_captured_once_at_a_time(stream: Stream) -> None:
    with stream.capture() as outer:
        first = DeviceArray.zeros(8, np.float32)
        with refused(107027, "captured already"), stream.capture():
            pass
        with Stream().capture() as inner:  # another stream, another graph
            second = DeviceArray.zeros(8, np.float32)
        third = DeviceArray.zeros(8, np.float32)
    assert (repr(outer), repr(inner)) == ("<Graph '': 2 calls>", "<Graph '': 1 calls>")
    outer.replay()
    inner.replay()
    assert [array.numpy().sum() for array in (first, second, third)] == [0, 0, 0]


def test_name_must_be_text(stream: Stream) -> None:
    with pytest.raises(TypeError, match="name: 3, must be a str"), stream.capture(3):  # type: ignore[arg-type]
        pass
    assert_works(stream)


def test_other_threads_keep_off_captured_streams(stream: Stream) -> None:
    arguments = small_arguments()
    with stream.capture() as graph:
        out, _ = sfmla.sparse_flash_mla(**arguments)

        def use_what_is_written() -> None:
            out.copy_from(SMALL.q)

        def capture() -> None:
            with stream.capture():
                pass

        for refusal in (
            lambda: sfmla.sparse_flash_mla(**arguments, stream=stream),
            lambda: Event().record(stream),
            lambda: Stream().wait(stream),
            lambda: stream.wait(Stream()),
            use_what_is_written,
            capture,
        ):
            with refused(107027, "captur"):
                in_thread(refusal)
        in_thread(lambda: assert_same_bits(attend(SMALL)[0], attend(SMALL)[0]))
        in_thread(lambda: assert_works(Stream()))
    assert repr(graph) == "<Graph '': 1 calls>"
    in_thread(graph.replay)
    assert_same_bits(out.numpy(), attend(SMALL)[0])


def test_work_that_another_thread_is_queueing_is_not_captured(stream: Stream) -> None:
    task = Task(())
    with task.being_queued:
        stream.state.pending.append(task)
        with refused(107027, "another thread queues work"), stream.capture():
            pass
    stream.state.pending.clear()
    assert_works(stream)


def test_streams_join_by_waiting() -> None:
    first, second, third = Stream(), Stream(), Stream()
    arguments = small_arguments()
    event = Event()
    with first.capture() as graph:
        query = DeviceArray.zeros(SMALL.q.shape, SMALL.q.dtype)
        second.wait(first)
        with second:
            out, _ = sfmla.sparse_flash_mla(**arguments | {"q": query})
            event.record()
        third.wait_event(event)
        again, _ = sfmla.sparse_flash_mla(**arguments | {"q": out}, stream=third)
        first.wait(third)
    for stream in (first, second, third):
        assert_works(stream)
    graph.replay(second)
    expected = attend(replace(SMALL, q=np.zeros_like(SMALL.q)))[0]
    assert_same_bits(out.numpy(), expected)
    assert_same_bits(again.numpy(), attend(replace(SMALL, q=expected))[0])


def test_arrays_order_streams_of_one_capture() -> None:
    """Reading what another stream writes joins the two, so that the end finds all work joined."""
    first, second = Stream(), Stream()
    arguments = small_arguments()
    with first.capture() as graph:
        second.wait(first)
        query = DeviceArray.zeros(SMALL.q.shape, SMALL.q.dtype, second)
        out, _ = sfmla.sparse_flash_mla(**arguments | {"q": query})
    graph.replay()
    assert_same_bits(out.numpy(), attend(replace(SMALL, q=np.zeros_like(SMALL.q)))[0])


def test_stream_that_is_not_joined_again(stream: Stream) -> None:
    other = Stream()
    with refused(107025, "not joined"), stream.capture():
        other.wait(stream)
        DeviceArray.zeros(8, np.float32, other)
    assert_works(stream)
    assert_works(other)


def test_captured_results_stay_in_their_capture(stream: Stream) -> None:
    other = Stream()
    with stream.capture():
        array = DeviceArray.zeros(SMALL.q.shape, SMALL.q.dtype)
        with refused(107027, "array: a captured call writes it"):
            array.copy_from(SMALL.q, other)
        with refused(107027, "captured"):
            sfmla.sparse_flash_mla(**arguments_of(SMALL) | {"q": array}, metadata=SMALL_PLAN,
                                   stream=other)  # fmt: skip
    array.copy_from(SMALL.q, other)
    assert_same_bits(array.numpy(), SMALL.q)


def test_waiting_for_work_outside_invalidates(stream: Stream) -> None:
    other = Stream()
    keep_busy(other, 20)
    with refused(107024, "not part of the capture"), stream.capture():
        stream.wait(other)
    outside = refused(107024, "not part of the capture")
    with refused(507903, "invalidated"), stream.capture(), outside:
        stream.wait(other)
    assert_works(stream)
