# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several files."""

from collections.abc import Iterator

import pytest

from sfmla_ctypes import Stream


@pytest.fixture(autouse=True)
def limits_of_this_processor(kernels_may_round_weights: None) -> None:
    """All comparisons of this folder are with what its kernels compute."""


@pytest.fixture
def stream() -> Iterator[Stream]:
    """A stream that no call uses by itself and that has no error at the end."""
    stream = Stream()
    yield stream
    stream.synchronize()
