# SPDX-License-Identifier: Apache-2.0
"""Calls that look wrong and are legal."""

from typing import Any

import numpy as np
import pytest
from operator_calls import attend, replace

from reference.attention import attention
from reference.case_arrays import int32
from reference.cases import LAYOUTS, Case, build
from reference.compare import assert_close, assert_same_bits

CSA = Case("csa", rows=(2, 1), tokens=(300, 40))
SPARSE = Case("ori_sparse", rows=(2, 1), tokens=(300, 40))


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (CSA, "seqused_cmp_kv"),
        (Case("csa", rows=(2,), tokens=(300,), ratio=1), "cmp_residual_kv"),
        (Case("hca", rows=(2,), tokens=(300,), cmp_mask=0), "cmp_residual_kv"),
        (SPARSE, "seqused_ori_kv"),
    ],
)
def test_bl_63_what_is_optional_may_be_missing(case: Case, name: str) -> None:
    call = replace(build(case), **{name: None})
    if name == "seqused_ori_kv":  # the length is then the capacity of the table
        call = replace(call, ori_mask_mode=0, ori_topk_length=int32([[1], [0], [1]]))
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_bl_60_no_query_rows_at_all_is_a_success(layouts: tuple[str, str]) -> None:
    call = build(Case("swa", layouts, rows=(1, 1), tokens=(40, 50)))
    if layouts[0] == "TND":
        call = replace(call, q=call.q[:0], cu_seqlens_q=int32([0, 0, 0]))
    else:
        call = replace(call, q=call.q[:, :0])
    out, lse = attend(call, np.zeros(1024, np.int32))  # nothing runs, so nothing reads the plan
    assert out.shape == call.q.shape
    assert out.size == lse.size == 0


@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_bl_60_no_requests_at_all_is_a_success(layouts: tuple[str, str]) -> None:
    """With q of no rows nothing runs, whatever the other extents of size 0 are."""
    call = build(Case("swa", layouts, rows=(1,), tokens=(40,)))
    changes: dict[str, Any] = {"q": call.q[:0]}
    if layouts[0] == "TND":
        changes["cu_seqlens_q"] = int32([0])
    if layouts[1] == "TND":
        changes["cu_seqlens_ori_kv"] = int32([0])
    if layouts[1] == "PA_BBND":
        assert call.ori_block_table is not None
        changes |= {"ori_block_table": call.ori_block_table[:0], "seqused_ori_kv": int32([])}
    if layouts == ("BSND", "BSND"):
        changes["ori_kv"] = call.ori_kv[:0]
    changed = replace(call, **changes)
    out, _ = attend(changed, np.zeros(1024, np.int32))
    assert out.size == 0


def test_bl_66_a_shorter_query_is_honoured() -> None:
    call = build(Case("csa", rows=(2, 3), tokens=(300, 40), row_padding=2))
    assert call.seqused_q is not None
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("width", [1, 4, 64, 128, 192, 256, 511, 513, 640, 1152, 2048])
def test_bl_67_any_list_width(width: int) -> None:
    call = build(Case("csa", rows=(2,), tokens=(9000,), cmp_topk=width, ratio=4))
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("block", [1, 2, 8, 16, 24, 32, 48, 53, 256, 1024])
def test_bl_67_any_page_size_up_to_1024(block: int) -> None:
    call = build(Case("csa", rows=(2,), tokens=(1100,), ori_block=block, cmp_block=block))
    assert_close(attend(call), attention(call))


def test_superfluous_tensors_are_ignored() -> None:
    call = build(Case("swa", ("BSND", "BSND"), rows=(2, 2), tokens=(30, 30)))
    expected = attend(call)[0]
    found = attend(
        call,
        cu_seqlens_ori_kv=int32([9, 1]),
        cu_seqlens_cmp_kv=int32([3]),
        ori_block_table=int32([[1]]),
        cmp_block_table=int32([7]),
        seqused_cmp_kv=int32([-4]),
        cmp_residual_kv=int32([-4, 99, 3]),
        cmp_topk_length=int32([4]),
        ori_topk_length=int32([4]),
        cmp_ratio=0,
        cmp_mask_mode=3,
    )[0]
    assert_same_bits(found, expected)
