# SPDX-License-Identifier: Apache-2.0
"""One timed round, and what else happened on the machine meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cffi import FFI

from .probes import fma_peak


@dataclass(frozen=True)
class Round:
    """Seconds per call. ``cpu_seconds`` is the processor time of all threads that compute.

    ``peak`` is the probe of one core just before; ``other_cores`` is how many cores the rest of the
    machine used meanwhile, None where the kernel does not tell.
    """

    cpu_seconds: float
    wall_seconds: float
    peak: float
    other_cores: float | None


def timed_round(call: Callable[[], None], repeats: int, caller_computes: bool) -> Round:
    """Time ``call``, which makes ``repeats`` calls of what is measured.

    ``caller_computes``: whether the calling thread does work that is measured. When it only queues,
    its own processor time is left out.
    """
    peak = fma_peak()
    busy_before, all_before, own_before = _busy_seconds(), time.process_time(), time.thread_time()
    started = time.perf_counter()
    call()
    wall = time.perf_counter() - started
    cpu = time.process_time() - all_before
    busy_after = _busy_seconds()
    if busy_before is None or busy_after is None:
        other = None
    else:
        other = max(0.0, busy_after - busy_before - cpu) / wall
    if not caller_computes:
        cpu -= time.thread_time() - own_before
    return Round(cpu / repeats, wall / repeats, peak, other)


def _busy_seconds() -> float | None:
    """Processor time spent by the whole machine, and by its host in its stead, since the start."""
    try:
        line = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return None
    user, nice, system, _idle, _wait, interrupt, soft, steal = map(int, line.split()[1:9])
    ticks = user + nice + system + interrupt + soft + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_extra_bytes(call: Callable[[], None]) -> int | None:
    """How far the private memory of this process rises above its present size during ``call``.

    None where the kernel does not tell. Memory that libraries keep from earlier calls is not seen.
    """
    _return_free_memory()
    try:
        before = _status("RssAnon")
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets VmHWM
        call()
        return max(0, _status("VmHWM") - _status("RssFile") - _status("RssShmem") - before)
    except (OSError, KeyError):
        return None


def _return_free_memory() -> None:
    """Gives freed memory back to the system, so that using it again is seen; glibc only."""
    ffi = FFI()
    ffi.cdef("int malloc_trim(size_t pad);")
    trim = getattr(ffi.dlopen(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status(name: str) -> int:
    """A size in bytes of this process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    sizes = {line.partition(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
    return int(sizes[name]) * 1024
