# SPDX-License-Identifier: Apache-2.0
"""Makes the oracle (tests/reference) and operator_calls (tests/python) importable everywhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS / "python")]


@pytest.fixture
def kernels_may_round_weights() -> Iterator[None]:
    """Comparisons allow for what this process's instruction set does with 16-bit types."""
    from reference.compare import as_on
    from sfmla_ctypes.bench.probes import instruction_set

    with as_on(instruction_set()):
        yield
