# SPDX-License-Identifier: Apache-2.0
"""Runs the C++ unit tests of each variant; cpp_builds.py says which there are."""

import pytest

from commands import run
from cpp_builds import FIXED_ADDRESSES, VARIANTS, build


@pytest.mark.parametrize("variant", VARIANTS)
def test_unit_tests(variant: str) -> None:
    ctest = ["ctest", "--test-dir", build(variant), "--output-on-failure", "--no-tests=error"]
    run(*(FIXED_ADDRESSES if variant == "thread" else []), *ctest, seconds=1800)
