# SPDX-License-Identifier: Apache-2.0
"""Calls that are captured once and replayed while the arrays that they read change in place."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, attend, on_device, plan, replace
from small_call import SMALL, SMALL_PLAN, small_arguments
from stream_work import held, keep_busy

import sfmla_ctypes as sfmla
from reference.call import Call, planning_arguments
from reference.case_arrays import int32
from reference.cases import Case, build, with_full_caches
from reference.compare import assert_same_bits
from sfmla_ctypes import DeviceArray, Stream
from sfmla_ctypes._capture import outside

MOST_TOKENS = 200
RATIO = 4
DECODE = Case(
    "csa", heads=2, rows=(1, 2, 1), tokens=(MOST_TOKENS,) * 3, ratio=RATIO, cmp_topk=16,
    ori_block=16, cmp_block=16, window=(31, 0),
)  # fmt: skip
CALL = with_full_caches(build(DECODE))
CHANGING = (
    "q", "seqused_ori_kv", "seqused_cmp_kv", "cmp_residual_kv", "ori_block_table",
    "cmp_block_table", "cmp_sparse_indices",
)  # fmt: skip
ONES = np.ones(8, np.float32)


def advance(call: Call, rng: np.random.Generator) -> Call:
    """The same call after a change of all that may change in place."""
    tokens = rng.integers(0, MOST_TOKENS + 1, 3)
    lists = np.full_like(call.cmp_sparse_indices, -1)
    for row, request in zip(lists, (0, 1, 1, 2), strict=True):
        chosen = rng.permutation(tokens[request] // RATIO)[: row.size]
        row[0, : len(chosen)] = chosen
    assert call.ori_block_table is not None
    assert call.cmp_block_table is not None
    return replace(
        call,
        q=rng.standard_normal(call.q.shape).astype(call.q.dtype),
        seqused_ori_kv=int32(tokens),
        seqused_cmp_kv=int32(tokens // RATIO),
        cmp_residual_kv=int32(tokens % RATIO),
        ori_block_table=rng.permutation(call.ori_block_table.ravel()).reshape(3, -1),
        cmp_block_table=rng.permutation(call.cmp_block_table.ravel()).reshape(3, -1),
        cmp_sparse_indices=lists,
    )


class Step:
    """A call and its plan, both of device arrays."""

    def __init__(self, call: Call) -> None:
        self.arguments = on_device(arguments_of(call))
        planning = planning_arguments(call)
        shared = planning.keys() & self.arguments.keys()
        self.planning = planning | {name: self.arguments[name] for name in shared}

    def run(self) -> tuple[DeviceArray, DeviceArray]:
        metadata = sfmla.sparse_flash_mla_metadata(**self.planning)
        found: tuple[DeviceArray, DeviceArray] = sfmla.sparse_flash_mla(
            **self.arguments, metadata=metadata
        )
        return found

    def write(self, call: Call, stream: Stream | None = None) -> None:
        for name in CHANGING:
            self.arguments[name].copy_from(getattr(call, name), stream)


def test_replays_equal_fresh_calls_while_everything_changes(stream: Stream) -> None:
    rng = np.random.default_rng(5)
    call = advance(CALL, rng)
    step = Step(call)
    with stream.capture("decode") as graph:
        out, lse = step.run()
    for _ in range(50):
        call = advance(call, rng)
        expected_out, expected_lse = attend(call)
        step.write(call)
        graph.replay()
        assert_same_bits(out.numpy(), expected_out)
        assert_same_bits(lse.numpy(), expected_lse)


def test_replays_on_other_streams_come_in_the_order_of_the_arrays() -> None:
    rng = np.random.default_rng(6)
    call = advance(CALL, rng)
    step = Step(call)
    writer, captured, other = Stream(), Stream(), Stream()
    with captured.capture() as graph:
        out, _ = step.run()
    for stream in (other, captured, writer):
        call = advance(call, rng)
        keep_busy(writer, 20)
        step.write(call, writer)
        graph.replay(stream)
        assert_same_bits(out.numpy(), attend(call)[0])
        stream.synchronize()


def test_replay_waits_for_what_another_stream_writes(stream: Stream) -> None:
    arguments, others, other = small_arguments(), small_arguments(), Stream()
    first = attend(SMALL)[0]
    with stream.capture() as graph:
        out, _ = sfmla.sparse_flash_mla(**arguments)
    with other.capture() as writer:
        sfmla.sparse_flash_mla(**others, out=arguments["q"])
    keep_busy(other, 200)
    writer.replay(other)
    graph.replay()
    assert_same_bits(out.numpy(), attend(replace(SMALL, q=first))[0])


def test_calls_are_recorded_and_not_run(stream: Stream) -> None:
    arguments = small_arguments()
    out = DeviceArray.from_numpy(np.full_like(SMALL.q, 7))
    with stream.capture() as graph:
        assert Stream.current() is stream
        assert sfmla.sparse_flash_mla(**arguments, out=out)[0] is out
    assert Stream.current() is not stream
    assert (out.numpy() == 7).all()
    graph.replay()
    assert_same_bits(out.numpy(), attend(SMALL)[0])


def test_zeros_and_pinned_copies_are_recorded(stream: Stream) -> None:
    pinned = sfmla.pinned_empty(8, np.float32)
    with stream.capture() as graph:
        zeros = DeviceArray.zeros(8, np.float32)
        copied = DeviceArray.empty(8, np.float32)
        copied.copy_from(pinned)
    for value in (3, 4):
        zeros.copy_from(ONES)
        pinned[:] = value
        graph.replay()
        assert zeros.numpy().tolist() == [0] * 8
        assert copied.numpy().tolist() == [value] * 8


def test_empty_graph(stream: Stream) -> None:
    with stream.capture() as graph:
        pass
    graph.replay()
    Stream.current().synchronize()
    assert repr(graph) == "<Graph '': 0 calls>"


def test_graph_says_what_it_is(stream: Stream) -> None:
    with stream.capture("step of layer 3") as graph:
        DeviceArray.zeros(8, np.float32)
        assert repr(graph) == "<Graph 'step of layer 3': its capture goes on>"
    assert graph.name == "step of layer 3"
    assert repr(graph) == "<Graph 'step of layer 3': 1 calls>"
    with graph:
        graph.replay()
    assert repr(graph) == "<Graph 'step of layer 3': closed>"


def test_graph_keeps_what_its_calls_use(stream: Stream) -> None:
    arguments = small_arguments()
    pinned = sfmla.pinned_empty(SMALL.q.shape, SMALL.q.dtype)
    pinned[:] = SMALL.q
    with stream.capture() as graph:
        arguments["q"].copy_from(pinned)
        out, _ = sfmla.sparse_flash_mla(**arguments)
    kept: list[weakref.ref[Any]] = [
        weakref.ref(array.memory) for array in arguments.values() if isinstance(array, DeviceArray)
    ]
    kept.append(weakref.ref(pinned))
    del arguments, pinned
    gc.collect()
    assert all(reference() is not None for reference in kept)
    with held(stream):
        graph.replay(stream)
        graph.close()
        del graph
        gc.collect()
        assert not stream.query()
        assert all(reference() is not None for reference in kept)
    assert_same_bits(out.numpy(), attend(SMALL)[0])
    gc.collect()
    assert all(reference() is None for reference in kept)


def test_memory_comes_back_when_a_graph_is_closed(stream: Stream) -> None:
    def free_bytes() -> int:
        gc.collect()
        return sfmla.Device().memory_info().free_bytes

    before = free_bytes()
    with stream.capture() as graph:
        array = DeviceArray.zeros(2**24, np.int8)
    graph.replay(stream)
    del array
    stream.synchronize()
    assert free_bytes() <= before - 2**24
    graph.close()
    assert free_bytes() >= before - 2**20


def test_workspaces_of_graph_and_stream_are_two(stream: Stream) -> None:
    """A replay on one stream and calls on the captured one may run at the same time."""
    rng = np.random.default_rng(8)
    call = advance(CALL, rng)
    step = Step(call)
    step.write(call, stream)
    stream.synchronize()
    sfmla.sparse_flash_mla(
        **step.arguments, metadata=DeviceArray.from_numpy(plan(call)), stream=stream
    )
    before = stream.state.workspace
    assert before.nbytes > 0
    with stream.capture() as graph:
        step.run()
        captured = stream.state.workspace
    assert captured.address != before.address
    assert stream.state.workspace is None
    graph.close()


def test_failure_of_a_replay_is_that_of_its_results(stream: Stream) -> None:
    metadata = DeviceArray.from_numpy(SMALL_PLAN)
    arguments = small_arguments(metadata=metadata)
    with stream.capture() as graph:
        middle, _ = sfmla.sparse_flash_mla(**arguments)
        out, _ = sfmla.sparse_flash_mla(**arguments | {"q": middle})
    for words in (SMALL_PLAN, np.zeros_like(SMALL_PLAN), SMALL_PLAN):
        metadata.copy_from(words)
        graph.replay()
        if words.any():
            assert_same_bits(middle.numpy(), attend(SMALL)[0])
            assert_same_bits(out.numpy(), attend(replace(SMALL, q=attend(SMALL)[0]))[0])
        else:
            for array in (middle, out):
                with pytest.raises(sfmla.AclDeviceError, match="metadata") as caught:
                    array.numpy()
                assert caught.value.code == 507018


def test_replay_refuses_what_failed_before_it(stream: Stream) -> None:
    failing = small_arguments(metadata=np.zeros_like(SMALL_PLAN))
    with stream.capture() as failing_graph:
        bad, _ = sfmla.sparse_flash_mla(**failing)
    failing_graph.replay()
    with pytest.raises(sfmla.AclDeviceError):
        Stream.current().synchronize()
    arguments = small_arguments() | {"q": bad}
    with stream.capture() as graph:
        with pytest.raises(sfmla.AclRuntimeError, match="a replay cannot be captured"):
            failing_graph.replay()  # it is no part of the graph, which still reads `bad`
        out, _ = sfmla.sparse_flash_mla(**arguments)
    with pytest.raises(sfmla.AclDeviceError):
        graph.replay()
    bad.copy_from(SMALL.q)
    graph.replay()
    assert_same_bits(out.numpy(), attend(SMALL)[0])


@pytest.mark.parametrize(
    ("covers", "expected"),
    [
        ([], [(10, 20)]),
        ([(0, 10), (20, 30)], [(10, 20)]),
        ([(12, 15)], [(10, 12), (15, 20)]),
        ([(5, 12), (18, 25)], [(12, 18)]),
        ([(10, 15), (15, 20)], []),
        ([(0, 30)], []),
    ],
)
def test_outside(covers: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert outside((10, 20), covers) == expected
