# SPDX-License-Identifier: Apache-2.0
"""The misuse table: each row a C function that checks codes and words of one mistake."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import sfmla_ctypes

FOLDER = Path(__file__).parent
PREFIX = sfmla_ctypes.toolkit_path()
LIBRARIES = ["-lopapi_transformer", "-lascendcl", "-lnnopbase", "-lpthread"]
ROWS = range(1, 39)
LEAVES_EARLY = 37
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("misuse") / "misuse"
    warnings = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    sources = sorted(FOLDER.glob("*.c"))
    flags = [f"-I{PREFIX / 'include'}", f"-L{PREFIX / 'lib64'}", *LIBRARIES]
    command = ["cc", *warnings, *sources, *flags, "-o", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ
        | {"LD_LIBRARY_PATH": str(PREFIX / "lib64"), "SFMLA_DEVICE_MEMORY": "64M"}
        | environment,
    )


@pytest.mark.parametrize("check", ["on", "strict"])
@pytest.mark.parametrize("row", [row for row in ROWS if row != LEAVES_EARLY])
def test_row(program: Path, row: int, check: str) -> None:
    done = run(program, row, SFMLA_CHECK=check)
    assert done.returncode == 0, done.stderr
    warned = [line for line in done.stderr.splitlines() if line.startswith("sfmla: ")]
    # Row 38 reads what queued work is about to write, which strict mode notices.
    assert len(warned) == (1 if row == 38 and check == "strict" else 0), done.stderr
    assert all("aclrtMemsetAsync" in line and "stream" in line for line in warned)


def test_leaving_with_work_queued(program: Path) -> None:
    begin = time.monotonic()
    done = run(program, LEAVES_EARLY)
    assert done.returncode == 42, done.stderr
    assert not done.stderr
    assert time.monotonic() - begin < 10


def rows_but(*left_out: int) -> Sequence[int]:
    return [row for row in ROWS if row not in left_out]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_no_row_leaks(program: Path) -> None:
    leaks = ["--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]
    done = run("valgrind", *leaks, program, *rows_but(LEAVES_EARLY))
    assert done.returncode == 0, done.stderr[-6000:]


def test_all_rows_in_one_process(program: Path) -> None:
    done = run(program, *rows_but(LEAVES_EARLY))
    assert done.returncode == 0, done.stderr
