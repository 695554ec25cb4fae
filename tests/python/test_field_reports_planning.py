# SPDX-License-Identifier: Apache-2.0
"""Field reports about lengths, metadata and scheduling. See field_reports.md."""

from typing import Any

import numpy as np
import pytest
from operator_calls import attend, plan, replace

import sfmla_ctypes
from reference.attention import attention
from reference.case_arrays import int32
from reference.cases import Case, build
from reference.compare import assert_close, assert_same_bits
from reference.schedule import assert_valid

MISMATCH = 507018


def test_bl_01_stale_tail_in_the_prefix_sums_is_reported_and_harmless() -> None:
    live = [*range(0, 128, 8)]
    good = build(Case(rows=(8,) * 15, tokens=(300,) * 15, heads=2))
    stale = int32([*live[:4], *range(16, 27), -1])
    assert len(stale) == len(live)
    words = plan(good)
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="cu_seqlens_q") as planned:
        plan(good, cu_seqlens_q=stale)
    assert planned.value.code == MISMATCH
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="cu_seqlens_q") as computed:
        attend(replace(good, cu_seqlens_q=stale), words)
    assert computed.value.code == MISMATCH
    assert_close(attend(good, words), attention(good))


def test_bl_02_idle_requests_never_use_their_tables() -> None:
    live = build(Case("csa", rows=(1, 1), tokens=(130, 257)))
    idle = build(Case("csa", rows=(1, 1, 0, 0), tokens=(130, 257, 0, 0)))
    assert idle.ori_block_table is not None
    assert idle.cmp_block_table is not None
    for table, name in ((idle.ori_block_table, "ori"), (idle.cmp_block_table, "cmp")):
        table[2:] = 2**31 - 1
        columns = getattr(live, f"{name}_block_table").shape[1]
        assert table.shape[1] == columns
        table[:2] = getattr(live, f"{name}_block_table")
    # Both dummy requests own one row, whose length is 0.
    padded = replace(
        idle,
        q=np.concatenate([live.q, live.q]),
        ori_kv=live.ori_kv,
        cmp_kv=live.cmp_kv,
        cu_seqlens_q=int32([0, 1, 2, 3, 4]),
        sinks=live.sinks,
        cmp_sparse_indices=np.concatenate([live.cmp_sparse_indices, live.cmp_sparse_indices]),
    )
    out, lse = attend(padded)
    expected_out, expected_lse = attend(live)
    assert_same_bits(out[:2], expected_out)
    assert_same_bits(lse[:, :2], expected_lse)
    assert not out[2:].any()
    assert not lse[:, 2:].any()


@pytest.mark.parametrize("covered_by_a_request", [False, True])
def test_bl_03_rows_past_the_prefix_sums_are_zero(covered_by_a_request: bool) -> None:
    call = build(Case("csa", rows=(2, 2, 2), tokens=(130, 257, 12)))
    assert call.cmp_sparse_indices is not None
    surplus: dict[str, Any] = {
        "q": np.concatenate([call.q, np.full_like(call.q[:2], np.nan)]),
        "cmp_sparse_indices": np.concatenate(
            [call.cmp_sparse_indices, call.cmp_sparse_indices[:2]]
        ),
    }
    if covered_by_a_request:  # an empty fourth request
        for name in (
            "ori_block_table",
            "cmp_block_table",
            "cmp_residual_kv",
            "seqused_cmp_kv",
            "seqused_ori_kv",
        ):
            value = getattr(call, name)
            surplus[name] = np.concatenate([value, np.zeros_like(value[:1])])
        surplus["cu_seqlens_q"] = int32([0, 2, 4, 6, 6])
    out, lse = attend(replace(call, **surplus))
    expected_out, expected_lse = attend(call)
    assert_same_bits(out[:6], expected_out)
    assert_same_bits(lse[:, :6], expected_lse)
    assert not out[6:].any()
    assert not lse[:, 6:].any()


def test_bl_04_steps_may_share_or_own_their_metadata() -> None:
    steps = [build(Case(rows=(1,), tokens=(tokens,))) for tokens in (200, 201)]
    fresh = [attend(step) for step in steps]
    words = [plan(step) for step in steps]
    for step, own_words, expected in zip(steps, words, fresh, strict=True):
        assert_same_bits(attend(step, own_words)[0], expected[0])
    shared = np.zeros(1024, np.int32)
    for step, expected in zip(steps, fresh, strict=True):
        assert plan(step, out=shared) is shared
        assert_same_bits(attend(step, shared)[0], expected[0])


def test_bl_05_lengths_changed_in_place_are_seen() -> None:
    call = build(Case("csa", rows=(1,), tokens=(4,), cmp_topk=4))
    assert call.cmp_sparse_indices is not None
    assert call.cmp_kv is not None
    assert call.cmp_block_table is not None
    call.cmp_sparse_indices[:] = [0, -1, -1, -1]
    call.cmp_block_table[0, 0] = 0
    call.cmp_kv[0, 0] = 1
    lengths = (call.seqused_ori_kv, call.seqused_cmp_kv, call.cmp_residual_kv)
    for values in ((3, 0, 3), (4, 1, 0)):
        for tensor, value in zip(lengths, values, strict=True):
            assert tensor is not None
            tensor[:] = value
        assert_close(attend(call), attention(call))


def test_bl_07_nothing_to_do_writes_zeros() -> None:
    for layouts in (("TND", "PA_BBND"), ("BSND", "BSND"), ("TND", "TND")):
        call = build(Case("hca", layouts, rows=(2, 2), tokens=(0, 0), ratio=128))
        out, lse = attend(call)
        assert not out.any()
        assert not lse.any()


def test_bl_08_unused_table_columns_change_nothing() -> None:
    call = build(Case(rows=(2,), tokens=(130,)))
    assert call.ori_block_table is not None
    assert call.ori_block_table.shape[1] == 4
    wide = np.full((1, 64), -1, np.int32)
    wide[:, :2] = call.ori_block_table[:, :2]
    expected = attend(replace(call, ori_block_table=call.ori_block_table[:, :2]))
    for bit, value in zip(attend(replace(call, ori_block_table=wide)), expected, strict=True):
        assert_same_bits(bit, value)


@pytest.mark.parametrize(("heads", "tokens"), [(128, 3), (1, 500)])
def test_bl_09_the_head_count_is_not_a_length(heads: int, tokens: int) -> None:
    call = build(Case("swa", ("TND", "TND"), heads=heads, rows=(3,), tokens=(tokens,)))
    assert_close(attend(call), attention(call))


HCA_CASE = Case("hca", rows=(1, 2), tokens=(300, 513), ratio=128)
CSA_CASE = Case("csa", rows=(1, 2), tokens=(300, 513))


@pytest.mark.parametrize(
    ("case", "changes", "words"),
    [
        (HCA_CASE, {"cmp_ratio": 127}, ["ratio", "127", "128"]),
        (HCA_CASE, {"num_heads_q": 64}, ["head", "64", "8"]),
        (HCA_CASE, {"ori_win_left": 126}, ["win_left", "126", "127"]),
        (HCA_CASE, {"ori_win_right": 1}, ["win_right", "1", "0"]),
        (HCA_CASE, {"ori_mask_mode": 3}, ["mask", "3", "4"]),
        (HCA_CASE, {"cmp_mask_mode": 0}, ["mask", "0", "3"]),
        (HCA_CASE, {"has_cmp_kv": False}, ["has_cmp_kv", "0", "1"]),
        (HCA_CASE, {"cmp_topk": 64}, ["cmp_topk", "64", "0"]),
        (CSA_CASE, {"cmp_topk": 65}, ["topk", "65", "64"]),
        (CSA_CASE, {"seqused_ori_kv": int32([301, 513])}, ["seqused_ori_kv"]),
        (CSA_CASE, {"seqused_cmp_kv": int32([75, 127])}, ["seqused_cmp_kv"]),
        (CSA_CASE, {"cmp_residual_kv": int32([0, 2])}, ["cmp_residual_kv"]),
        (CSA_CASE, {"seqused_q": int32([1, 1])}, ["seqused_q"]),
        (CSA_CASE, {"cu_seqlens_q": int32([0, 2, 3])}, ["cu_seqlens_q"]),
        (
            CSA_CASE,
            {
                "layout_kv": "TND",
                "cu_seqlens_ori_kv": int32([0, 300, 813]),
                "cu_seqlens_cmp_kv": int32([0, 75, 203]),
            },
            ["layout_kv", "TND", "PA_BBND"],
        ),
    ],
)
def test_bl_10_metadata_of_another_call_is_refused(
    case: Case, changes: dict[str, Any], words: list[str]
) -> None:
    call = build(case)
    with pytest.raises(sfmla_ctypes.AclDeviceError) as error:
        attend(call, plan(call, **changes))
    assert error.value.code == MISMATCH
    for word in ("metadata", *words):
        assert word in error.value.text
    assert_close(attend(call), attention(call))


def test_bl_10_metadata_of_another_batch_is_refused() -> None:
    two = build(Case(rows=(1, 1), tokens=(40, 50)))
    four = build(Case(rows=(1,) * 4, tokens=(40, 50, 60, 70)))
    with pytest.raises(sfmla_ctypes.AclDeviceError, match=r"metadata.*2.*4"):
        attend(four, plan(two))


@pytest.mark.parametrize("damage", ["zeros", "ones", "forged"])
def test_bl_10_words_that_no_plan_wrote_are_refused(damage: str) -> None:
    call = build(Case(rows=(1, 1), tokens=(4000, 50), ori_mask=0, window=(-1, -1)))
    words = np.array(plan(call))
    if damage == "forged":  # a record that would leave rows out
        record = int(np.flatnonzero(words[:324].reshape(36, 9)[:, 0])[-1])
        words[9 * record + 4] = 1
    else:
        words[:] = 0 if damage == "zeros" else -1
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="metadata") as error:
        attend(call, words)
    assert error.value.code == MISMATCH


def test_bl_10_what_may_differ_is_accepted() -> None:
    call = build(Case(rows=(1, 2), tokens=(300, 513)))
    free = {"max_seqlen_q": 77, "max_seqlen_ori_kv": 9000, "cmp_ratio": 4, "cmp_mask_mode": 3}
    assert_same_bits(attend(call, plan(call, **free))[0], attend(call)[0])


def test_bl_12_every_word_is_written_the_same_way() -> None:
    call = build(Case("csa", rows=(1, 2, 0), tokens=(300, 513, 0)))
    first = plan(call, out=np.full(1024, 0x7F7F7F7F, np.int32))
    second = plan(call, out=np.full(1024, -1, np.int32))
    assert_same_bits(first, second)
    assert_valid(first, call)


def test_bl_13_a_very_large_batch() -> None:
    requests = 12000
    call = build(Case(rows=(1,), tokens=(1,), heads=1, ori_block=16))
    assert call.ori_block_table is not None
    page = int(call.ori_block_table[0, 0])
    call = replace(
        call,
        q=np.repeat(call.q, requests, axis=0),
        cu_seqlens_q=np.arange(requests + 1, dtype=np.int32),
        ori_block_table=np.full((requests, 1), page, np.int32),
        seqused_ori_kv=np.ones(requests, np.int32),
    )
    out, _ = attend(call)
    assert_same_bits(out, np.repeat(out[:1], requests, axis=0))
    value = call.ori_kv[page, 0, 0].astype(np.float64)
    score = call.softmax_scale * (call.q[0, 0].astype(np.float64) @ value)
    assert call.sinks is not None
    np.testing.assert_allclose(
        out[0, 0].astype(np.float64), value / (1 + np.exp(call.sinks[0] - score)), rtol=2**-7
    )
