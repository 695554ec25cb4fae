# SPDX-License-Identifier: Apache-2.0
"""Field reports about streams, threads and faults that show up late."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from operator_calls import arguments_of, attend, on_device, plan, replace

import sfmla_ctypes
from reference.attention import attention
from reference.call import Array, Call, planning_arguments
from reference.case_arrays import int32
from reference.cases import Case, build, with_full_caches
from reference.compare import assert_close, assert_same_bits
from sfmla_ctypes import DeviceArray, Stream


def queue(call: Call, stream: Stream, **late: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Plans and computes on `stream` with device arrays, waiting for nothing."""
    words = sfmla_ctypes.sparse_flash_mla_metadata(
        **(on_device(planning_arguments(call)) | late), stream=stream
    )
    found: tuple[DeviceArray, DeviceArray] = sfmla_ctypes.sparse_flash_mla(
        **(on_device(arguments_of(call)) | late), metadata=words, stream=stream
    )
    return found


def test_bl_06_lengths_written_earlier_on_the_stream_are_seen() -> None:
    call = build(Case("hca", rows=(1, 2), tokens=(300, 513), ratio=4))
    stream = Stream()
    late = {}
    for name in ("seqused_ori_kv", "seqused_cmp_kv", "cmp_residual_kv", "cu_seqlens_q"):
        value = getattr(call, name)
        late[name] = DeviceArray.zeros(value.shape, value.dtype, stream=stream)
        late[name].copy_from(value, stream=stream)
    out, lse = queue(call, stream, **late)
    assert_close((out.numpy(), lse.numpy()), attention(call))


def test_bl_49_streams_do_not_disturb_each_other() -> None:
    calls = [
        build(Case(mode, rows=(2, 1), tokens=(tokens, 700), heads=heads, ratio=4))
        for mode in ("swa", "csa", "hca")
        for tokens, heads in ((300, 8), (2500, 64))
    ]
    expected = [attend(call) for call in calls]
    streams = [Stream() for _ in range(3)]
    for _ in range(5):
        queued = [queue(call, streams[i % 3]) for i, call in enumerate(calls)]
        for found, wanted in zip(queued, expected, strict=True):
            assert_same_bits(found[0].numpy(), wanted[0])
            assert_same_bits(found[1].numpy(), wanted[1])


def test_bl_55_any_thread_may_call() -> None:
    calls = [build(Case("csa", rows=(2,), tokens=(130 + i,), seed=i)) for i in range(8)]
    expected = [attend(call) for call in calls]
    barrier = threading.Barrier(4)

    def repeat(first: int) -> list[tuple[Array, Array]]:
        barrier.wait()
        return [attend(calls[(first + i) % 8]) for i in range(8)]

    with ThreadPoolExecutor(4) as pool:
        for first, results in enumerate(pool.map(repeat, range(4))):
            for i, found in enumerate(results):
                assert_same_bits(found[0], expected[(first + i) % 8][0])


def test_bl_56_planning_on_a_side_stream() -> None:
    call = with_full_caches(build(Case("swa", rows=(1, 1), tokens=(300, 300), heads=2)))
    planner, main = Stream(), Stream()
    arguments = on_device(arguments_of(call))
    rng = np.random.default_rng(4)
    results = []
    for _ in range(100):
        used = int32(rng.integers(172, 301, 2))
        lengths = DeviceArray.from_numpy(used)
        words = sfmla_ctypes.sparse_flash_mla_metadata(
            **(on_device(planning_arguments(call)) | {"seqused_ori_kv": lengths}), stream=planner
        )
        main.wait(planner)
        out, lse = sfmla_ctypes.sparse_flash_mla(
            **(arguments | {"seqused_ori_kv": lengths}), metadata=words, stream=main
        )
        results.append((used, out, lse))
    main.synchronize()
    for used, out, lse in results:
        shorter = replace(call, seqused_ori_kv=used)
        expected = attention(shorter)
        assert_close((out.numpy(), lse.numpy()), expected)


def test_bl_59_the_first_wait_reports_the_fault_and_its_operator() -> None:
    call = build(Case(rows=(1, 1), tokens=(300, 40)))
    stream = Stream()
    words = DeviceArray.from_numpy(np.zeros(1024, np.int32))
    sfmla_ctypes.sparse_flash_mla(**on_device(arguments_of(call)), metadata=words, stream=stream)
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="metadata") as error:
        stream.synchronize()
    assert error.value.code == 507018
    assert "SparseFlashMla" in error.value.report
    stream.synchronize()  # reported once
    out, lse = queue(call, stream)
    assert_close((out.numpy(), lse.numpy()), attention(call))


def test_bl_59_a_fault_stays_with_its_stream() -> None:
    call = build(Case(rows=(1,), tokens=(300,)))
    bad, good = Stream(), Stream()
    queue(replace(call, seqused_ori_kv=int32([-5])), bad)
    out, lse = queue(call, good)
    good.synchronize()
    assert_close((out.numpy(), lse.numpy()), attention(call))
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="seqused_ori_kv"):
        bad.synchronize()


def test_bl_04_planning_is_shared_by_all_layers_of_a_step() -> None:
    call = build(Case("csa", rows=(1, 1), tokens=(300, 513)))
    words = plan(call)
    layers = [build(Case("csa", rows=(1, 1), tokens=(300, 513), seed=seed)) for seed in range(4)]
    for layer in layers:
        assert_close(attend(layer, words), attention(layer))
