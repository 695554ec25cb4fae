# SPDX-License-Identifier: Apache-2.0
"""The library as an engine: calls queued on a stream, arrays in device memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import Device, DeviceArray, Graph, Stream, __version__
from ..cases import FLASH_MLA, SHARED_KV
from ..operators import Operator
from .checking import OWN_LIMIT, ROUNDED_WEIGHTS_LIMIT, checked_error
from .engine import Candidate, Loaded
from .probes import instruction_set, rounds_weights
from .timing import peak_extra_bytes
from .workloads import Shape, build, measure_work, operator_of

NAME = "sfmla"
TWIN = "SparseFlashMla"
OVERHEAD_CALLS = 200
GRAPH_CALLS = 64  # at most in one graph


class SfmlaEngine:
    """The package's operators with as many threads as SFMLA_NUM_THREADS says.

    A call of SparseAttnSharedkv is offered as the one of SparseFlashMla too.
    """

    def describe(self) -> dict[str, str]:
        return {"version": __version__, "instruction_set": instruction_set()}

    def load(self, shape: Shape, dtype: str) -> Loaded:
        candidates = {NAME: _candidate(NAME, shape, dtype)}
        if shape.operator == SHARED_KV:
            same_problem = replace(shape, operator=FLASH_MLA)
            candidates[TWIN] = _candidate(TWIN, same_problem, dtype)
        return Loaded(measure_work(shape, build(shape, dtype)), candidates)


def _candidate(name: str, shape: Shape, dtype: str) -> Candidate:
    arguments = build(shape, dtype)
    call = _QueuedCall(operator_of(shape), arguments)
    free_before = Device().memory_info().free_bytes
    extra_bytes = peak_extra_bytes(lambda: call.queue(1))
    # All that a call allocates on the device is the workspace, which its stream then keeps.
    workspace_bytes = free_before - Device().memory_info().free_bytes
    limits = ROUNDED_WEIGHTS_LIMIT if rounds_weights(dtype) else OWN_LIMIT
    error = checked_error(name, shape, arguments, call.out.numpy(), limits[dtype])
    return Candidate(call, False, error, extra_bytes, workspace_bytes)


def call_overhead() -> float:
    """Seconds of the calling thread per queued call, measured on the smallest of calls."""
    shape = Shape(1, 1, 1, heads=1)
    call = _QueuedCall(operator_of(shape), build(shape, "bfloat16"))
    call.queue(OVERHEAD_CALLS)
    started = time.thread_time()
    call.queue(OVERHEAD_CALLS)
    return (time.thread_time() - started) / OVERHEAD_CALLS


class _QueuedCall:
    """A call whose arrays are on the device; the output holds NaN until it ran.

    What is timed is a graph of so many calls: queuing them one by one takes a part of a core, which
    the kernels would miss when they have as many threads as there are cores.
    """

    def __init__(self, operator: Operator, arguments: Mapping[str, Any]) -> None:
        self.stream = Stream()
        self._function = operator.function
        on_device: dict[int, DeviceArray] = {}  # what is one array here stays one there
        self._arguments = {
            name: _on_device(value, on_device)
            for name, value in operator.with_metadata(arguments).items()
        }
        q = arguments[operator.query]
        self.out = DeviceArray.from_numpy(np.full(q.shape, np.nan, q.dtype))
        self._graphs: dict[int, Graph] = {}  # by number of calls

    def __call__(self, repeats: int) -> None:
        for begin in range(0, repeats, GRAPH_CALLS):
            self._graph(min(GRAPH_CALLS, repeats - begin)).replay(self.stream)
        self.stream.synchronize()

    def _graph(self, calls: int) -> Graph:
        if calls not in self._graphs:
            with self.stream.capture() as self._graphs[calls]:
                self._call(calls)
        return self._graphs[calls]

    def queue(self, repeats: int) -> None:
        """The same, queued one by one."""
        self._call(repeats)
        self.stream.synchronize()

    def _call(self, repeats: int) -> None:
        for _ in range(repeats):
            self._function(**self._arguments, out=self.out, stream=self.stream)


def _on_device(value: Any, made: dict[int, DeviceArray]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if id(value) not in made:
        made[id(value)] = DeviceArray.from_numpy(value)
    return made[id(value)]
