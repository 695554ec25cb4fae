# SPDX-License-Identifier: Apache-2.0
"""Format, lint and types of the whole tree, but for what pyproject.toml exempts."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON_FOLDERS = ("python", "samples", "tests", "tools")
CPP_FOLDERS = (
    "base",
    "runtime",
    "sim",
    "op_host",
    "op_kernel",
    "aclnn_api",
    "bench",
    "cann",
    "samples",
    "tests",
)


def run(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def tool(name: str) -> Path:
    """A program that pip installed beside the interpreter."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        pytest.skip(f"{name} is missing: pip install '.[test]'")
    return path


def test_python_lint() -> None:
    run(tool("ruff"), "check", *PYTHON_FOLDERS)


def test_python_format() -> None:
    run(tool("ruff"), "format", "--check", *PYTHON_FOLDERS)


def test_python_types() -> None:
    run(tool("mypy"))


def test_cpp_format() -> None:
    files = [
        path
        for folder in CPP_FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".c", ".cpp")
    ]
    assert files
    run(tool("clang-format"), "--dry-run", "--Werror", *files)
