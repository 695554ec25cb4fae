# SPDX-License-Identifier: Apache-2.0
"""Offsets beyond 32 bits. Device memory is only committed where it is touched."""

from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, attend, on_device, plan, replace

import sfmla_ctypes
from reference.attention import attention
from reference.call import Call
from reference.case_arrays import int32
from reference.cases import Case, build
from reference.compare import assert_close, assert_same_bits

ELEMENTS = 2**31  # of 2 bytes: an offset in elements no longer fits into 32 signed bits
PAGE = 128 * 512


def run(call: Call, caches: dict[str, Any]) -> tuple[Any, Any]:
    arguments = on_device(
        {name: value for name, value in arguments_of(call).items() if name not in caches}
    )
    out, lse = sfmla_ctypes.sparse_flash_mla(
        **arguments, **caches, metadata=sfmla_ctypes.DeviceArray.from_numpy(plan(call))
    )
    return out.numpy(), lse.numpy()


@pytest.mark.parametrize("gap_tokens", [0, 10])
def test_bl_44_a_page_pool_beyond_32_bits(gap_tokens: int) -> None:
    """The pages lie on both sides of every 32-bit limit, in elements and in bytes."""
    call = build(Case("csa", rows=(2, 1), tokens=(600, 300), heads=8))
    stride = PAGE + gap_tokens * 512
    pages = ELEMENTS // stride + 200
    pool = sfmla_ctypes.DeviceArray.empty((pages, 128 + gap_tokens, 1, 512), call.q.dtype)
    ids = iter(
        [
            pages - 1,
            ELEMENTS // stride,
            ELEMENTS // stride + 1,
            ELEMENTS // stride - 1,
            ELEMENTS // 2 // stride + 1,
            0,
            pages - 2,
            ELEMENTS // 4 // stride + 1,
            pages // 2 + 7,
            5,
            6,
            7,
        ]
    )
    changes: dict[str, Any] = {}
    for name in ("ori", "cmp"):
        table, kv = getattr(call, f"{name}_block_table"), getattr(call, f"{name}_kv")
        moved = np.full_like(table, -1)
        for place in np.ndindex(table.shape):
            if 0 <= table[place] < len(kv) and np.isfinite(kv[table[place]].astype("f4")).any():
                moved[place] = next(ids)
                pool[int(moved[place]) : int(moved[place]) + 1, :128].reshape(128, 512).copy_from(
                    kv[table[place], :, 0]
                )
        changes[f"{name}_block_table"] = moved
    view = pool[:, :128]
    moved_call = replace(call, **changes)
    found = run(moved_call, {"ori_kv": view, "cmp_kv": view})
    expected = attend(call)
    assert_close(found, attention(call))
    assert_same_bits(found[0], expected[0])
    assert_same_bits(found[1], expected[1])


@pytest.mark.parametrize("layouts", [("TND", "TND"), ("BSND", "BSND")], ids="/".join)
def test_bl_44_a_request_far_behind_the_first(layouts: tuple[str, str]) -> None:
    call = build(Case("swa", layouts, rows=(1, 2), tokens=(300, 300), heads=8))
    expected = attend(call)
    far = ELEMENTS // 512 + 77
    if layouts[1] == "TND":
        pool = sfmla_ctypes.DeviceArray.empty((far + 300, 1, 512), call.q.dtype)
        pool[:300].copy_from(np.ascontiguousarray(call.ori_kv[:300]))
        pool[far:].copy_from(np.ascontiguousarray(call.ori_kv[300:]))
        call = replace(
            call, seqused_ori_kv=int32([300, 300]), cu_seqlens_ori_kv=int32([0, far, far + 300])
        )
    else:
        pool = sfmla_ctypes.DeviceArray.empty((2, far, 1, 512), call.q.dtype)[:, :300]
        for request in range(2):
            pool[request].copy_from(np.ascontiguousarray(call.ori_kv[request]))
    found = run(call, {"ori_kv": pool})
    assert_same_bits(found[0], expected[0])


@pytest.mark.parametrize(
    "case",
    [
        Case("csa", rows=(2, 0, 1), tokens=(300, 0, 513), page_gap_elements=3 * 512),
        Case("hca", rows=(1, 1, 1), tokens=(700, 0, 128), page_gap_elements=131072 - PAGE, ratio=4),
    ],
    ids=str,
)
def test_strided_pools_and_junk_tables_of_empty_requests(case: Case) -> None:
    """NaN between the pages; the tables of empty requests hold ids that do not exist."""
    call = build(case)
    for table in (call.ori_block_table, call.cmp_block_table):
        assert table is not None
        table[1] = [2**31 - 1, -(2**31), 10**6, -1] * (table.shape[1] // 4) + [99] * (
            table.shape[1] % 4
        )
    assert_close(attend(call), attention(call))


def test_bl_45_rows_beyond_32_bits_of_bytes() -> None:
    """q and attn_out of more than 2^31 bytes; the last rows are right."""
    heads, rows = 128, 2**31 // (128 * 512 * 2) + 16
    case = Case("swa", ("TND", "TND"), heads=heads, rows=(4,), tokens=(4,))
    call = build(case)
    q = sfmla_ctypes.DeviceArray.empty((rows, heads, 512), call.q.dtype)
    q[rows - 4 :].copy_from(call.q)
    last_rows = replace(
        call,
        q=np.broadcast_to(call.q[:1], (rows, heads, 512)),
        cu_seqlens_q=int32([0, rows - 4, rows]),
        seqused_q=int32([0, 4]),
        cu_seqlens_ori_kv=int32([0, 0, 4]),
    )
    arguments = on_device(
        {name: value for name, value in arguments_of(last_rows).items() if name != "q"}
    )
    out, lse = sfmla_ctypes.sparse_flash_mla(
        **arguments, q=q, metadata=sfmla_ctypes.DeviceArray.from_numpy(plan(last_rows))
    )
    expected = attend(call)
    assert_same_bits(out[rows - 4 :].numpy(), expected[0])
    assert_same_bits(lse[:, rows - 4 :].numpy(), expected[1])
    assert not out[rows // 2 : rows // 2 + 3].numpy().any()
