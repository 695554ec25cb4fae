# SPDX-License-Identifier: Apache-2.0
"""docs/reference is what tools/gen_reference.py makes of the headers, and misses no function."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "tools" / "gen_reference.py"
PAGES = ROOT / "docs" / "reference"
LISTS = [*(ROOT / "runtime").glob("exports_*.txt"), *(ROOT / "aclnn_api").glob("exports_*.txt")]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_pages_are_fresh(tmp_path: Path) -> None:
    subprocess.run([sys.executable, GENERATOR, "-o", tmp_path], check=True)
    assert contents(PAGES) == contents(tmp_path), "stale: run tools/gen_reference.py"


def test_every_exported_function_has_its_place() -> None:
    exported = {name for path in LISTS for name in path.read_text("utf-8").split()}
    anchors = re.findall(r'<a id="(\w+)">', "".join(contents(PAGES).values()))
    assert len(anchors) == len(set(anchors))
    assert set(anchors) == exported
