# SPDX-License-Identifier: Apache-2.0
"""Interrupts at every place, and errors of streams that several callers use."""

import contextlib
import dis
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, on_device
from small_call import SMALL, SMALL_PLAN
from stream_work import C_FFI, C_LIBRARY, held, keep_busy

import sfmla_ctypes as sfmla
from reference.compare import assert_same_bits
from sfmla_ctypes import DeviceArray, Stream
from sfmla_ctypes._attributes import c_string, real
from sfmla_ctypes._context import ensure_context, this_thread
from sfmla_ctypes._host_memory import HostMemory, host_memory
from sfmla_ctypes._library import ffi, lib

MODULES = {
    "_attributes.py", "_capture.py", "_device.py", "_device_array.py", "_graph.py",
    "_host_memory.py", "_numpy_arguments.py", "_pinned.py", "_stream.py", "_task.py",
    "_two_phase.py",
}  # fmt: skip
# Python looks for signals behind these; the bytecode of every other kind runs on.
CHECKED = {"RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE"}

ARGUMENTS = arguments_of(SMALL) | {"metadata": SMALL_PLAN}
EXPECTED = sfmla.sparse_flash_mla(**ARGUMENTS)
BAD_PLAN = np.zeros(1024, np.int32)


Place = tuple[CodeType, int, CodeType | None, int]


class Interrupt:
    """Raises KeyboardInterrupt at the first place, where a signal can come, that is not known."""

    def __init__(self, known: set[Place]) -> None:
        self.where = ""
        self._known = known
        self._opcodes: dict[FrameType, str] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename.rpartition("/")[2] not in MODULES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = self._opcodes.get(frame, "")
            self._opcodes[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if before.startswith("CALL") or before in CHECKED:
                self._visit(frame)
        return self

    def forget_frames(self) -> None:
        """Lets go of what they hold; Python does not find this circle on its own."""
        self._opcodes.clear()

    def _visit(self, frame: FrameType) -> None:
        caller = frame.f_back
        above = (None, 0) if caller is None else (caller.f_code, caller.f_lasti)
        place: Place = (frame.f_code, frame.f_lasti, *above)
        if place not in self._known:
            self._known.add(place)
            self.where = f"{frame.f_code.co_name}:{frame.f_lineno}"
            raise KeyboardInterrupt


def interrupted(function: Callable[[], Any], known: set[Place]) -> str:
    """Where the function was interrupted; "" when it ended before that."""
    interrupt = Interrupt(known)
    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        function()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
        interrupt.forget_frames()
    return interrupt.where


def host_call() -> None:
    found = sfmla.sparse_flash_mla(**{**ARGUMENTS, "q": SMALL.q.copy()})
    assert_same_bits(found[0], EXPECTED[0])


def device_call() -> None:
    arguments = on_device(ARGUMENTS)
    keep_busy(Stream.current(), 2)
    found = sfmla.sparse_flash_mla(**arguments)
    del arguments
    assert_same_bits(found[0].numpy(), EXPECTED[0])


def mixed_call() -> None:
    out = DeviceArray.zeros(SMALL.q.shape, SMALL.q.dtype)
    sfmla.sparse_flash_mla(**ARGUMENTS, out=out)
    assert_same_bits(out.numpy(), EXPECTED[0])


def copies() -> None:
    array = DeviceArray.zeros(1000, np.float32)
    keep_busy(Stream.current(), 2)
    array.copy_from(np.ones(1000, np.float32))
    assert array.numpy().sum() == 1000


def streams() -> None:
    with Stream() as stream:
        keep_busy(stream, 2)
        array = DeviceArray.zeros(1000, np.float32)
        sfmla.Device().synchronize()
    del stream
    assert array.numpy().sum() == 0


def graphs() -> None:
    stream = Stream.current()
    pinned = sfmla.pinned_empty(SMALL.q.shape, SMALL.q.dtype)
    pinned[:] = SMALL.q
    arguments = on_device(ARGUMENTS)
    with stream.capture("name") as graph:
        arguments["q"].copy_from(pinned)
        out, _ = sfmla.sparse_flash_mla(**arguments)
    with graph:
        keep_busy(stream, 2)
        graph.replay()
    del arguments, pinned, graph
    assert_same_bits(out.numpy(), EXPECTED[0])


def failing_captures() -> None:
    first, second = Stream(), Stream()
    with contextlib.suppress(LookupError), first.capture():
        second.wait(first)
        array = DeviceArray.zeros(1000, np.float32, second)
        raise LookupError
    for stream in (first, second):
        array = DeviceArray.zeros(1000, np.float32, stream)
        assert array.numpy().sum() == 0


@pytest.mark.parametrize(
    "function",
    [host_call, device_call, mixed_call, copies, streams, graphs, failing_captures],
)
def test_interrupt_at_any_place_harms_nothing(
    function: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Gets interrupts inside of finalizers; the hook of pytest would keep their frames.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    function()
    free_bytes = sfmla.Device().memory_info().free_bytes
    known: set[Place] = set()
    while where := interrupted(function, known):
        # Another thread: a lock that was left locked would not stop this one.
        other = threading.Thread(target=function, daemon=True)
        other.start()
        other.join(30)
        assert not other.is_alive(), where
        host_memory.remove_unused()
        assert not host_memory._ranges, where
        this_thread.entered.clear()  # nothing catches an interrupt on the way into __exit__
    assert len(known) > 50
    gc.collect()
    sfmla.Device().synchronize()
    assert sfmla.Device().memory_info().free_bytes == free_bytes


def test_interrupt_behind_queueing_keeps_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream()
    array = DeviceArray.empty(SMALL.q.shape, SMALL.q.dtype)
    memory = weakref.ref(array.memory)
    arguments = on_device(ARGUMENTS)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with held(stream):
        with monkeypatch.context() as patch:
            patch.setattr(sfmla.Event, "record", interrupt)
            patch.setattr("sfmla_ctypes._task.StreamState.wait", interrupt)  # a second one
            with pytest.raises(KeyboardInterrupt):
                sfmla.sparse_flash_mla(**arguments, out=array, stream=stream)
        del array
        gc.collect()
        assert not stream.query()
        assert memory() is not None
    stream.synchronize()
    gc.collect()
    assert memory() is None


def test_interrupted_call_does_not_block_others(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = bytearray(SMALL.ori_kv.nbytes + 1024)

    def call_on(begin: int) -> None:
        kv = np.frombuffer(memoryview(cache)[begin : begin + SMALL.ori_kv.nbytes], SMALL.q.dtype)
        sfmla.sparse_flash_mla(**{**ARGUMENTS, "ori_kv": kv.reshape(SMALL.ori_kv.shape)})

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HostMemory, "remove_unused", interrupt)
        patch.setattr("sfmla_ctypes._task.Task.let_go", interrupt)
        with pytest.raises(KeyboardInterrupt):
            call_on(0)
    other = threading.Thread(target=call_on, args=(1024,), daemon=True)
    other.start()
    other.join(30)
    assert not other.is_alive()


def test_undone_registration_is_tolerated() -> None:
    ensure_context()
    memory, array = HostMemory(), np.zeros(1000)
    with memory.registered([array]):
        begin = next(iter(memory._ranges))
        assert lib.aclrtHostUnregister(ffi.cast("void *", begin)) == 0
    with memory.registered([array]):
        assert lib.aclrtHostUnregister(ffi.cast("void *", begin)) == 0


def queue(stream: Stream, **changes: Any) -> DeviceArray:
    """attn_out of the call with device arrays, not waited for."""
    out: DeviceArray
    out, _ = sfmla.sparse_flash_mla(**on_device(ARGUMENTS) | changes, stream=stream)
    return out


def queue_bad(stream: Stream, **changes: Any) -> DeviceArray:
    return queue(stream, metadata=DeviceArray.from_numpy(BAD_PLAN), **changes)


def assert_fails(array: DeviceArray) -> None:
    for _ in range(2):
        with pytest.raises(sfmla.AclDeviceError, match="metadata") as caught:
            array.numpy()
        assert caught.value.code == 507018


def wait_in_thread(stream: Stream) -> None:
    def wait() -> None:
        with pytest.raises(sfmla.AclDeviceError):
            stream.synchronize()

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()


def wait_for_device(_: Stream) -> None:
    with pytest.raises(sfmla.AclDeviceError):
        sfmla.Device().synchronize()


def wait_by_host_call(stream: Stream) -> None:
    found = sfmla.sparse_flash_mla(**ARGUMENTS, stream=stream)
    assert_same_bits(found[0], EXPECTED[0])


def wait_by_another_array(stream: Stream) -> None:
    assert_fails(queue_bad(stream))


def test_wait_for_the_device_waits_for_streams_of_others() -> None:
    ensure_context()
    default = ffi.cast("void *", 0)  # not made by this package
    function = ffi.cast("void (*)(void *)", C_FFI.addressof(C_LIBRARY, "usleep"))
    start = time.monotonic()
    assert lib.aclrtLaunchHostFunc(default, function, ffi.cast("void *", 50_000)) == 0
    sfmla.Device().synchronize()
    assert time.monotonic() - start >= 0.05


@pytest.mark.parametrize(
    "wait", [wait_in_thread, wait_for_device, wait_by_host_call, wait_by_another_array]
)
def test_failed_array_fails_whoever_waited_first(wait: Callable[[Stream], None]) -> None:
    stream = Stream()
    bad = queue_bad(stream)
    wait(stream)
    assert_fails(bad)
    assert_same_bits(queue(stream).numpy(), EXPECTED[0])


def test_failed_array_fails_after_its_stream_is_gone() -> None:
    stream = Stream()
    bad = queue_bad(stream)
    del stream
    gc.collect()
    assert_fails(bad)


def test_error_of_a_stream_is_raised_once_by_its_waits() -> None:
    stream = Stream()
    bad = queue_bad(stream)
    sfmla.sparse_flash_mla(**ARGUMENTS, stream=stream)  # waits, and is not to blame
    with pytest.raises(sfmla.AclDeviceError, match="SparseFlashMla"):
        stream.synchronize()
    stream.synchronize()
    assert_fails(bad)
    stream.synchronize()


def test_arrays_between_two_waits_share_an_error() -> None:
    stream = Stream()
    before = queue(stream)
    stream.synchronize()
    bad, beside = queue_bad(stream), queue(stream)
    with pytest.raises(sfmla.AclDeviceError):
        stream.synchronize()
    after = queue(stream)
    assert_fails(bad)
    assert_fails(beside)
    assert_same_bits(before.numpy(), EXPECTED[0])
    assert_same_bits(after.numpy(), EXPECTED[0])


def test_failure_follows_the_values_to_another_stream() -> None:
    first, second = Stream(), Stream()
    keep_busy(first, 50)
    bad = queue_bad(first)
    result = queue(second, q=bad)
    second.synchronize()
    with pytest.raises(sfmla.AclDeviceError):
        first.synchronize()
    assert_fails(result)
    with pytest.raises(sfmla.AclDeviceError):
        queue(second, q=bad)


def test_failure_ends_with_the_bytes() -> None:
    stream = Stream()
    array = DeviceArray.zeros((2, *SMALL.q.shape), SMALL.q.dtype, stream=stream)
    stream.synchronize()
    queue_bad(stream, out=array[0])
    assert not array[1].numpy().any()
    assert_fails(array[0])
    assert_fails(array)
    queue(stream, out=array[0])
    assert_same_bits(array[0].numpy(), EXPECTED[0])
    assert not array.numpy()[1].any()


def test_refused_call_leaves_the_failure_of_its_output() -> None:
    stream = Stream()
    bad = queue_bad(stream)
    assert_fails(bad)
    with pytest.raises(sfmla.AclParamError):
        queue(stream, out=bad, softmax_scale=float("nan"))
    assert_fails(bad)


def test_calls_with_numpy_on_one_stream_raise_their_own_error_only() -> None:
    stream = Stream()
    wrong: list[str] = []

    def repeat(arguments: dict[str, Any], is_bad: bool) -> None:
        for _ in range(100):
            try:
                found = sfmla.sparse_flash_mla(**arguments, stream=stream)
                assert_same_bits(found[0], EXPECTED[0])
                failed = False
            except sfmla.AclDeviceError:
                failed = True
            if failed != is_bad:
                wrong.append(f"bad={is_bad} failed={failed}")

    calls = [(ARGUMENTS, False), (ARGUMENTS | {"metadata": BAD_PLAN}, True), (ARGUMENTS, False)]
    threads = [threading.Thread(target=repeat, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_tasks_do_not_pile_up_without_waits() -> None:
    stream, array = Stream(), DeviceArray.zeros(8, np.float32)
    for _ in range(200):
        array.copy_from(np.ones(8, np.float32), stream=stream)
        while not stream.query():
            time.sleep(0.0001)
    assert len(stream.state.pending) <= 1
    assert len(stream.state.tasks()) <= 2
    assert len(array.memory._writes) <= 2


@pytest.mark.parametrize("value", ["1", True, None, 1j, np.ones(1)], ids=repr)
def test_real_attributes(value: Any) -> None:
    with pytest.raises(TypeError, match=r"softmax_scale: .*must be a real number"):
        real(softmax_scale=value)
    assert real(softmax_scale=np.float32(0.5), other=2) == (0.5, 2.0)


def test_layout_with_nul_is_refused() -> None:
    with pytest.raises(sfmla.AclParamError, match=r"layout_q: .*must be text without NUL"):
        sfmla.sparse_flash_mla(**ARGUMENTS | {"layout_q": "BSND\0TND"})
    assert ffi.string(c_string("layout_q", "TND")) == b"TND"


FEW_THREADS = """
import contextlib, resource
import numpy as np
import sfmla_ctypes as sfmla
ones = np.ones((1, 2, 8, 512), np.float16)
arguments = dict(ori_kv=ones[:, :, :1], sinks=np.full(8, -np.inf, np.float32))
arguments["metadata"] = sfmla.sparse_flash_mla_metadata(
    8, 1, 512, batch_size=1, max_seqlen_q=2, max_seqlen_ori_kv=2, has_cmp_kv=False
)
pages = int(open("/proc/self/statm").read().split()[0])
room = 300 * 2**20  # for the stacks of a few dozen threads; there is none left for the workspace
unlimited = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(
    resource.RLIMIT_AS, (pages * resource.getpagesize() + room, unlimited[1])
)
with contextlib.suppress(sfmla.AclError):
    sfmla.sparse_flash_mla(ones, **arguments)
resource.setrlimit(resource.RLIMIT_AS, unlimited)
for _ in range(3):
    assert (sfmla.sparse_flash_mla(ones, **arguments)[0] == 1).all()
"""


def test_a_system_without_room_for_more_threads_gives_fewer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FEW_THREADS],
        env={**os.environ, "SFMLA_NUM_THREADS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
