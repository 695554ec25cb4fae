# SPDX-License-Identifier: Apache-2.0
"""The two phases of an operator call: plan with descriptors, then queue on a stream."""

import operator
from collections.abc import Mapping
from typing import Any, cast

from ._arrays import Array, create_tensor
from ._device import Stream, ensure_context
from ._device_array import DeviceArray, DeviceMemory
from ._errors import check, error_of, take_report
from ._host_memory import host_memory
from ._library import ffi, lib


def integers(**values: Any) -> tuple[int, ...]:
    """int64_t attributes. TypeError for what is no integer, OverflowError beyond 64 bits."""
    return tuple(_integer(name, value) for name, value in values.items())


def _integer(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}, must be an integer") from None
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{name}: {number}, must fit in 64 bits")
    return number


def c_string(name: str, value: str) -> Any:
    """A layout attribute as char*, alive as long as the returned object."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r}, must be a str")
    return ffi.new("char[]", value.encode())


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
    failed task is raised here.
    """
    ensure_context()
    stream = stream or Stream.current()
    operands = {**inputs, **outputs}
    tensors = [create_tensor(name, array) for name, array in operands.items()]
    arguments = (*tensors[: len(inputs)], *attributes, *tensors[len(inputs) :])
    arrays = {name: array for name, array in operands.items() if array is not None}
    memories = [array.memory for array in arrays.values() if isinstance(array, DeviceArray)]
    host_arrays = [array for array in arrays.values() if not isinstance(array, DeviceArray)]
    on_host = len(host_arrays) > 0
    with host_memory.registered(host_arrays):
        workspace, executor = _plan(api, arguments, stream)
        for memory in memories:
            memory.wait_on_stream(stream)
        try:
            _queue(api, workspace, executor, stream)
            for array in outputs.values():
                if isinstance(array, DeviceArray):
                    array.memory.written_by(stream)
            if not on_host:
                stream.keep_until_passed(workspace, *memories)
        finally:
            # Also when interrupted: queued work must not outlive the registration.
            if on_host:
                stream.synchronize()


def _plan(api: str, arguments: tuple[Any, ...], stream: Stream) -> tuple[DeviceMemory, Any]:
    """Phase one: the workspace and the executor."""
    nbytes, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
    name = f"{api}GetWorkspaceSize"
    check(name, getattr(lib, name)(*arguments, nbytes, executor))
    try:
        return _workspace(stream, nbytes[0]), executor[0]
    except BaseException:
        lib.aclDestroyAclOpExecutor(executor[0])
        raise


def _workspace(stream: Stream, nbytes: int) -> DeviceMemory:
    """Workspace of at least `nbytes`, shared by the calls of a stream, which run in turn."""
    with stream.lock:
        if stream.workspace is None or stream.workspace.nbytes < nbytes:
            stream.workspace = DeviceMemory(nbytes)
        return cast(DeviceMemory, stream.workspace)


def _queue(api: str, workspace: DeviceMemory, executor: Any, stream: Stream) -> None:
    """Phase two."""
    pointer = ffi.cast("void *", workspace.address)
    code = getattr(lib, api)(pointer, workspace.nbytes, executor, stream.handle)
    if code != 0:
        error = error_of(code, api, take_report())
        lib.aclDestroyAclOpExecutor(executor)  # a refused executor is still ours
        raise error
