# SPDX-License-Identifier: Apache-2.0
"""Makes the oracle (tests/reference) and operator_calls (tests/python) importable everywhere."""

import sys
from pathlib import Path

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS / "python")]
