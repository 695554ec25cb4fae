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
    """Comparisons allow for what the kernels of this process do with bfloat16."""
    from reference.compare import rounded_weights
    from sfmla_ctypes.bench.probes import rounds_weights

    types = frozenset(dtype for dtype in ("bfloat16", "float16") if rounds_weights(dtype))
    with rounded_weights(types):
        yield
