# SPDX-License-Identifier: Apache-2.0
"""The parent's side of a worker process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any

from .probes import BenchError
from .timing import Round
from .workloads import Shape

THREAD_VARIABLES = (
    "SFMLA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)


class WorkerProcess:
    """One engine with one number of threads, in a process of its own until ``close``."""

    def __init__(self, engine: str, threads: int, environment: Mapping[str, str] = os.environ):
        self.engine = engine
        self.threads = threads
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sfmla_ctypes.bench.worker", engine],
            env={**environment, **dict.fromkeys(THREAD_VARIABLES, str(threads))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def describe(self) -> dict[str, str]:
        return self._ask(do="describe")

    def call_overhead(self) -> float:
        return float(self._ask(do="overhead")["seconds"])

    def read_rate(self) -> float:
        return float(self._ask(do="read_rate")["bytes_per_second"])

    def load(self, key: str, shape: Shape, dtype: str) -> dict[str, Any]:
        """Work and facts of the candidates, as the worker answers them."""
        return self._ask(do="load", key=key, shape=asdict(shape), dtype=dtype)

    def round(self, key: str, candidate: str) -> Round:
        return Round(**self._ask(do="round", key=key, candidate=candidate))

    def drop(self, key: str) -> None:
        self._ask(do="drop", key=key)

    def close(self) -> None:
        """End the process. Nothing is asked of it afterwards."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        name = f"worker {self.engine} with {self.threads} threads"
        if not line:
            raise BenchError(f"{name}: ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise BenchError(f"{name}: {answer['error']}")
        return answer
