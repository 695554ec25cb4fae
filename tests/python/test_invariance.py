# SPDX-License-Identifier: Apache-2.0
"""A row has the same bits alone, in any batch, at any place, with any threads and cores."""

from typing import Any

import numpy as np
import pytest
from operator_calls import FEW_AND_MANY, attend, core_limit, only_request, plan, replace
from thread_counts import COUNTS, answers, digest

from reference.attention import attention
from reference.call import Array, Call
from reference.cases import MODES, Case, build, mixed_batch
from reference.compare import assert_close, assert_same_bits


def parts(call: Call, out: Array) -> list[Array]:
    assert call.cu_seqlens_q is not None
    return np.split(out, call.cu_seqlens_q[1:-1])


def reordered(call: Call, order: Array) -> Call:
    """The same requests in another order."""
    assert call.cu_seqlens_q is not None
    bounds = call.cu_seqlens_q
    rows = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in order])
    changes: dict[str, Any] = {
        "cu_seqlens_q": np.concatenate([[0], np.cumsum(np.diff(bounds)[order])]).astype(np.int32)
    }
    for name in (
        "q",
        "ori_sparse_indices",
        "cmp_sparse_indices",
        "ori_topk_length",
        "cmp_topk_length",
    ):
        value = getattr(call, name)
        changes[name] = None if value is None else value[rows]
    for name in (
        "ori_block_table",
        "cmp_block_table",
        "seqused_ori_kv",
        "seqused_cmp_kv",
        "cmp_residual_kv",
    ):
        value = getattr(call, name)
        changes[name] = None if value is None else value[order]
    return replace(call, **changes)


@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("mode", MODES)
def test_bl_26_bl_75_alone_in_a_batch_and_reversed(mode: str, dtype: str, heads: int) -> None:
    call = mixed_batch(mode, dtype, heads)
    found = attend(call)
    assert_close(found, attention(call))
    together = parts(call, found[0])
    order = np.arange(32)[::-1]
    backwards = reordered(call, order)
    for request, out in zip(order, parts(backwards, attend(backwards)[0]), strict=True):
        assert_same_bits(out, together[request])
    for request in range(32):
        alone_out, alone_lse = attend(only_request(call, request))
        assert_same_bits(alone_out, together[request])
        assert call.cu_seqlens_q is not None
        begin = int(call.cu_seqlens_q[request])
        assert_same_bits(alone_lse, found[1][:, begin : begin + len(alone_out)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("heads", FEW_AND_MANY)
def test_bl_34_rows_one_by_one_equal_rows_together(mode: str, heads: int) -> None:
    """Verifying draft tokens at once gives the bits of feeding them one after the other."""
    case = Case(mode, rows=(8,), tokens=(1030,), ratio=4, ori_topk=600, cmp_topk=300, heads=heads)
    call = build(case)
    together, _ = attend(call)
    for row in range(8):
        tokens = 1030 - 7 + row
        changes: dict[str, Any] = {
            "q": call.q[row : row + 1],
            "cu_seqlens_q": np.array([0, 1], np.int32),
            "seqused_ori_kv": np.array([tokens], np.int32),
        }
        if call.cmp_kv is not None:
            changes["seqused_cmp_kv"] = np.array([tokens // 4], np.int32)
            changes["cmp_residual_kv"] = np.array([tokens % 4], np.int32)
        for name in ("ori_sparse_indices", "cmp_sparse_indices"):
            if getattr(call, name) is not None:
                changes[name] = getattr(call, name)[row : row + 1]
        assert_same_bits(attend(replace(call, **changes))[0][0], together[row])


@pytest.mark.parametrize("cut", [3, 5, 16, 23])
def test_bl_27_ranks_that_end_inside_a_group(cut: int) -> None:
    """A prompt of 40 rows, split over two ranks at `cut`: joined results equal the whole."""
    whole = build(Case("csa", rows=(40,), tokens=(40,), window=(15, 0), cmp_topk=8))
    out, lse = attend(whole)
    for rows, tokens in ((slice(cut), cut), (slice(cut, 40), 40)):
        part = replace(
            whole,
            q=whole.q[rows],
            cu_seqlens_q=np.array([0, len(whole.q[rows])], np.int32),
            cmp_sparse_indices=None
            if whole.cmp_sparse_indices is None
            else whole.cmp_sparse_indices[rows],
            seqused_ori_kv=np.array([tokens], np.int32),
            seqused_cmp_kv=np.array([tokens // 4], np.int32),
            cmp_residual_kv=np.array([tokens % 4], np.int32),
        )
        part_out, part_lse = attend(part)
        assert_same_bits(part_out, out[rows])
        assert_same_bits(part_lse, lse[:, rows])


def test_bl_28_interleaved_rows_as_requests_of_their_own() -> None:
    whole = build(Case("csa", rows=(24,), tokens=(24,), cmp_topk=8))
    out, _ = attend(whole)
    assert whole.ori_block_table is not None
    assert whole.cmp_block_table is not None
    tokens = np.arange(1, 25, dtype=np.int32)
    rows = replace(
        whole,
        cu_seqlens_q=np.arange(25, dtype=np.int32),
        seqused_ori_kv=tokens,
        seqused_cmp_kv=tokens // 4,
        cmp_residual_kv=tokens % 4,
        ori_block_table=np.repeat(whole.ori_block_table, 24, axis=0),
        cmp_block_table=np.repeat(whole.cmp_block_table, 24, axis=0),
    )
    assert_same_bits(attend(rows)[0], out)


def test_bl_61_a_request_without_rows_changes_nothing() -> None:
    call = build(Case("csa", rows=(2, 0, 1), tokens=(300, 100, 129)))
    kept = np.array([0, 2])
    without = reordered(call, kept)
    assert_same_bits(attend(call)[0], attend(without)[0])


@pytest.mark.parametrize("mode", ["swa", "csa", "hca"])
def test_bl_11_cores_at_planning_and_at_run_time(mode: str) -> None:
    call = build(
        Case(mode, rows=(1,) * 5, tokens=(1, 129, 500, 4097, 0), ori_mask=3, window=(-1, -1))
    )
    expected = attend(call)
    full_plan = plan(call)
    for cores in (1, 2, 24):
        with core_limit(cores):
            assert_same_bits(attend(call, full_plan)[0], expected[0])
            small_plan = plan(call)
        if cores == 1:
            assert (small_plan[:900] != full_plan[:900]).any()
        assert_same_bits(attend(call, small_plan)[0], expected[0])


def digests() -> dict[str, str]:
    """Hashes of all output bits."""
    return {
        f"{mode} {heads}": digest(*attend(mixed_batch(mode, heads=heads)))
        for mode in MODES
        for heads in FEW_AND_MANY
    }


def test_bl_75_the_number_of_threads_changes_no_bit() -> None:
    assert answers("test_invariance", "digests") == [digests()] * len(COUNTS)
