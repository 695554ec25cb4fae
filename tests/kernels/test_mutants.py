# SPDX-License-Identifier: Apache-2.0
"""Every seeded mistake in the Ascend C kernel is caught, by what mutants.py says.

SFMLA_TEST_MUTANTS=1 builds and runs the kernel tests once per mutant, which takes a while.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from mutants import MUTANTS, Mutant

from commands import SEARCH_PATH, attempt

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "kernel-mutants"
TREE = BUILD / "tree"


def restore_tree() -> None:
    """The kernels as they are; files that do not change keep their age, so builds stay short."""
    for source in sorted((ROOT / "op_kernel").rglob("*")):
        target = TREE / source.relative_to(ROOT)
        if source.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def build() -> subprocess.CompletedProcess[str]:
    return attempt("cmake", "--build", BUILD, "--target", "sfmla_kernel_tests")


@pytest.fixture(scope="module")
def configured() -> None:
    restore_tree()
    generator = ["-G", "Ninja"] if shutil.which("ninja", path=SEARCH_PATH) else []
    options = ["-DSFMLA_BUILD_TESTS=ON", f"-DSFMLA_KERNEL_ROOT={TREE}"]
    done = attempt("cmake", "-S", ROOT, "-B", BUILD, *generator, *options)
    assert done.returncode == 0, done.stderr
    done = build()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_names_one_place(mutant: Mutant) -> None:
    text = (ROOT / "op_kernel" / mutant.file).read_text()
    assert text.count(mutant.old) == 1
    assert mutant.old != mutant.new


def test_documentation_lists_all_mutants() -> None:
    text = (ROOT / "docs" / "emulator.md").read_text()
    table = text.split("<!-- mutants -->\n")[1].split("<!-- /mutants -->")[0]
    head = ["| mistake | in | caught by |", "| --- | --- | --- |"]
    assert table.splitlines() == head + [mutant.row for mutant in MUTANTS]


@pytest.mark.skipif(
    not os.environ.get("SFMLA_TEST_MUTANTS"), reason="takes long: set SFMLA_TEST_MUTANTS"
)
@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant: Mutant) -> None:
    restore_tree()
    path = TREE / "op_kernel" / mutant.file
    path.write_text(path.read_text().replace(mutant.old, mutant.new))
    done = build()
    if done.returncode == 0:
        done = attempt(BUILD / "tests" / "kernels" / "sfmla_kernel_tests", "--abort-after=1")
    assert done.returncode != 0, "nothing noticed"
    assert mutant.caught_by in done.stdout + done.stderr
