# SPDX-License-Identifier: Apache-2.0
"""The library as an engine: calls queued on a stream, arrays in device memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import Device, DeviceArray, Stream, __version__, sparse_flash_mla, sparse_flash_mla_metadata
from ..reference import Call
from ..schedule import metadata_arguments
from .checking import OWN_LIMIT, checked_error
from .engine import Candidate, Loaded
from .probes import instruction_set
from .timing import peak_extra_bytes
from .workloads import Shape, build, measure_work

NAME = "sfmla"
OVERHEAD_CALLS = 200


class SfmlaEngine:
    """``sparse_flash_mla`` with as many threads as SFMLA_NUM_THREADS says."""

    def describe(self) -> dict[str, str]:
        return {"version": __version__, "instruction_set": instruction_set()}

    def load(self, shape: Shape, dtype: str) -> Loaded:
        arguments = build(shape, dtype)
        call = _QueuedCall(arguments)
        free_before = Device().memory.free_bytes
        extra_bytes = peak_extra_bytes(lambda: call(1))
        # All that a call allocates on the device is the workspace, which its stream then keeps.
        workspace_bytes = free_before - Device().memory.free_bytes
        found = call.out.numpy()
        error = checked_error(NAME, shape, arguments, found, OWN_LIMIT[dtype])
        candidate = Candidate(call, False, error, extra_bytes, workspace_bytes)
        return Loaded(measure_work(Call(**arguments)), {NAME: candidate})


def call_overhead() -> float:
    """Seconds of the calling thread per queued call, measured on the smallest of calls."""
    call = _QueuedCall(build(Shape(1, 1, 1, heads=1), "bfloat16"))
    call(OVERHEAD_CALLS)
    started = time.thread_time()
    call(OVERHEAD_CALLS)
    return (time.thread_time() - started) / OVERHEAD_CALLS


class _QueuedCall:
    """A call whose arrays are on the device; the output holds NaN until it ran."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.stream = Stream()
        metadata = sparse_flash_mla_metadata(**metadata_arguments(arguments))
        host = {**arguments, "metadata": metadata}
        self._arguments = {name: _on_device(value) for name, value in host.items()}
        q = arguments["q"]
        self.out = DeviceArray.from_numpy(np.full(q.shape, np.nan, q.dtype))

    def __call__(self, repeats: int) -> None:
        for _ in range(repeats):
            sparse_flash_mla(**self._arguments, out=self.out, stream=self.stream)
        self.stream.synchronize()


def _on_device(value: Any) -> Any:
    return DeviceArray.from_numpy(value) if isinstance(value, np.ndarray) else value
