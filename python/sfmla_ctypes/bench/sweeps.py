# SPDX-License-Identifier: Apache-2.0
"""One size varied at a time: speed must not depend on a shape being a favourite one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from .results import Samples, Sweep, SweepPoint
from .workloads import CSA, HCA, Shape

CLIFF = 0.5  # of the mean of the neighbours
NOISE = 1.1  # times as long is as long
PLAIN_LIMIT = 1.10  # times the plain case, where only the memory layout differs


@dataclass(frozen=True)
class Axis:
    """Values of one field of ``base``, ascending; ``plain`` is the value all are compared with."""

    name: str
    base: str
    values: tuple[int, ...]
    plain: int | None = None  # None: the values differ in work

    def shapes(self) -> dict[int, Shape]:
        """The shape of every value."""
        base = BASES[self.base]
        changes: dict[int, dict[str, Any]] = {value: {self.name: value} for value in self.values}
        return {value: replace(base, **change) for value, change in changes.items()}


BASES: Mapping[str, Shape] = {
    "SWA": Shape(8, 1, 8192),
    "CSA": Shape(4, 1, 8192, topk=512, cmp_ratio=CSA),
    "HCA": Shape(4, 1, 32768, cmp_ratio=HCA),
}

HEADS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def _doubled(first: int, last: int) -> tuple[int, ...]:
    return tuple(1 << power for power in range(first.bit_length() - 1, last.bit_length()))


AXES: Sequence[Axis] = (
    *(Axis("heads", base, HEADS) for base in BASES),
    *(Axis("batch", base, BATCHES) for base in BASES),
    *(Axis("query_tokens", base, _doubled(1, 128)) for base in BASES),
    Axis("kv_tokens", "SWA", _doubled(1, 1024)),
    Axis("kv_tokens", "CSA", _doubled(1, 131072)),
    Axis("kv_tokens", "HCA", _doubled(1, 1 << 20)),
    Axis("topk", "CSA", _doubled(1, 2048)),
    *(Axis("page_tokens", base, _doubled(1, 1024), plain=128) for base in BASES),
    *(Axis("table_factor", base, (1, 2, 4, 16), plain=1) for base in BASES),
    *(Axis("page_stride_factor", base, (1, 2, 3), plain=1) for base in BASES),
)


def summarize_sweep(axis: Axis, samples: Mapping[int, Samples]) -> Sweep:
    """The points of an axis from rounds that went over all of them in turns.

    A point whose time, or that of a neighbour, others disturbed is no cliff.
    """
    values, plain = list(axis.values), axis.plain
    fractions = [median(samples[value].fractions()) for value in values]
    seconds = [samples[value].seconds() for value in values]
    disturbed = [samples[value].is_disturbed for value in values]
    cliffs = find_cliffs(fractions, seconds)
    points = [
        SweepPoint(
            value=value,
            seconds=seconds[index],
            gflop_per_second=samples[value].work.flop / seconds[index] / 1e9,
            fraction_of_peak=fractions[index],
            time_ratio=_time_ratio(axis, samples, value),
            is_cliff=cliffs[index] and not any(disturbed[max(0, index - 1) : index + 2]),
            is_disturbed=disturbed[index] or (plain is not None and samples[plain].is_disturbed),
        )
        for index, value in enumerate(values)
    ]
    return Sweep(axis.base, axis.name, tuple(points))


def find_cliffs(fractions: Sequence[float], seconds: Sequence[float]) -> list[bool]:
    """Which points are below half of the mean of their neighbours.

    A point that takes no longer than its next is none: at a floor of time, half of the work is half
    of the rate.
    """
    cliffs = []
    for index, fraction in enumerate(fractions):
        around = [*fractions[max(0, index - 1) : index], *fractions[index + 1 : index + 2]]
        is_low = bool(around) and fraction < CLIFF * sum(around) / len(around)
        at_floor = any(seconds[index] <= NOISE * later for later in seconds[index + 1 : index + 2])
        cliffs.append(is_low and not at_floor)
    return cliffs


def _time_ratio(axis: Axis, samples: Mapping[int, Samples], value: int) -> float | None:
    if axis.plain is None:
        return None
    pairs = zip(samples[value].fractions(), samples[axis.plain].fractions(), strict=True)
    return median(plain / varied for varied, plain in pairs)
