# SPDX-License-Identifier: Apache-2.0
"""What a worker times: an engine loads a call and offers candidates, ways to compute it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from .timing import Round, timed_round
from .workloads import Shape, Work

ROUND_SECONDS = 0.08  # shorter rounds would measure the clock
MAX_REPEATS = 2048


@dataclass
class Candidate:
    """One way to compute a loaded call. ``call(n)`` computes it n times and waits for the last."""

    call: Callable[[int], None]
    caller_computes: bool
    error: float  # of the rows that were checked
    extra_bytes: int | None  # peak memory beyond inputs and output
    workspace_bytes: int | None = None  # the part of it that was announced before the call
    repeats: int = 0  # calls per round, chosen on the first

    def round(self) -> Round:
        if self.repeats == 0:
            self.repeats = self._choose_repeats()
            self.call(self.repeats)  # not timed: what is kept for so many calls is made here
        return timed_round(lambda: self.call(self.repeats), self.repeats, self.caller_computes)

    def _choose_repeats(self) -> int:
        self.call(1)  # the first makes what the others find
        started = time.perf_counter()
        self.call(1)
        seconds = time.perf_counter() - started
        return max(1, min(MAX_REPEATS, math.ceil(ROUND_SECONDS / seconds)))


@dataclass
class Loaded:
    """A call in memory, checked and ready to be timed."""

    work: Work
    candidates: Mapping[str, Candidate]


class Engine(Protocol):
    """Something that computes attention in this process."""

    def describe(self) -> dict[str, str]:
        """Version and, where it matters, the instruction set."""

    def load(self, shape: Shape, dtype: str) -> Loaded:
        """Make the arrays of a call and check every candidate on it."""
