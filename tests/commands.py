# SPDX-License-Identifier: Apache-2.0
"""Running compilers, builds and programs."""

import os
import subprocess
import sys
from pathlib import Path

# Programs that pip installed lie next to the interpreter, whether or not its folder is on the path.
SEARCH_PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def attempt(
    *command: str | Path, folder: Path | None = None, seconds: int = 1800, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command that may fail."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=os.environ | {"PATH": SEARCH_PATH} | environment,
    )


def run(
    *command: str | Path, folder: Path | None = None, seconds: int = 300, **environment: str
) -> str:
    """Standard output of a command, after it succeeded."""
    done = attempt(*command, folder=folder, seconds=seconds, **environment)
    assert done.returncode == 0, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"
    return done.stdout
