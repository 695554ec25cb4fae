# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ unit tests in build/cpp-tests-VARIANT and runs them.

SFMLA_TEST_VARIANTS=clang,address,thread,aarch64 adds a build with that compiler, with these
sanitizers and assertions, and a cross build whose kernel tests run under qemu-user.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WITH_ASSERTIONS = ["-DCMAKE_C_FLAGS_RELEASE=-O2", "-DCMAKE_CXX_FLAGS_RELEASE=-O2"]
CMAKE_OPTIONS = {
    "plain": [],
    "clang": ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"],
    "address": ["-DSFMLA_SANITIZE=address,undefined", *WITH_ASSERTIONS],
    "thread": ["-DSFMLA_SANITIZE=thread", *WITH_ASSERTIONS],
    "aarch64": [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64-linux-gnu.cmake"],
}
VARIANTS = ["plain", *filter(None, os.environ.get("SFMLA_TEST_VARIANTS", "").split(","))]


# Programs that pip installed lie next to the interpreter, whether or not its folder is on the path.
SEARCH_PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


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


def run(*command: str | Path, seconds: int) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=os.environ | {"PATH": SEARCH_PATH},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"


def build_and_test(variant: str) -> None:
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
    # ThreadSanitizer needs the memory layout of a process without address randomization.
    fixed_addresses = ["setarch", "-R"] if variant == "thread" and shutil.which("setarch") else []
    ctest = ["ctest", "--test-dir", str(folder), "--output-on-failure", "--no-tests=error"]
    run(*fixed_addresses, *ctest, seconds=1800)


@pytest.mark.skipif(not has_doctest(), reason="doctest is missing: apt install doctest-dev")
@pytest.mark.parametrize("variant", VARIANTS)
def test_unit_tests(variant: str) -> None:
    assert variant in CMAKE_OPTIONS
    build_and_test(variant)
