# SPDX-License-Identifier: Apache-2.0
"""field_reports.md has a line for each test_bl_NN_..., and a test for each line."""

import re
from pathlib import Path

TESTS = Path(__file__).parent


def test_lines_and_tests_name_the_same_numbers() -> None:
    tested = {
        number
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^ *def (test_bl_\w+)", path.read_text("utf-8"), re.MULTILINE)
        for number in re.findall(r"bl_(\d\d)_", name)
    }
    text = (TESTS / "field_reports.md").read_text("utf-8")
    listed = re.findall(r"^\| (\d\d) \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
    assert sorted(listed) == sorted(tested)
    assert len(tested) > 60
