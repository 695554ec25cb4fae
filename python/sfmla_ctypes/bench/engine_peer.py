# SPDX-License-Identifier: Apache-2.0
"""A peer as an engine: its ways to compute a call are tried, the fastest become candidates.

Names of products end in the type they are computed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from .checking import PEER_LIMIT, checked_error
from .engine import Candidate, Loaded
from .peer_slabs import Cut, PeerInputs, Slab, gathered, is_worth_sharing, peer_inputs, shared
from .results import PRECISE
from .timing import peak_extra_bytes
from .workloads import Shape, build, measure_work

GATHERED_TOKENS = (1, 4, 16)
SHARED_TOKENS = (8, 16, 32)
TRIED_TOKENS = 64  # spread over the call: enough to tell ways apart
HOPELESS = 3.0  # times the best rate so far: not tried to the end
CONTENDER = 1.25  # times the best rate: worth timing
MAX_CONTENDERS = 2

Bind = Callable[[Slab], Callable[[], None]]


class Peer(Protocol):
    """A library that computes slabs."""

    def tasks(self) -> Mapping[str, Bind]:
        """By name: from a slab to what computes it."""

    def output(self) -> NDArray[Any]:
        """What the tasks wrote: (tokens, heads, 512)."""


@dataclass(frozen=True)
class _Way:
    """A peer's product, and how the call is cut for it."""

    name: str
    bind: Bind
    cut: Cut
    tokens: int

    def title(self) -> str:
        return f"{self.name} {self.cut.__name__} {self.tokens}"


class PeerEngine:
    """``make_peer`` makes the peer of one call."""

    def __init__(
        self, make_peer: Callable[[PeerInputs], Peer], describe: Callable[[], dict[str, str]]
    ) -> None:
        self._make_peer = make_peer
        self.describe = describe

    def load(self, shape: Shape, dtype: str) -> Loaded:
        arguments = build(shape, dtype)
        inputs = peer_inputs(shape, arguments)
        peer = self._make_peer(inputs)
        candidates = {}
        for way in _fastest(inputs, _ways(inputs, peer)):
            call = _whole(inputs, way)
            extra = peak_extra_bytes(lambda call=call: call(1))  # type: ignore[misc]
            title = way.title()
            error = checked_error(title, shape, arguments, peer.output(), PEER_LIMIT[dtype])
            candidates[title] = Candidate(call, True, error, extra)
        return Loaded(measure_work(shape, arguments), candidates)


def _ways(inputs: PeerInputs, peer: Peer) -> list[_Way]:
    made = []
    for name, bind in peer.tasks().items():
        made += [_Way(name, bind, gathered, tokens) for tokens in GATHERED_TOKENS]
        made += [
            _Way(name, bind, shared, tokens)
            for tokens in SHARED_TOKENS
            if is_worth_sharing(inputs, tokens)
        ]
    return made


def _fastest(inputs: PeerInputs, ways: Sequence[_Way]) -> list[_Way]:
    best = float("inf")
    seconds = {}
    for way in ways:
        seconds[way] = _seconds_per_token(inputs, way, HOPELESS * best)
        best = min(best, seconds[way])
    ranked = sorted(ways, key=seconds.__getitem__)
    contenders = [way for way in ranked if seconds[way] <= CONTENDER * best][:MAX_CONTENDERS]
    # One that rounds nothing to 16 bits is timed, however slow.
    precise = next(way for way in ranked if way.name.endswith(PRECISE))
    return contenders if precise in contenders else [*contenders, precise]


def _seconds_per_token(inputs: PeerInputs, way: _Way, limit: float) -> float:
    """Of some slabs; it stops early when even that is beyond the limit."""
    slabs = list(way.cut(inputs, way.tokens))
    slabs = slabs[:: max(1, len(inputs.q) // TRIED_TOKENS)]
    way.bind(slabs[0])()  # the first call of a kind also pays for setting things up
    tokens, seconds = 0, 0.0
    for slab in slabs:
        task = way.bind(slab)
        started = time.perf_counter()
        task()
        seconds += time.perf_counter() - started
        tokens += slab.past_last - slab.first
        if seconds > limit * tokens:
            break
    return seconds / tokens


def _whole(inputs: PeerInputs, way: _Way) -> Callable[[int], None]:
    tasks = [way.bind(slab) for slab in way.cut(inputs, way.tokens)]

    def call(repeats: int) -> None:
        for _ in range(repeats):
            for task in tasks:
                task()

    return call
