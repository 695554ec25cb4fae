# SPDX-License-Identifier: Apache-2.0
"""The prefix that programs are built against, and running compilers and programs."""

import os
import subprocess
import sys
from pathlib import Path

import sfmla_ctypes

PREFIX = sfmla_ctypes.toolkit_path()
LIB = PREFIX / "lib64"
VENDOR = PREFIX / "opp" / "vendors" / "sfmla" / "op_api"
# Programs that pip installed lie next to the interpreter, whether or not its folder is on the path.
SEARCH_PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def run(*command: str | Path, folder: Path | None = None, **environment: str) -> str:
    """Standard output of a command, after it succeeded."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PATH": SEARCH_PATH} | environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
