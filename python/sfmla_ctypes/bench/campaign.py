# SPDX-License-Identifier: Apache-2.0
"""A run: workers in turns over the workloads, so that what is compared shares its minutes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from .client import WorkerProcess
from .engine_sfmla import NAME
from .results import QUIET_CORES, Report, Result, Samples, Speedup, Sweep, speedup_of, summarize
from .sweeps import AXES, Axis, summarize_sweep
from .timing import Round
from .workloads import WORKLOADS, Shape, Work, Workload

PEERS = ("numpy", "torch")
QUIET_TRIES = 3
QUIET_SECONDS = 1.0  # no further try after so long
SETTLE_SECONDS = 0.02  # threads of some peers spin for a while after their work
BUSY_WORKLOAD = "decode-CSA"
BUSY_TARGET = 1.2  # speedup of two threads beside one busy process

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to measure."""

    workloads: Sequence[str]
    threads: Sequence[int]
    dtype: str
    rounds: int
    with_peers: bool
    with_sweep: bool


def peer_versions() -> dict[str, str | None]:
    """Installed versions of the peers; None where one is not installed."""
    found: dict[str, str | None] = {}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def run(plan: Plan, progress: Progress) -> Report:
    """Measure everything in the plan. Raises BenchError when a worker fails or is wrong."""
    peers = peer_versions() if plan.with_peers else {}
    with ExitStack() as stack:
        crew = _Crew(plan, [name for name, found in peers.items() if found], stack)
        report = _facts(plan, crew, peers)
        for name in plan.workloads:
            crew.measure_workload(name, progress)
        if set(plan.threads) >= {1, 2} and BUSY_WORKLOAD in plan.workloads:
            crew.measure_busy(progress)
        if plan.with_sweep:
            crew.measure_sweeps(progress)
    return replace(
        report,
        peak_gflop_per_second=median(crew.peaks) / 1e9 if crew.peaks else 0.0,
        results=tuple(crew.results),
        speedups=tuple(crew.speedups),
        sweeps=tuple(crew.sweeps),
    )


def _facts(plan: Plan, crew: _Crew, peers: Mapping[str, str | None]) -> Report:
    first = crew.own[plan.threads[0]]
    described = first.describe()
    return Report(
        version=described["version"],
        processor=_processor(),
        instruction_set=described["instruction_set"],
        dtype=plan.dtype,
        rounds=plan.rounds,
        peers=peers,
        peak_gflop_per_second=0.0,
        read_gigabytes_per_second=first.read_rate() / 1e9,
        call_overhead_seconds=first.call_overhead(),
    )


def _processor() -> str:
    """As the kernel names it; the architecture where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


class _Crew:
    """The workers of a run and what they found."""

    def __init__(self, plan: Plan, peers: Sequence[str], stack: ExitStack) -> None:
        self._plan = plan
        self.own = {
            threads: stack.enter_context(WorkerProcess(NAME, threads)) for threads in plan.threads
        }
        self._peers = [
            stack.enter_context(WorkerProcess(name, threads))
            for name in peers
            for threads in plan.threads
        ]
        self.peaks: list[float] = []
        self.results: list[Result] = []
        self.speedups: list[Speedup] = []
        self.sweeps: list[Sweep] = []

    def measure_workload(self, name: str, progress: Progress) -> None:
        workload = WORKLOADS[name]
        progress(f"{name}: arrays, and a check of every candidate")
        workers = [*self.own.values(), *(self._peers if workload.has_peers else [])]
        samples = self._in_turns(name, workers, workload.shape, progress)
        own = {one.threads: one for one in samples if one.name == NAME}
        for threads, ours in own.items():
            others = [one for one in samples if one.threads == threads and one.name != NAME]
            self.results.append(_result(name, workload, ours, others))
        self._add_speedups(name, own, 0, workload.speedup)

    def measure_busy(self, progress: Progress) -> None:
        """One thread against two while another process keeps a core busy."""
        with _busy_process():
            workers = [self.own[1], self.own[2]]
            shape = WORKLOADS[BUSY_WORKLOAD].shape
            samples = self._in_turns(f"{BUSY_WORKLOAD} busy", workers, shape, progress, tries=1)
        own = {one.threads: one for one in samples}
        self._add_speedups(BUSY_WORKLOAD, own, 1, BUSY_TARGET)

    def measure_sweeps(self, progress: Progress) -> None:
        worker = self.own[self._plan.threads[0]]
        for index, axis in enumerate(AXES, start=1):
            progress(f"sweep {index} of {len(AXES)}: {axis.name} of {axis.base}")
            self.sweeps.append(summarize_sweep(axis, self._along(axis, worker)))

    def _in_turns(
        self,
        key: str,
        workers: Sequence[WorkerProcess],
        shape: Shape,
        progress: Progress,
        tries: int = QUIET_TRIES,
    ) -> list[Samples]:
        lines: list[_Line] = []
        for worker in workers:
            lines += _load(worker, key, shape, self._plan.dtype)
        for number in range(self._plan.rounds):
            progress(f"{key}: round {number + 1} of {self._plan.rounds}")
            for line in lines:
                line.rounds.append(_quiet_round(line, key, tries if self._needs_wall(line) else 1))
        for worker in workers:
            worker.drop(key)
        self.peaks += [one.peak for line in lines for one in line.rounds]
        return [line.samples() for line in lines]

    def _needs_wall(self, line: _Line) -> bool:
        """Whether a wall time counts: of several threads, or of the one they are compared with."""
        return line.worker.threads > 1 or (line.name == NAME and len(self._plan.threads) > 1)

    def _along(self, axis: Axis, worker: WorkerProcess) -> dict[int, Samples]:
        lines = {
            value: _load(worker, str(value), shape, self._plan.dtype)[0]
            for value, shape in axis.shapes().items()
        }
        for _ in range(self._plan.rounds):
            for value, line in lines.items():
                tries = QUIET_TRIES if worker.threads > 1 else 1
                line.rounds.append(_quiet_round(line, str(value), tries))
        for value, line in lines.items():
            worker.drop(str(value))
            self.peaks += [one.peak for one in line.rounds]
        return {value: line.samples() for value, line in lines.items()}

    def _add_speedups(
        self, name: str, own: Mapping[int, Samples], busy: int, target: float | None
    ) -> None:
        for threads, samples in own.items():
            if threads > 1 and 1 in own:
                aim = target if threads == 2 else None
                self.speedups.append(speedup_of(name, own[1], samples, busy, aim))


@dataclass
class _Line:
    """A candidate of a worker and its rounds so far."""

    worker: WorkerProcess
    name: str
    work: Work
    error: float
    extra_bytes: int | None
    workspace_bytes: int | None
    rounds: list[Round]

    def samples(self) -> Samples:
        return Samples(
            name=self.name,
            threads=self.worker.threads,
            work=self.work,
            rounds=tuple(self.rounds),
            error=self.error,
            extra_bytes=self.extra_bytes,
            workspace_bytes=self.workspace_bytes,
        )


def _load(worker: WorkerProcess, key: str, shape: Shape, dtype: str) -> list[_Line]:
    answer = worker.load(key, shape, dtype)
    work = Work(**answer["work"])
    return [
        _Line(worker, name, work, rounds=[], **facts)
        for name, facts in answer["candidates"].items()
    ]


def _quiet_round(line: _Line, key: str, tries: int) -> Round:
    """The least disturbed round of a few tries, the first quiet one at once."""
    best: Round | None = None
    started = time.monotonic()
    for _ in range(tries):
        time.sleep(SETTLE_SECONDS)
        found = line.worker.round(key, line.name)
        if best is None or (found.other_cores or 0.0) < (best.other_cores or 0.0):
            best = found
        is_quiet = (best.other_cores or 0.0) < QUIET_CORES
        if is_quiet or time.monotonic() - started > QUIET_SECONDS:
            break
    assert best is not None
    return best


def _result(name: str, workload: Workload, own: Samples, others: Sequence[Samples]) -> Result:
    ratios = workload.peer_ratios or {}
    return summarize(name, own, others, workload.peak_fraction, ratios.get(own.threads))


@contextmanager
def _busy_process() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"], env=dict(os.environ))
    try:
        yield
    finally:
        process.kill()
        process.wait()
