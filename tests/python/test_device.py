# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events and arrays in device memory."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from stream_work import held, keep_busy

import sfmla_ctypes as sfmla
from sfmla_ctypes import DeviceArray, Event, Stream

BASE = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def stream() -> Iterator[Stream]:
    with Stream() as stream:
        yield stream


def test_device_describes_itself() -> None:
    device = sfmla.Device()
    assert sfmla.Device.count() >= 1
    assert device.name
    assert device.cores.cube >= 1
    assert device.cores.vector >= 1
    assert 0 < device.memory_info().free_bytes <= device.memory_info().total_bytes


@pytest.mark.parametrize("number", [-1, 0, 37, 2**31, 2**32, 2**64])
@pytest.mark.parametrize("kind", ["cube", "vector"])
def test_core_limits_that_the_device_does_not_have(kind: str, number: int) -> None:
    with pytest.raises(sfmla.AclParamError, match="must be from 1 to") as caught:
        sfmla.Device().set_core_limits(**{kind: 2 * number if kind == "vector" else number})
    assert caught.value.code == 107000


@pytest.mark.parametrize("number", [-(2**40), -1, 1, 2**31 - 1, 2**31, 2**40])
def test_devices_that_do_not_exist(number: int) -> None:
    with pytest.raises(sfmla.AclParamError, match=str(number)) as caught:
        sfmla.Device(number).set()
    assert caught.value.code == 107001


def test_a_device_id_is_an_integer() -> None:
    with pytest.raises(TypeError):
        sfmla.Device("0")  # type: ignore[arg-type]


def test_core_limits_are_kept_and_lifted() -> None:
    device, before = sfmla.Device(), sfmla.Device().cores
    device.set_core_limits(cube=1)
    assert device.cores == (1, before.vector)
    device.set_core_limits(*before)
    assert device.cores == before


def test_device_of_a_block() -> None:
    before = Stream.current()
    with sfmla.Device(0) as device:
        inside = Stream.current()
        assert device.id == 0
        assert inside is not before
        with sfmla.Device(0):
            assert Stream.current() not in (before, inside)
            DeviceArray.zeros(8, np.float32)
        assert Stream.current() is inside
    assert Stream.current() is before


def test_block_of_a_device_that_does_not_exist() -> None:
    before = Stream.current()
    with pytest.raises(sfmla.AclParamError) as caught, sfmla.Device(99):
        pass
    assert caught.value.code == 107001
    assert Stream.current() is before
    assert DeviceArray.zeros(8, np.float32).numpy().sum() == 0


@pytest.mark.parametrize("dtype", [np.float16, np.int32, ml_dtypes.bfloat16])
def test_array_returns_what_was_put_in(dtype: Any) -> None:
    array = DeviceArray.from_numpy(BASE.astype(dtype))
    assert (array.shape, array.dtype, array.ndim, array.size) == ((2, 3, 4), dtype, 3, 24)
    assert np.array_equal(array.numpy(), BASE.astype(dtype))
    assert np.array_equal(np.asarray(array), BASE.astype(dtype))


def test_from_numpy_keeps_strides() -> None:
    view = BASE[:, ::2, ::-1]
    array = DeviceArray.from_numpy(view)
    assert array.strides == view.strides
    assert np.array_equal(array.numpy(), view)


@pytest.mark.parametrize(
    "key",
    [0, -1, np.int64(1), slice(1, None), (slice(None), 1), (..., slice(None, None, -2)),
     (1, 2, 3), (None, 0, ..., 1)],
    ids=str,
)  # fmt: skip
def test_indexing_is_that_of_numpy_and_shares_memory(key: Any) -> None:
    array = DeviceArray.from_numpy(BASE)
    view = array[key]
    assert view.memory is array.memory
    assert view.shape == np.shape(BASE[key])
    assert np.array_equal(view.numpy(), BASE[key])


@pytest.mark.parametrize("key", [True, [0, 1], np.array([0]), (0, BASE[0] > 1)], ids=str)
def test_index_arrays_are_refused(key: Any) -> None:
    with pytest.raises(IndexError, match="integers and slices only"):
        DeviceArray.from_numpy(BASE)[key]


def test_index_out_of_range() -> None:
    with pytest.raises(IndexError):
        DeviceArray.from_numpy(BASE)[2]


def test_reshape_is_a_view_of_contiguous_arrays_only() -> None:
    array = DeviceArray.from_numpy(BASE)
    assert array.reshape(6, -1).memory is array.memory
    assert np.array_equal(array.reshape((6, 4)).numpy(), BASE.reshape(6, 4))
    with pytest.raises(sfmla.AclParamError, match="must be contiguous"):
        array[:, 1:].reshape(-1)


def test_empty_and_zero_dimensional_arrays() -> None:
    assert DeviceArray.empty((3, 0), np.float32).numpy().shape == (3, 0)
    scalar = DeviceArray.from_numpy(np.float32(2.5))
    assert scalar.shape == ()
    assert scalar.numpy() == 2.5


def test_huge_array_costs_nothing_until_written() -> None:
    array = DeviceArray.empty((2**33,), np.int8)
    array[-4:].copy_from(np.arange(4, dtype=np.int8))
    assert array[-4:].numpy().tolist() == [0, 1, 2, 3]


def test_allocation_beyond_the_memory_of_the_device() -> None:
    with pytest.raises(sfmla.AclMemoryError) as caught:
        DeviceArray.empty((2**60,), np.int8)
    assert caught.value.code == 207001


def test_memory_returns_when_the_last_view_is_gone() -> None:
    before = sfmla.Device().memory_info().free_bytes
    array = DeviceArray.empty((2**24,), np.int8)
    view = array[5:]
    del array
    assert sfmla.Device().memory_info().free_bytes <= before - 2**24
    del view
    assert sfmla.Device().memory_info().free_bytes >= before - 2**20


@pytest.mark.parametrize(
    "value", [np.zeros((2, 3), np.float32), np.zeros((2, 3, 4), np.float64)], ids=["shape", "dtype"]
)
def test_copy_from_wants_the_same_shape_and_dtype(value: Any) -> None:
    with pytest.raises(sfmla.AclParamError, match=r"copy_from: .*must be float32 \(2, 3, 4\)"):
        DeviceArray.from_numpy(BASE).copy_from(value)


def test_copies_follow_the_order_of_the_stream(stream: Stream) -> None:
    array = DeviceArray.zeros(BASE.shape, BASE.dtype)
    keep_busy(stream, 50)
    values = BASE.copy()
    array.copy_from(values)
    values[:] = -1  # the call has taken what it needs
    assert np.array_equal(array.numpy(), BASE)


def test_stream_is_busy_until_its_work_is_done(stream: Stream) -> None:
    assert stream.query()
    with held(stream):
        assert not stream.query()
    stream.synchronize()
    assert stream.query()


def test_streams_nest_and_threads_have_their_own() -> None:
    own = Stream.current()
    with Stream() as outer:
        with Stream() as inner:
            assert Stream.current() is inner
        assert Stream.current() is outer
        others: list[Stream] = []
        thread = threading.Thread(target=lambda: others.append(Stream.current()))
        thread.start()
        thread.join()
        assert others[0] not in (own, outer)
    assert Stream.current() is own


def test_leaving_the_block_waits() -> None:
    with Stream() as stream:
        keep_busy(stream)
    assert stream.query()


def test_stream_waits_for_another_without_the_host(stream: Stream) -> None:
    other, passed = Stream(), Event()
    with held(other):
        passed.record(other)
        stream.wait(other)
        assert not stream.query()
        assert not passed.query()
    stream.synchronize()
    assert passed.query()


def test_objects_live_until_the_stream_has_passed(stream: Stream) -> None:
    array = DeviceArray.from_numpy(BASE)
    memory = weakref.ref(array.memory)
    with held(stream):
        stream.keep_until_passed(array.memory)
        del array
        gc.collect()
        assert memory() is not None
    stream.synchronize()
    gc.collect()
    assert memory() is None


def test_dropped_stream_finishes_before_its_arrays_go() -> None:
    stream = Stream()
    array = DeviceArray.from_numpy(BASE)
    memory = weakref.ref(array.memory)
    event = Event()
    keep_busy(stream)
    event.record(stream)
    stream.keep_until_passed(array.memory, stream)  # a cycle, as arrays make them
    stream.synchronize()
    keep_busy(stream)
    event.record(stream)
    stream.keep_until_passed(array.memory)
    del array, stream
    gc.collect()
    assert event.query()
    assert memory() is None


def test_events_measure_and_wait(stream: Stream) -> None:
    start, end = Event(), Event()
    start.record()
    keep_busy(stream, 50)
    with held(stream):
        end.record()
        assert not end.query()
    end.synchronize()
    assert end.query()
    assert end.elapsed_ms(start) >= 50


def test_event_that_was_never_recorded(stream: Stream) -> None:
    event = Event()
    assert event.query()
    event.synchronize()
    stream.wait_event(event)
    assert stream.query()


def test_stream_waits_for_an_event_of_another(stream: Stream) -> None:
    other, event = Stream(), Event()
    with held(other):
        event.record(other)
        stream.wait_event(event)
        assert not stream.query()
    stream.synchronize()
    assert event.query()


def test_event_ends_with_its_block(stream: Stream) -> None:
    other = Stream()
    with held(other):
        with Event() as event:
            event.record(other)
            stream.wait_event(event)
        assert not stream.query()  # still waits
    event.close()
    with pytest.raises(sfmla.AclParamError, match=r"event: .*destroyed") as caught:
        event.record(stream)
    assert caught.value.code == 107000


def test_waiting_releases_the_interpreter(stream: Stream) -> None:
    keep_busy(stream, 300)
    ticks: list[float] = []
    waiter = threading.Thread(target=stream.synchronize)
    waiter.start()
    while waiter.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.01)
    assert len(ticks) > 5


def test_thread_may_end_with_queued_work() -> None:
    def queue() -> None:
        keep_busy(Stream.current(), 50)
        DeviceArray.zeros(8, np.float32)

    for _ in range(4):
        thread = threading.Thread(target=queue)
        thread.start()
        thread.join()
    assert DeviceArray.zeros(8, np.float32).numpy().sum() == 0


EXIT_WITH_QUEUED_WORK = """
import sys
import sfmla_ctypes as sfmla
from sfmla_ctypes._library import ffi, lib
ffi.cdef("unsigned int sleep(unsigned int seconds);")
sleep = ffi.cast("void (*)(void *)", ffi.addressof(ffi.dlopen(None), "sleep"))
stream, array = sfmla.Stream(), sfmla.DeviceArray.zeros(8, "f4")
assert lib.aclrtLaunchHostFunc(stream.handle, sleep, ffi.cast("void *", 60)) == 0
stream.keep_until_passed(array.memory)
sys.exit(7)
"""


def test_process_exits_at_once_with_its_own_code() -> None:
    done = subprocess.run([sys.executable, "-c", EXIT_WITH_QUEUED_WORK], timeout=30)
    assert done.returncode == 7
