# SPDX-License-Identifier: Apache-2.0
"""Makes NumPy memory accessible to tasks for the duration of a call, without copying it.

The runtime lets a task touch device memory and registered host memory only. A range of memory can
be registered once, while arrays of one call, or of calls in several threads, may share memory; the
registry here merges them and knows the calls that use each range.

What is registered is the memory of the array that owns it, so that views of one array never have to
wait for each other, whatever their overlap.
"""

import os
import threading
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import check, take_report
from ._layout import byte_span
from ._library import ffi, lib
from ._task import release_passed_everywhere

_POLL_SECONDS = 0.001


class _Range:
    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.users: list[Registration] = []

    def contains(self, other: "_Range") -> bool:
        return self.begin <= other.begin and other.end <= self.end

    def overlaps(self, other: "_Range") -> bool:
        return self.begin < other.end and other.begin < self.end

    def is_used(self) -> bool:
        return any(map(_is_open, tuple(self.users)))


def _is_open(registration: "Registration") -> bool:
    return registration.is_open


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
    while (base := _base_of(owner)) is not None:
        owner = base
    # `as_strided` may reach beyond its base.
    spans = merge_spans([byte_span(array), byte_span(owner)])
    return (spans[0][0], spans[-1][1]) if spans else (0, 0)


def _base_of(array: NDArray[Any]) -> NDArray[Any] | None:
    """The NumPy array that an array is a view of; `as_strided` puts an object in between."""
    base = array.base
    if not isinstance(base, np.ndarray):
        base = getattr(base, "base", None)
    return base if isinstance(base, np.ndarray) else None


def _is_accessible(address: int) -> bool:
    """True for memory that somebody else made accessible, such as a view of a device array."""
    attributes = ffi.new("aclrtPtrAttributes *")
    check(
        "aclrtPointerGetAttributes",
        lib.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes),
    )
    return bool(attributes.location.type != lib.ACL_MEM_LOCATION_TYPE_UNREGISTERED)


class HostMemory:
    """Registered ranges of the process, with the calls that use each.

    A range is registered while any of its users is open. One that is left over, because an
    interrupt came between, is removed by the next call.
    """

    def __init__(self) -> None:
        self._ranges: dict[int, _Range] = {}  # by begin
        self._lock = threading.RLock()

    def registered(self, arrays: Iterable[NDArray[Any]]) -> "Registration":
        """Of the memory of NumPy arrays, to be opened."""
        return Registration(self, [_Range(*span) for span in merge_spans(map(owned_span, arrays))])

    def try_to_open(self, registration: "Registration", wanted: list[_Range]) -> bool:
        """False while a range in use overlaps a wanted one without containing it."""
        with self._lock:
            self.remove_unused()
            if any(map(self._is_blocked, wanted)):
                return False
            # All or nothing: a call that waits holds no range, so calls cannot block each other.
            registration.is_open = True
            try:
                for span in wanted:
                    self._use(span, registration)
            except BaseException:
                registration.is_open = False
                raise
        return True

    def _is_blocked(self, span: _Range) -> bool:
        known_ranges = tuple(self._ranges.values())
        return any(known.overlaps(span) and not known.contains(span) for known in known_ranges)

    def _use(self, span: _Range, registration: "Registration") -> None:
        for known in tuple(self._ranges.values()):
            if known.contains(span):
                known.users = [*filter(_is_open, tuple(known.users)), registration]
                return
        if not _is_accessible(span.begin):
            span.users = [registration]
            self._ranges[span.begin] = span  # first: an interrupted registration is undone
            pointer = ffi.cast("void *", span.begin)
            code = lib.aclrtHostRegisterV2(pointer, span.end - span.begin, lib.ACL_HOST_REG_MAPPED)
            check("aclrtHostRegisterV2", code)

    def remove_unused(self) -> None:
        with self._lock:
            for begin, known in tuple(self._ranges.items()):
                if known.is_used():
                    continue
                code = lib.aclrtHostUnregister(ffi.cast("void *", begin))
                if code == lib.ACL_ERROR_HOST_MEMORY_NOT_REGISTERED:
                    take_report()  # an interrupt came before it was, or after it was undone
                else:
                    check("aclrtHostUnregister", code)
                self._ranges.pop(begin, None)

    def forget_users(self) -> None:
        """In a new process: the threads whose calls use the ranges do not exist in it."""
        self._lock = threading.RLock()
        for known in self._ranges.values():
            known.users.clear()


class Registration:
    """Memory of one call, registered from `open` to `close` or inside a `with` block."""

    def __init__(self, memory: HostMemory, ranges: list[_Range]) -> None:
        self.is_open = False
        self._memory = memory
        self._ranges = ranges

    def open(self) -> None:
        """Waits while a call of another thread holds a range that overlaps this memory without
        containing it, as arrays of other packages can. Needs a context on this thread.
        """
        while not self._memory.try_to_open(self, self._ranges):
            release_passed_everywhere()  # such as an interrupted call that nobody waits for
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """May be called more than once."""
        self.is_open = False
        if self._ranges:
            self._memory.remove_unused()

    def __enter__(self) -> "Registration":
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


host_memory = HostMemory()
os.register_at_fork(after_in_child=host_memory.forget_users)
