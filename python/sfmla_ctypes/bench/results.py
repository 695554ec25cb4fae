# SPDX-License-Identifier: Apache-2.0
"""What a campaign found, and the arithmetic from rounds to results.

Every result is a median over rounds, of ratios where two things are compared: of a rate to the
probe just before it, of the library to a peer in the same round, of one thread to two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from .timing import Round
from .workloads import Work

SCHEMA = 1
PRECISE = "-float32"  # ends the names of products that round nothing to 16 bits
QUIET_CORES = 0.15  # so much or more, used by others, disturbs a wall time


def is_disturbed(threads: int, other_cores: float | None) -> bool:
    """Whether others made a result meaningless: one thread is measured in processor time."""
    return threads > 1 and other_cores is not None and other_cores >= QUIET_CORES


@dataclass(frozen=True)
class Samples:
    """The rounds of one candidate of one call."""

    name: str
    threads: int
    work: Work
    rounds: tuple[Round, ...]
    error: float
    extra_bytes: int | None
    workspace_bytes: int | None = None

    def seconds(self) -> float:
        """Per call: processor time with one thread, which others cannot stretch; else wall time."""
        return median(_seconds(one, self.threads) for one in self.rounds)

    def fractions(self) -> list[float]:
        """Of the peak of as many cores as there are threads, by round."""
        return [
            self.work.flop / _seconds(one, self.threads) / (one.peak * self.threads)
            for one in self.rounds
        ]

    def other_cores(self) -> float | None:
        """Cores that the rest of the machine used."""
        known = [one.other_cores for one in self.rounds if one.other_cores is not None]
        return median(known) if known else None

    @property
    def is_disturbed(self) -> bool:
        return is_disturbed(self.threads, self.other_cores())


@dataclass(frozen=True)
class PeerResult:
    """A peer's candidate; ``ratio`` is how many times faster the library is.

    ``is_disturbed``: others disturbed the wall times of either, so that the ratio means nothing.
    """

    name: str
    seconds: float
    fraction_of_peak: float
    ratio: float
    error: float
    extra_bytes: int | None
    other_cores: float | None
    is_disturbed: bool

    @property
    def is_precise(self) -> bool:
        """Whether probabilities stay in float32, as they do in the library."""
        return self.name.split()[0].endswith(PRECISE)


@dataclass(frozen=True)
class Result:
    """One workload with one number of threads. ``peers``: fastest first, empty without.

    ``is_disturbed``: others disturbed the wall time. Such a result is not held against a target.
    """

    workload: str
    threads: int
    seconds: float
    gflop_per_second: float
    fraction_of_peak: float
    target_fraction: float | None
    flop: int
    kv_bytes: int
    moved_bytes: int
    kv_gigabytes_per_second: float
    extra_bytes: int | None
    workspace_bytes: int | None
    error: float
    other_cores: float | None
    is_disturbed: bool
    peers: tuple[PeerResult, ...]
    target_ratio: float | None

    @property
    def best_peer(self) -> PeerResult | None:
        return self.peers[0] if self.peers else None

    @property
    def precise_peer(self) -> PeerResult | None:
        """The best peer that computes in float32."""
        return next((peer for peer in self.peers if peer.is_precise), None)


@dataclass(frozen=True)
class Speedup:
    """Wall time of one thread over that of ``threads``, on the same call in turns.

    ``other_cores``: the rest of the machine beside the more disturbed of the two, busy processes
    included. ``is_disturbed``: it was more than these.
    """

    workload: str
    threads: int
    busy_processes: int  # others that were started to compete for the cores
    ratio: float
    target: float | None
    other_cores: float | None
    is_disturbed: bool


@dataclass(frozen=True)
class SweepPoint:
    """One point of a sweep; ``time_ratio`` is to the plain point, None where work differs.

    ``is_disturbed``: others disturbed its wall time or that of the plain point.
    """

    value: int
    seconds: float
    gflop_per_second: float
    fraction_of_peak: float
    time_ratio: float | None
    is_cliff: bool
    is_disturbed: bool


@dataclass(frozen=True)
class Sweep:
    """One size varied, all others fixed."""

    base: str
    axis: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True)
class Report:
    """Everything of one run; ``as_dict`` is what --json prints."""

    version: str
    processor: str
    instruction_set: str
    dtype: str
    rounds: int
    peers: Mapping[str, str | None]  # version; None: not installed
    peak_gflop_per_second: float  # of one core, median over all rounds
    read_gigabytes_per_second: float  # of one core, from memory
    call_overhead_seconds: float
    results: tuple[Result, ...] = ()
    speedups: tuple[Speedup, ...] = ()
    sweeps: tuple[Sweep, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"schema": SCHEMA, **asdict(self)}


def summarize(
    workload: str,
    own: Samples,
    peers: Sequence[Samples],
    target_fraction: float | None,
    target_ratio: float | None,
) -> Result:
    """The result of one workload from the rounds of the library and of peers, run in turns."""
    found = [_peer_result(own, peer) for peer in peers]
    seconds, fraction = own.seconds(), median(own.fractions())
    return Result(
        workload=workload,
        threads=own.threads,
        seconds=seconds,
        gflop_per_second=own.work.flop / seconds / 1e9,
        fraction_of_peak=fraction,
        target_fraction=target_fraction,
        flop=own.work.flop,
        kv_bytes=own.work.kv_bytes,
        moved_bytes=own.work.moved_bytes,
        kv_gigabytes_per_second=own.work.kv_bytes / seconds / 1e9,
        extra_bytes=own.extra_bytes,
        workspace_bytes=own.workspace_bytes,
        error=own.error,
        other_cores=own.other_cores(),
        is_disturbed=own.is_disturbed,
        peers=tuple(sorted(found, key=lambda peer: -peer.fraction_of_peak)),
        target_ratio=target_ratio,
    )


def speedup_of(
    workload: str, one: Samples, many: Samples, busy_processes: int, target: float | None
) -> Speedup:
    """Median ratio of wall times of the same rounds."""
    pairs = zip(one.rounds, many.rounds, strict=True)
    known = [cores for cores in (one.other_cores(), many.other_cores()) if cores is not None]
    others = max(known) if known else None
    return Speedup(
        workload=workload,
        threads=many.threads,
        busy_processes=busy_processes,
        ratio=median(single.wall_seconds / several.wall_seconds for single, several in pairs),
        target=target,
        other_cores=others,
        is_disturbed=others is not None and others - busy_processes >= QUIET_CORES,
    )


def _peer_result(own: Samples, peer: Samples) -> PeerResult:
    fractions = peer.fractions()
    pairs = zip(own.fractions(), fractions, strict=True)
    return PeerResult(
        name=peer.name,
        seconds=peer.seconds(),
        fraction_of_peak=median(fractions),
        ratio=median(ours / theirs for ours, theirs in pairs),
        error=peer.error,
        extra_bytes=peer.extra_bytes,
        other_cores=peer.other_cores(),
        is_disturbed=own.is_disturbed or peer.is_disturbed,
    )


def _seconds(one: Round, threads: int) -> float:
    return one.cpu_seconds if threads == 1 else one.wall_seconds
