# SPDX-License-Identifier: Apache-2.0
"""Memory stays flat in the course of 10,000 calls, in C and in Python.

Compared is what it is after 1,000 calls with what it is after 10,000. One block lost per call would
be 140 KiB of the heap or more. Resident memory also depends on how many threads lived at once.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import sfmla_ctypes

MAX_ALLOCATED_KIB = 64
MAX_RESIDENT_KIB = 1024
PROGRAM = sfmla_ctypes.toolkit_path() / "bin" / "sfmla_runtime_bench"

PYTHON_CALLS = """
import numpy as np
import sfmla_ctypes as sfmla
from sfmla_ctypes import DeviceArray, Event, Stream

def resident_kib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

def one_call():
    ones = DeviceArray.from_numpy(np.ones((1, 2, 8, 512), np.float16))
    with Stream() as stream:
        words = sfmla.sparse_flash_mla_metadata(
            8, 1, 512, batch_size=1, max_seqlen_q=2, max_seqlen_ori_kv=2, has_cmp_kv=False
        )
        out, _ = sfmla.sparse_flash_mla(
            ones,
            ori_kv=ones[:, :, :1],
            sinks=DeviceArray.from_numpy(np.full(8, -np.inf, np.float32)),
            metadata=words,
        )
        Event().record(stream)
        assert (out.numpy() == 1).all()  # a mean of ones

for calls in range(1, 10001):
    one_call()
    if calls in (1000, 10000):
        print(f"| {calls} | {resident_kib()} |")
"""


def growth(*command: str | Path) -> list[int]:
    """Between the rows of 1,000 and 10,000 calls of the table that the command prints."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )
    assert done.returncode == 0, done.stderr
    early, late = (
        [int(cell) for cell in row.split("|")]
        for row in re.findall(r"^\| (?:1000|10000) \| (.*) \|$", done.stdout, re.MULTILINE)
    )
    return [after - before for before, after in zip(early, late, strict=True)]


def test_c_interface() -> None:
    resident, allocated = growth(PROGRAM, "soak")
    assert allocated < MAX_ALLOCATED_KIB
    assert resident < MAX_RESIDENT_KIB


def test_python() -> None:
    (resident,) = growth(sys.executable, "-c", PYTHON_CALLS)
    assert resident < MAX_RESIDENT_KIB
