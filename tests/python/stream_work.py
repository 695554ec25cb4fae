# SPDX-License-Identifier: Apache-2.0
"""Work that keeps a stream busy without the interpreter."""

from sfmla_ctypes import Stream
from sfmla_ctypes._library import ffi, lib

ffi.cdef("int usleep(unsigned int microseconds);", override=True)
C_LIBRARY = ffi.dlopen(None)


def keep_busy(stream: Stream, milliseconds: int = 200) -> None:
    """Queues a task that sleeps."""
    function = ffi.cast("void (*)(void *)", ffi.addressof(C_LIBRARY, "usleep"))
    microseconds = ffi.cast("void *", milliseconds * 1000)
    assert lib.aclrtLaunchHostFunc(stream.handle, function, microseconds) == 0
