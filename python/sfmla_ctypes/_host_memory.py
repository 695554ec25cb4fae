# SPDX-License-Identifier: Apache-2.0
"""Makes NumPy memory accessible to tasks for the duration of a call, without copying it.

The runtime lets a task touch device memory and registered host memory only. A range of memory can
be registered once, while arrays of one call, or of calls in several threads, may share memory; the
registry here merges and counts them.

What is registered is the memory of the array that owns it, so that views of one array never have to
wait for each other, whatever their overlap.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import check
from ._layout import byte_span
from ._library import ffi, lib


@dataclass(eq=False)
class _Range:
    begin: int
    end: int
    users: int = 0

    def contains(self, other: "_Range") -> bool:
        return self.begin <= other.begin and other.end <= self.end

    def overlaps(self, other: "_Range") -> bool:
        return self.begin < other.end and other.begin < self.end


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Union of (begin, end) byte spans as disjoint spans in order; empty spans vanish."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def owned_span(array: NDArray[Any]) -> tuple[int, int]:
    """Bytes (begin, end) of the array and of the NumPy array that it is a view of."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    # `as_strided` may reach beyond its base.
    spans = merge_spans([byte_span(array), byte_span(owner)])
    return (spans[0][0], spans[-1][1]) if spans else (0, 0)


def _is_accessible(address: int) -> bool:
    """True for memory that somebody else made accessible, such as a view of a device array."""
    attributes = ffi.new("aclrtPtrAttributes *")
    check(
        "aclrtPointerGetAttributes",
        lib.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes),
    )
    return bool(attributes.location.type != lib.ACL_MEM_LOCATION_TYPE_UNREGISTERED)


class HostMemory:
    """Registered ranges of the process, with the number of calls that use each."""

    def __init__(self) -> None:
        self._ranges: list[_Range] = []
        self._changed = threading.Condition()

    @contextmanager
    def registered(self, arrays: Iterable[NDArray[Any]]) -> Iterator[None]:
        """Keeps the memory of NumPy arrays registered inside the `with` block.

        Waits while a call of another thread holds a range that overlaps this memory without
        containing it, as arrays of other packages can. Needs a context on this thread.
        """
        held: list[_Range] = []
        try:
            spans = merge_spans(owned_span(array) for array in arrays)
            self._acquire([_Range(*span) for span in spans], held)
            yield
        finally:
            self._release(held)

    def _acquire(self, wanted: list[_Range], held: list[_Range]) -> None:
        with self._changed:
            # All or nothing: a call that waits holds no range, so calls cannot block each other.
            self._changed.wait_for(lambda: not any(map(self._is_blocked, wanted)))
            for span in wanted:
                known = next((known for known in self._ranges if known.contains(span)), None)
                if known is None:
                    if _is_accessible(span.begin):
                        continue
                    _register(span)
                    self._ranges.append(known := span)
                known.users += 1
                held.append(known)

    def _is_blocked(self, span: _Range) -> bool:
        return any(known.overlaps(span) and not known.contains(span) for known in self._ranges)

    def _release(self, held: list[_Range]) -> None:
        with self._changed:
            for known in held:
                known.users -= 1
                if known.users == 0:
                    self._ranges.remove(known)
                    pointer = ffi.cast("void *", known.begin)
                    check("aclrtHostUnregister", lib.aclrtHostUnregister(pointer))
            self._changed.notify_all()


def _register(span: _Range) -> None:
    pointer = ffi.cast("void *", span.begin)
    code = lib.aclrtHostRegisterV2(pointer, span.end - span.begin, lib.ACL_HOST_REG_MAPPED)
    check("aclrtHostRegisterV2", code)


host_memory = HostMemory()
