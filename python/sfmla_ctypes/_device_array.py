# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory."""

import math
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._capture import Use, capture_of, is_capturing
from ._context import ensure_context, setting
from ._dlpack import CPU, export_array
from ._dtypes import acl_type
from ._errors import AclRuntimeError, check, refuse
from ._layout import Layout, Shape, byte_span, extents_of, layout_of
from ._library import ffi, lib
from ._numpy_arguments import host_array
from ._single import Single
from ._stream import Stream, chosen_stream
from ._task import Task


class _Write:
    """A task that writes the bytes [begin, end)."""

    def __init__(self, begin: int, end: int, task: Task) -> None:
        self.begin = begin
        self.end = end
        self.task = task

    def overlaps(self, begin: int, end: int) -> bool:
        return self.begin < end and begin < self.end


class DeviceMemory(Single):
    """One allocation, released when the last array or queued task that uses it is gone."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.address = 0
        # Those whose end is unknown or bad. A set changes and is copied without running Python.
        self._writes: set[_Write] = set()
        if nbytes == 0:
            return
        ensure_context()
        holder = ffi.new("void **")
        weakref.finalize(self, _free, holder).atexit = False
        check("aclrtMalloc", lib.aclrtMalloc(holder, nbytes, lib.ACL_MEM_MALLOC_HUGE_FIRST))
        self.address = int(ffi.cast("uintptr_t", holder[0]))

    def as_bytes(self) -> NDArray[np.uint8]:
        """NumPy view that keeps this object alive. Making it, or views of it, reads nothing."""
        return np.asarray(self) if self.nbytes > 0 else np.empty(0, np.uint8)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "data": (self.address, False),
            "shape": (self.nbytes,),
            "typestr": "|u1",
        }

    @property
    def is_being_written(self) -> bool:
        """False when every write is known to be good."""
        return len(self._writes) > 0

    def wait_on_host(self, begin: int, end: int) -> None:
        """Waits for the tasks that write the bytes and raises their failure."""
        for write in self._writes_of(begin, end):
            write.task.wait()

    def is_read_by(self, task: Task, stream: Stream, begin: int, end: int) -> None:
        """Orders a task behind those that write the bytes; raises a failure that is known.

        A recorded task leaves both to the replays, except for tasks beside it in the capture.
        """
        capture = task.capture
        for write in self._writes_of(begin, end):
            for state in tuple(write.task.streams):
                if capture is None:
                    state.follow(task)
                stream.follow(state)
            if capture is None and write.task.failure is not None:
                write.task.failure.throw()
        if capture is not None:
            capture.uses.append(Use(self, begin, end, is_write=False))

    def is_written_by(self, task: Task, stream: Stream, begin: int, end: int) -> None:
        """Orders a task behind others that write the bytes, and remembers it."""
        for write in self._writes_of(begin, end):
            for state in tuple(write.task.streams):
                stream.follow(state)
        self._writes.add(_Write(begin, end, task))
        if task.capture is not None:
            task.capture.uses.append(Use(self, begin, end, is_write=True))

    def was_queued(self, task: Task) -> None:
        """Forgets writes that the task, being queued now, covers; a recorded one covers nothing."""
        for new in tuple(self._writes):
            if new.task is not task or task.capture is not None:
                continue
            for write in self._writes_of(new.begin, new.end):
                is_covered = new.begin <= write.begin and write.end <= new.end
                if is_covered and write.task is not task:
                    self._writes.discard(write)

    def _writes_of(self, begin: int, end: int) -> list[_Write]:
        for write in tuple(self._writes):
            if write.task.is_good:
                self._writes.discard(write)
        return [write for write in tuple(self._writes) if write.overlaps(begin, end)]


def _free(holder: Any) -> None:
    if holder[0] != ffi.NULL:
        lib.aclrtFree(holder[0])


class DeviceArray(Single):
    """An array of any shape and strides in device memory.

    Made by `empty`, `zeros` and `from_numpy`, and returned by calls whose arrays are DeviceArrays.
    Views made by indexing and `reshape` share memory. Memory is released when no array and no
    queued task uses it.

    Reading (`numpy`, `__dlpack__`, NumPy functions) waits for the stream that last wrote the array.
    A call on another stream waits for that stream without holding the host. Overwriting
    (`copy_from`, `out=`) an array that a task on *another* stream may still read is the caller's to
    order, with `Stream.wait` or `Stream.synchronize`.

    Reading raises the error (AclDeviceError) of the call that wrote what is read, each time, until
    another call overwrites it; using it as input of a call raises it once it is known. The error of
    a call beside it on the stream counts too where the two cannot be told apart: see Stream. After
    `os.fork` an array stays readable in the child, unless the calls that write it had not ended:
    then reading raises AclRuntimeError (107003).

    `copy` and `pickle` refuse it (TypeError): `numpy` copies to the host, `array[...]` is a view.

    Attributes: shape, dtype, strides (bytes, as in NumPy), ndim, size, itemsize, nbytes. Element
    types: float16, bfloat16 (of ml_dtypes), float32, float64, signed and unsigned integers of 8 to
    64 bits, bool, complex64 and complex128.
    """

    _instead: ClassVar[str] = "must be copied to the host with numpy() or viewed with [...]"

    def __init__(self, memory: DeviceMemory, view: NDArray[Any]) -> None:
        self._memory = memory
        self._view = view  # never dereferenced: shape, strides, dtype and address only

    @classmethod
    def empty(cls, shape: Shape, dtype: Any) -> "DeviceArray":
        """Contiguous array with undefined contents. Untouched pages cost no memory on a CPU.

        AclParamError (161002) for a dtype without a code in C and for a shape that no array has;
        AclMemoryError (207001) for more memory than the device has free.
        """
        dtype = np.dtype(dtype)
        acl_type("array", dtype)
        extents = extents_of(shape, dtype)
        memory = DeviceMemory(math.prod(extents) * dtype.itemsize)
        return cls(memory, memory.as_bytes().view(dtype).reshape(extents))

    @classmethod
    def zeros(cls, shape: Shape, dtype: Any, stream: Stream | None = None) -> "DeviceArray":
        """Contiguous array of zeros, filled in the order of `stream`. Errors as `empty`."""
        array = cls.empty(shape, dtype)
        if array.nbytes > 0:
            stream = chosen_stream(stream)
            nbytes, handle = array.nbytes, stream.handle

            def fill() -> None:
                pointer = ffi.cast("void *", array.address)
                check("aclrtMemsetAsync", lib.aclrtMemsetAsync(pointer, nbytes, 0, nbytes, handle))

            array._submit(fill, stream)
        return array

    @classmethod
    def from_numpy(cls, array: Any) -> "DeviceArray":
        """Copy of a NumPy array, with the same strides.

        The bytes between the first and the last element are copied as they are, so that a view with
        gaps stays one: `np.ascontiguousarray` first leaves the gaps out. Returns when they are.

        AclParamError (161002) for a dtype without a code in C and for strides that are no whole
        elements; AclMemoryError (207001); AclRuntimeError (207000) in a thread that captures, as
        replays would not copy again.
        """
        if is_capturing():
            text = "from_numpy: it copies once and in no replay, must be called before the capture"
            raise AclRuntimeError(lib.ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "sfmla_ctypes", text)
        source = host_array("array", array, copy=None)
        acl_type("array", source.dtype)
        layout = layout_of("array", source)
        memory = DeviceMemory(layout.end - layout.begin)
        if memory.nbytes > 0:
            _copy(memory.address, layout.begin, memory.nbytes, lib.ACL_MEMCPY_HOST_TO_DEVICE)
        return cls(memory, _same_layout(source, layout.begin, memory.as_bytes()))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._view.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._view.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        return self._view.strides

    @property
    def ndim(self) -> int:
        return self._view.ndim

    @property
    def size(self) -> int:
        return self._view.size

    @property
    def itemsize(self) -> int:
        return self._view.itemsize

    @property
    def nbytes(self) -> int:
        return self._view.nbytes

    @property
    def address(self) -> int:
        """Device address of the first element."""
        return int(self._view.__array_interface__["data"][0])

    def layout(self, name: str) -> Layout:
        """Where the elements lie; `name` begins the text of errors."""
        return layout_of(name, self._view)

    @property
    def memory(self) -> DeviceMemory:
        """The allocation, shared by all views."""
        return self._memory

    def __len__(self) -> int:
        return len(self._view)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, strides={self.strides})"

    def __getitem__(self, key: Any) -> "DeviceArray":
        """View by integers, slices, `...` and `None`; IndexError for index arrays."""
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            is_integer = isinstance(part, int | np.integer) and not isinstance(part, bool)
            if not (is_integer or part is None or part is ... or isinstance(part, slice)):
                raise IndexError(f"index {part!r}: a device array takes integers and slices only")
        # The ellipsis makes NumPy return a view even of a single element, instead of reading it.
        return DeviceArray(self._memory, self._view[parts if ... in parts else (*parts, ...)])

    def reshape(self, *shape: Any) -> "DeviceArray":
        """View of a contiguous array with another shape, as in NumPy.

        AclParamError (161002) for an array with gaps, ValueError for another number of elements.
        """
        self._require_contiguous("reshape")
        return DeviceArray(self._memory, self._view.reshape(*shape))

    def numpy(self) -> NDArray[Any]:
        """Copy in host memory, contiguous, after waiting for the stream that writes the array."""
        layout = self.layout("array")
        self._memory.wait_on_host(layout.begin, layout.end)
        copy = np.empty(layout.end - layout.begin, np.uint8)
        source, target = layout.begin, copy.__array_interface__["data"][0]
        _copy(target, source, copy.nbytes, lib.ACL_MEMCPY_DEVICE_TO_HOST)
        return np.ascontiguousarray(_same_layout(self._view, source, copy)).reshape(self.shape)

    def copy_from(self, array: Any, stream: Stream | None = None) -> None:
        """Overwrites a contiguous array with host values of the same shape and dtype.

        In the order of `stream`. The host values may be changed as soon as the call returns.
        AclParamError (161002) for another shape or dtype, and when this array has gaps.

        While `stream` is captured the values must be a contiguous array in pinned memory (see
        pinned_empty), which each replay reads anew: AclParamError (107000) for others.
        """
        stream = chosen_stream(stream)
        # A private copy: memory registered for a call of another thread would be read too late.
        is_private = capture_of(stream.state) is None
        source = host_array("copy_from", array, copy=is_private or None, order="C")
        if source.shape != self.shape or source.dtype != self.dtype:
            found, wanted = (f"{a.dtype} {a.shape}" for a in (source, self))
            raise refuse(f"copy_from: {found}, must be {wanted}")
        self._require_contiguous("copy_from")
        if self.nbytes > 0:
            handle = stream.handle

            def copy() -> None:
                target = ffi.cast("void *", self.address)
                pointer = ffi.cast("void *", source.__array_interface__["data"][0])
                sizes_and_kind = (self.nbytes, lib.ACL_MEMCPY_HOST_TO_DEVICE, handle)
                code = lib.aclrtMemcpyAsync(target, self.nbytes, pointer, *sizes_and_kind)
                check("aclrtMemcpyAsync", code)

            self._submit(copy, stream, source)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("copy: False, must be True or None for a device array")
        return np.asarray(self.numpy(), dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU

    def __dlpack__(self, **options: Any) -> Any:
        """DLPack capsule of the same memory, after waiting for the stream that writes it.

        With copy=True a capsule of a copy. Under SFMLA_CHECK=strict the host cannot read the same
        memory: BufferError without copy=True.
        """
        if options.get("copy"):
            return export_array(self.numpy(), **options)
        if setting("SFMLA_CHECK") == "strict":
            raise BufferError(
                "array: device memory that the host cannot read under SFMLA_CHECK=strict, must be "
                "exported with copy=True"
            )
        self._memory.wait_on_host(*byte_span(self._view))
        return export_array(self._view, **options)

    def _require_contiguous(self, function: str) -> None:
        if not self._view.flags.c_contiguous:
            raise refuse(f"{function}: array has strides {self.strides}, must be contiguous")

    def is_read_by(self, task: Task, stream: Stream) -> None:
        if self._memory.is_being_written or task.capture is not None:
            self._memory.is_read_by(task, stream, *byte_span(self._view))

    def is_written_by(self, task: Task, stream: Stream) -> None:
        """For a contiguous array."""
        self._memory.is_written_by(task, stream, self.address, self.address + self.nbytes)

    def _submit(self, launch: Callable[[], None], stream: Stream, *objects: object) -> None:
        """Queues what writes all of a contiguous array."""
        task = Task((self._memory, *objects))
        stream.submit(task, lambda: self.is_written_by(task, stream), launch)
        self._memory.was_queued(task)


def _copy(target: int, source: int, nbytes: int, kind: int) -> None:
    ensure_context()
    pointers = ffi.cast("void *", target), ffi.cast("void *", source)
    check("aclrtMemcpy", lib.aclrtMemcpy(pointers[0], nbytes, pointers[1], nbytes, kind))


def _same_layout(array: NDArray[Any], begin: int, memory: NDArray[np.uint8]) -> NDArray[Any]:
    """View of `memory` that repeats an array whose bytes started at `begin`."""
    offset = array.__array_interface__["data"][0] - begin if array.size > 0 else 0
    view: NDArray[Any] = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    return view
