# SPDX-License-Identifier: Apache-2.0
"""Work that keeps a stream busy without the interpreter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cffi import FFI

from sfmla_ctypes import Stream
from sfmla_ctypes._library import ffi, lib

# Of its own: a declaration makes cffi forget what it has looked up for the package.
C_FFI = FFI()
C_FFI.cdef(
    """
    int usleep(unsigned int microseconds);
    int sem_init(void *semaphore, int shared, unsigned int value);
    int sem_wait(void *semaphore);
    int sem_post(void *semaphore);
    """
)
C_LIBRARY = C_FFI.dlopen(None)
_semaphores: list[Any] = []  # kept: who was woken may still read it


def _launch(stream: Stream, function: str, argument: Any) -> None:
    address = ffi.cast("void (*)(void *)", C_FFI.addressof(C_LIBRARY, function))
    assert lib.aclrtLaunchHostFunc(stream.handle, address, ffi.cast("void *", argument)) == 0


def keep_busy(stream: Stream, milliseconds: int = 200) -> None:
    """Queues a task that sleeps; for tests that hold however early or late it ends."""
    _launch(stream, "usleep", milliseconds * 1000)


@contextmanager
def held(stream: Stream) -> Iterator[None]:
    """Queues a task that ends with the block, however slow the machine is."""
    semaphore = C_FFI.new("long long[16]")  # sem_t has at most 32 bytes
    _semaphores.append(semaphore)
    assert C_LIBRARY.sem_init(semaphore, 0, 0) == 0
    _launch(stream, "sem_wait", semaphore)
    try:
        yield
    finally:
        assert C_LIBRARY.sem_post(semaphore) == 0
