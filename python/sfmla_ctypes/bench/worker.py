# SPDX-License-Identifier: Apache-2.0
"""A process that times one engine: ``python -m sfmla_ctypes.bench.worker ENGINE``.

It reads requests and writes answers, one JSON object per line, on standard input and output:

    {"do": "describe"}                                -> versions and instruction sets
    {"do": "overhead"}                                -> {"seconds": per queued call}
    {"do": "read_rate"}                               -> {"bytes_per_second": of one core}
    {"do": "load", "key": K, "shape": S, "dtype": T}  -> {"work": W, "candidates": {name: facts}}
    {"do": "round", "key": K, "candidate": name}      -> one Round
    {"do": "drop", "key": K}                          -> {}

An answer {"error": sentence} means that the request failed. The process ends with its input.
Threads are fixed per process, so each number of threads has workers of its own.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from .. import AclError
from .engine import Engine, Loaded
from .engine_peer import PeerEngine
from .engine_sfmla import SfmlaEngine, call_overhead
from .probes import BenchError, read_rate
from .workloads import Shape


def make_engine(name: str) -> Engine:
    """The engine of that name, with its library imported."""
    if name == "sfmla":
        return SfmlaEngine()
    if name == "numpy":
        from .peer_numpy import NumpyPeer

        return PeerEngine(NumpyPeer, NumpyPeer.describe)
    from .peer_torch import TorchPeer

    return PeerEngine(TorchPeer, TorchPeer.describe)


class Worker:
    """Answers requests; holds the loaded calls by key."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loaded: dict[str, Loaded] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, an error sentence included."""
        try:
            found: dict[str, Any] = getattr(self, f"_{request.pop('do')}")(**request)
        except (AclError, BenchError, MemoryError) as error:
            return {"error": str(error)}
        return found

    def _describe(self) -> dict[str, Any]:
        return {**self._engine.describe()}

    def _overhead(self) -> dict[str, Any]:
        return {"seconds": call_overhead()}

    def _read_rate(self) -> dict[str, Any]:
        return {"bytes_per_second": read_rate()}

    def _load(self, key: str, shape: dict[str, Any], dtype: str) -> dict[str, Any]:
        loaded = self._loaded[key] = self._engine.load(Shape(**shape), dtype)
        facts = {
            name: {
                "error": candidate.error,
                "extra_bytes": candidate.extra_bytes,
                "workspace_bytes": candidate.workspace_bytes,
            }
            for name, candidate in loaded.candidates.items()
        }
        return {"work": asdict(loaded.work), "candidates": facts}

    def _round(self, key: str, candidate: str) -> dict[str, Any]:
        return asdict(self._loaded[key].candidates[candidate].round())

    def _drop(self, key: str) -> dict[str, Any]:
        del self._loaded[key]
        return {}


def main() -> None:
    """Serve until the input ends."""
    # Libraries may print: only answers go to the standard output that the parent reads.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(make_engine(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
