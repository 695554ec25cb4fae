# SPDX-License-Identifier: Apache-2.0
"""Runs cases on the emulated device, each set of settings in a process of its own; judges them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ascend910b_cases import DeviceCase

from reference.attention import attention
from reference.case_arrays import DTYPES
from reference.compare import (
    assert_lse_close,
    assert_output_close,
    assert_same_bits,
    rounded_weights,
)

WORKER = Path(__file__).with_name("ascend910b_worker.py")
Outputs = dict[str, Any]  # "out" as bits and "lse", or "fault"


def on_device(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"SFMLA_DEVICE": "ascend910b"} | environment
    return subprocess.run(
        [sys.executable, *command], env=variables, capture_output=True, text=True, check=False
    )


def run(cases: Sequence[DeviceCase], folder: Path, cores: int, seed: int) -> list[Outputs]:
    """What each case gives on so many cube cores under one schedule."""
    asked, file = folder / f"{cores}-{seed}.pickle", folder / f"{cores}-{seed}.npz"
    asked.write_bytes(pickle.dumps(list(cases)))
    settings = {"SFMLA_SIM_CORES": str(cores), "SFMLA_SIM_SEED": str(seed)}
    done = on_device(WORKER, asked, file, **settings)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(file) as found:
        names = ("out", "lse", "fault")
        return [
            {name: found[f"{name}{index}"] for name in names if f"{name}{index}" in found}
            for index in range(len(cases))
        ]


def assert_right(case: DeviceCase, found: Outputs) -> None:
    """Each row and head against the oracle; outputs were poisoned before the call."""
    assert "fault" not in found, str(found["fault"])
    expected, expected_lse = attention(case.call())
    if case.returns_lse:
        assert_lse_close(found["lse"], expected_lse)
    else:
        assert found["lse"].shape == ()
    dtype = case.case.dtype
    with rounded_weights(frozenset({dtype})):  # as cube cores need them
        assert_output_close(found["out"].view(DTYPES[dtype]), expected, expected_lse)


def assert_same(case: DeviceCase, found: Outputs, expected: Outputs) -> None:
    assert "fault" not in found, f"{case}: {found['fault']}"
    for name in ("out", "lse"):
        assert_same_bits(found[name], expected[name])
