# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several files."""

from collections.abc import Iterator

import pytest

from sfmla_ctypes import Stream


@pytest.fixture
def stream() -> Iterator[Stream]:
    """A stream that no call uses by itself and that has no error at the end."""
    stream = Stream()
    yield stream
    stream.synchronize()
