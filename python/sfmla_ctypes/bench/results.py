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


@dataclass(frozen=True)
class PeerResult:
    """A peer's candidate; ``ratio`` is how many times faster the library is."""

    name: str
    seconds: float
    fraction_of_peak: float
    ratio: float
    error: float
    extra_bytes: int | None

    @property
    def is_precise(self) -> bool:
        """Whether probabilities stay in float32; in the library the instruction set decides."""
        return self.name.split()[0].endswith(PRECISE)


@dataclass(frozen=True)
class Result:
    """One workload with one number of threads. ``peers``: fastest first, empty without."""

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
    peers: tuple[PeerResult, ...]
    target_ratio: float | None

    @property
    def ratio(self) -> float | None:
        """Times faster than the best peer."""
        return self.peers[0].ratio if self.peers else None

    @property
    def precise_ratio(self) -> float | None:
        """Times faster than the best peer that computes in float32."""
        return next((peer.ratio for peer in self.peers if peer.is_precise), None)


@dataclass(frozen=True)
class Speedup:
    """Wall time of one thread over that of ``threads``, on the same call in turns."""

    workload: str
    threads: int
    busy_processes: int  # others that were started to compete for the cores
    ratio: float
    target: float | None


@dataclass(frozen=True)
class SweepPoint:
    """One point of a sweep; ``time_ratio`` is to the plain point, None where work differs."""

    value: int
    seconds: float
    gflop_per_second: float
    fraction_of_peak: float
    time_ratio: float | None
    is_cliff: bool


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
        peers=tuple(sorted(found, key=lambda peer: -peer.fraction_of_peak)),
        target_ratio=target_ratio,
    )


def speedup_of(one: Samples, many: Samples) -> float:
    """Median ratio of wall times of the same rounds."""
    pairs = zip(one.rounds, many.rounds, strict=True)
    return median(single.wall_seconds / several.wall_seconds for single, several in pairs)


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
    )


def _seconds(one: Round, threads: int) -> float:
    return one.cpu_seconds if threads == 1 else one.wall_seconds
