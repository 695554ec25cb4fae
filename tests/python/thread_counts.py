# SPDX-License-Identifier: Apache-2.0
"""Runs a function of a test module in processes with other numbers of threads."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COUNTS = (1, 2, 7)


def digest(*arrays: Any) -> str:
    """One hash of all bits."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def answers(module: str, function: str) -> list[Any]:
    """What `function()` of a module in this folder returns with 1, 2 and 7 threads."""
    here = Path(__file__).parent
    program = (
        f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n"
        f"import json, {module}\nprint(json.dumps({module}.{function}()))"
    )
    return [json.loads(_run(program, threads)) for threads in COUNTS]


def _run(program: str, threads: int) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"SFMLA_NUM_THREADS": str(threads)},
    ).stdout
