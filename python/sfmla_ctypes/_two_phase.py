# SPDX-License-Identifier: Apache-2.0
"""The two phases of an operator call: plan with descriptors, then queue on a stream."""

from collections.abc import Mapping
from typing import Any, cast

from ._arrays import Array, create_tensor
from ._capture import capture_of
from ._context import ensure_context
from ._device_array import DeviceArray, DeviceMemory
from ._errors import check, refuse, take_report
from ._host_memory import host_memory
from ._library import ffi, lib
from ._stream import Stream, chosen_stream
from ._task import Task


def run(
    api: str,
    inputs: Mapping[str, Array | None],
    attributes: tuple[Any, ...],
    outputs: Mapping[str, Array | None],
    stream: Stream | None,
) -> None:
    """Runs the operator `api`, whose C arguments are inputs, attributes and outputs in this order.

    With device arrays only, the work is queued and nothing is waited for. When any array is in host
    memory, that memory is registered, the call returns after the work is done, and the error of a
    failed task is raised here; AclParamError (161002) while the stream is captured.
    """
    ensure_context()
    stream = chosen_stream(stream)
    call = _Call(api, inputs, attributes, outputs, stream)
    if not call.host_arrays:
        call.submit()
        return
    if capture_of(stream.state) is not None:
        name = next(iter(call.host_arrays))
        raise refuse(f"{name}: an array in host memory, must be a DeviceArray in a capture")
    with stream.state.turn:
        stream.state.wait()  # so that an error of earlier work is not taken for one of this call
        try:
            call.submit()
            call.task.wait()
        finally:
            # Also when interrupted: what was queued ends before the caller's arrays change.
            if call.task.may_be_queued and not call.task.is_over:
                stream.state.wait()


class _Call:
    """The two phases of one call."""

    def __init__(
        self,
        api: str,
        inputs: Mapping[str, Array | None],
        attributes: tuple[Any, ...],
        outputs: Mapping[str, Array | None],
        stream: Stream,
    ) -> None:
        self.api = api
        self.stream = stream
        self.inputs = [array for array in inputs.values() if isinstance(array, DeviceArray)]
        self.outputs = [array for array in outputs.values() if isinstance(array, DeviceArray)]
        operands = {**inputs, **outputs}
        self.host_arrays = {
            name: array
            for name, array in operands.items()
            if array is not None and not isinstance(array, DeviceArray)
        }
        tensors = [create_tensor(name, array) for name, array in operands.items()]
        self.arguments = (*tensors[: len(inputs)], *attributes, *tensors[len(inputs) :])
        self.registration = host_memory.registered(self.host_arrays.values())
        memories = [array.memory for array in (*self.inputs, *self.outputs)]
        self.task = Task((*memories, *self.host_arrays.values()), self.registration.close)
        self.workspace = DeviceMemory(0)
        self.executor = ffi.new("aclOpExecutor **")

    def submit(self) -> None:
        try:
            waits = len(self.host_arrays) > 0
            self.stream.submit(self.task, self._prepare, self._launch, waits)
        except BaseException:
            if self.executor[0] != ffi.NULL:
                lib.aclDestroyAclOpExecutor(self.executor[0])  # ours unless it was queued
                take_report()
            raise
        for array in self.outputs:
            array.memory.was_queued(self.task)

    def _prepare(self) -> None:
        """Phase one, and the order behind other streams."""
        self.registration.open()
        nbytes = ffi.new("uint64_t *")
        name = f"{self.api}GetWorkspaceSize"
        check(name, getattr(lib, name)(*self.arguments, nbytes, self.executor))
        self.workspace = _workspace(self.stream, nbytes[0])
        self.task.objects = (*self.task.objects, self.workspace)
        for array in self.inputs:
            array.is_read_by(self.task, self.stream)
        for array in self.outputs:
            array.is_written_by(self.task, self.stream)

    def _launch(self) -> None:
        """Phase two."""
        pointer = ffi.cast("void *", self.workspace.address)
        phase_two = getattr(lib, self.api)
        handle = self.stream.handle
        check(self.api, phase_two(pointer, self.workspace.nbytes, self.executor[0], handle))


def _workspace(stream: Stream, nbytes: int) -> DeviceMemory:
    """Workspace of at least `nbytes`, shared by the calls of a stream, which run in turn."""
    state = stream.state
    with state.lock:
        if state.workspace is None or state.workspace.nbytes < nbytes:
            state.workspace = DeviceMemory(nbytes)
        return cast(DeviceMemory, state.workspace)
