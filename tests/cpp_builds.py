# SPDX-License-Identifier: Apache-2.0
"""The C++ tests and their variants, built once a session in build/cpp-tests-VARIANT.

SFMLA_TEST_VARIANTS=clang,address,thread,amx,aarch64 adds a build with that compiler, with these
sanitizers and assertions, with AMX in software, and a cross build that runs under qemu-user.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from commands import SEARCH_PATH, run

ROOT = Path(__file__).parents[1]
WITH_ASSERTIONS = ["-DCMAKE_C_FLAGS_RELEASE=-O2", "-DCMAKE_CXX_FLAGS_RELEASE=-O2"]
AMX_IN_SOFTWARE = ["-DSFMLA_AMX_IN_SOFTWARE=ON"]
CMAKE_OPTIONS = {
    "plain": [],
    "clang": ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"],
    "address": ["-DSFMLA_SANITIZE=address,undefined", *AMX_IN_SOFTWARE, *WITH_ASSERTIONS],
    "thread": ["-DSFMLA_SANITIZE=thread", *AMX_IN_SOFTWARE, *WITH_ASSERTIONS],
    "amx": AMX_IN_SOFTWARE,
    "aarch64": [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64-linux-gnu.cmake"],
}
VARIANTS = ["plain", *filter(None, os.environ.get("SFMLA_TEST_VARIANTS", "").split(","))]

# ThreadSanitizer needs the memory layout of a process without address randomization.
FIXED_ADDRESSES = ["setarch", "-R"] if shutil.which("setarch") else []


@cache
def has_doctest() -> bool:
    compiler = shutil.which("c++")
    return (
        compiler is not None
        and subprocess.run(
            [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
            input="#include <doctest/doctest.h>\n",
            text=True,
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )


@cache
def build(variant: str) -> Path:
    """The folder of a variant, up to date. Skips the test without doctest."""
    assert variant in CMAKE_OPTIONS
    if not has_doctest():
        pytest.skip("doctest is missing: apt install doctest-dev")
    folder = ROOT / "build" / f"cpp-tests-{variant}"
    generator = ["-G", "Ninja"] if shutil.which("ninja", path=SEARCH_PATH) else []
    run(
        "cmake",
        "-S",
        ROOT,
        "-B",
        folder,
        *generator,
        "-DSFMLA_BUILD_TESTS=ON",
        "-DSFMLA_WARNINGS_AS_ERRORS=ON",
        *CMAKE_OPTIONS[variant],
        seconds=300,
    )
    run("cmake", "--build", folder, "--parallel", str(len(os.sched_getaffinity(0))), seconds=3000)
    return folder
