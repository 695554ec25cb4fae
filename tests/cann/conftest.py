# SPDX-License-Identifier: Apache-2.0
"""The operator package, configured once against the stub toolkit."""

import shutil

import pytest
from operator_package import STUB_TOOLKIT, Call, Package, configure

from commands import SEARCH_PATH


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    if shutil.which("cmake", path=SEARCH_PATH) is None:
        pytest.skip("cmake is missing: pip install '.[test]'")
    build = tmp_path_factory.mktemp("cann")
    done = configure(build, STUB_TOOLKIT)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (build / "recorded_calls.txt").read_text().splitlines()
    words = [line.split("|") for line in lines]
    return Package(build, tuple(Call(line[0], tuple(line[1:])) for line in words))
