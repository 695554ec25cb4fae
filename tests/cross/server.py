# SPDX-License-Identifier: Apache-2.0
"""Lets the operators of ``sfmla_ctypes`` run in another process, on NumPy arrays as ever.

The process is call_server.cpp: its instruction set may be another one, its processor an emulated
one. All of the package but its two phases stays in use, and tests need not know where a call runs.

Calls travel over a pipe in the few words of messages.h. Files in an existing format (case_files.py)
would lose strides, storage and poisoned outputs; a Python with NumPy in the emulator would take
minutes to start and to compute what the oracle computes here in seconds.
"""

from __future__ import annotations

import ctypes
import io
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha1
from typing import Any
from unittest.mock import patch

import numpy as np

from sfmla_ctypes import _two_phase
from sfmla_ctypes._dtypes import acl_type
from sfmla_ctypes._errors import error_of
from sfmla_ctypes._host_memory import merge_spans, owned_span
from sfmla_ctypes._layout import byte_span, layout_of
from sfmla_ctypes._library import ffi

Span = tuple[int, int]
NEW, RESULT = -1, -2
KEPT_BYTES = 1 << 28  # more are forgotten
NULL, TENSOR, INTEGER, REAL, TRUTH, TEXT = range(6)


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def _sized(data: bytes) -> bytes:
    return _words(len(data)) + data


def _tensor(name: str, array: Any, memories: Sequence[Span]) -> bytes:
    if array is None:
        return _words(NULL)
    layout = layout_of(name, array)
    memory, storage_begin = -1, 0
    for number, (begin, end) in enumerate(memories):
        if array.size and begin <= layout.begin < end:
            memory, storage_begin = number, layout.begin - begin
    return _words(
        *(TENSOR, memory, storage_begin, acl_type(name, array.dtype)),
        *(array.ndim, *array.shape, len(layout.strides), *layout.strides),
        *(layout.offset, (layout.end - layout.begin) // array.itemsize),
    )


def _attribute(value: Any) -> bytes:
    if isinstance(value, bool):
        return _words(TRUTH, value)
    if isinstance(value, int):
        return _words(INTEGER, value)
    if isinstance(value, float):
        return _words(REAL) + struct.pack("<d", value)
    return _words(TEXT) + _sized(ffi.string(value))


class CallServer:
    """A running call server. `close` ends it, which fails if it did not end well."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._kept: dict[bytes, int] = {}  # number by digest
        self._kept_bytes = 0

    def close(self) -> None:
        """Lets the server end; AssertionError when it does not end well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0

    @contextmanager
    def serves(self) -> Iterator[None]:
        """While open, the operators of the package run in the server. For one thread."""
        users = [
            f"{module.__name__}.run"
            for module in tuple(sys.modules.values())
            if getattr(module, "run", None) is _two_phase.run and module is not _two_phase
        ]
        patches = [patch(user, self._run) for user in users]
        for one in patches:
            one.start()
        try:
            yield
        finally:
            for one in patches:
                one.stop()

    def _run(
        self,
        api: str,
        inputs: Mapping[str, Any],
        attributes: tuple[Any, ...],
        outputs: Mapping[str, Any],
        stream: Any,
    ) -> None:
        """Stands for `_two_phase.run`."""
        assert stream is None
        arrays = {**inputs, **outputs}
        assert all(value is None or isinstance(value, np.ndarray) for value in arrays.values())
        memories = merge_spans(owned_span(value) for value in arrays.values() if value is not None)
        written = [byte_span(value) for value in outputs.values() if value is not None]
        comes_back = [any(b <= span[0] < e for span in written) for b, e in memories]
        self._send(
            [
                _sized(api.encode()),
                self._forget(),
                _words(len(memories)),
                *map(self._memory, memories, comes_back),
                _words(len(arrays) + len(attributes)),
                *(_tensor(name, value, memories) for name, value in inputs.items()),
                *map(_attribute, attributes),
                *(_tensor(name, value, memories) for name, value in outputs.items()),
            ]
        )
        code, function, report = self._read_number(), self._read_sized(), self._read_sized()
        for flag, (begin, _) in zip(comes_back, memories, strict=True):
            if flag:
                data = self._read_sized()
                ctypes.memmove(begin, data, len(data))
        if code != 0:
            raise error_of(code, function.decode(), report.decode().strip())

    def _forget(self) -> bytes:
        is_due = self._kept_bytes > KEPT_BYTES
        if is_due:
            self._kept.clear()
            self._kept_bytes = 0
        return _words(is_due)

    def _memory(self, span: Span, comes_back: bool) -> bytes:
        """What the server has, such as the caches of a batch sent in parts, is not sent again."""
        data = ctypes.string_at(span[0], span[1] - span[0])
        if comes_back:
            return _words(RESULT) + _sized(data)
        digest = sha1(data).digest()
        if digest in self._kept:
            return _words(self._kept[digest])
        self._kept[digest] = len(self._kept)
        self._kept_bytes += len(data)
        return _words(NEW) + _sized(data)

    def _send(self, parts: Sequence[bytes]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.writelines(parts)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise AssertionError(f"the call server ended, {self._process.wait()}") from None

    def _read(self, count: int) -> bytes:
        assert isinstance(self._process.stdout, io.BufferedReader)
        data = self._process.stdout.read(count)
        assert len(data) == count, f"the call server ended, {self._process.wait()}"
        return data

    def _read_number(self) -> int:
        return int(struct.unpack("<q", self._read(8))[0])

    def _read_sized(self) -> bytes:
        return self._read(self._read_number())
