# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the published PyTorch page, through functions with the same arguments."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from operator_calls import attend, plan

import sfmla_ctypes
from reference.attention import attention
from reference.call import Array, Call
from reference.case_arrays import int32
from reference.cases import SCALE, Case, build
from reference.compare import assert_close, assert_same_bits

LAYOUT_BSND: dict[str, Any] = {"layout_q": "BSND", "layout_kv": "BSND"}


def test_swa_bsnd() -> None:
    call = build(Case("swa", ("BSND", "BSND"), heads=64, rows=(16,), tokens=(64,)))
    expected = attention(call)
    for cmp_mask_mode in (3, 0):  # the two editions of the page differ; it has no effect here
        metadata = sfmla_ctypes.sparse_flash_mla_metadata(
            64,
            1,
            512,
            batch_size=1,
            max_seqlen_q=16,
            max_seqlen_ori_kv=64,
            cmp_ratio=1,
            ori_mask_mode=4,
            cmp_mask_mode=cmp_mask_mode,
            ori_win_left=127,
            ori_win_right=0,
            **LAYOUT_BSND,
            has_ori_kv=True,
            has_cmp_kv=False,
        )
        found = sfmla_ctypes.sparse_flash_mla(
            call.q,
            ori_kv=call.ori_kv,
            sinks=call.sinks,
            metadata=metadata,
            softmax_scale=SCALE,
            cmp_ratio=1,
            ori_mask_mode=4,
            cmp_mask_mode=cmp_mask_mode,
            ori_win_left=127,
            ori_win_right=0,
            **LAYOUT_BSND,
            topk_value_mode=1,
            return_softmax_lse=True,
        )
        assert_close(found, expected)


@pytest.mark.parametrize("rows", [1, 16, 128])
def test_hca_bsnd(rows: int) -> None:
    call = build(Case("hca", ("BSND", "BSND"), heads=64, rows=(rows,), tokens=(128,), ratio=128))
    metadata = sfmla_ctypes.sparse_flash_mla_metadata(
        64,
        1,
        512,
        cmp_residual_kv=int32([0]),
        batch_size=1,
        max_seqlen_q=rows,
        max_seqlen_ori_kv=128,
        max_seqlen_cmp_kv=1,
        cmp_ratio=128,
        ori_mask_mode=4,
        cmp_mask_mode=3,
        ori_win_left=127,
        ori_win_right=0,
        **LAYOUT_BSND,
    )
    out, scalar = sfmla_ctypes.sparse_flash_mla(
        call.q,
        ori_kv=call.ori_kv,
        cmp_kv=call.cmp_kv,
        cmp_residual_kv=int32([0]),
        sinks=call.sinks,
        metadata=metadata,
        softmax_scale=SCALE,
        cmp_ratio=128,
        ori_mask_mode=4,
        cmp_mask_mode=3,
        ori_win_left=127,
        ori_win_right=0,
        **LAYOUT_BSND,
    )
    assert_close((out, attend(call)[1]), attention(call))
    assert scalar.shape == ()
    assert scalar.dtype == np.float32


def test_csa_tnd_float16_with_residual() -> None:
    call = build(
        Case("csa", ("TND", "TND"), "float16", heads=64, rows=(1,), tokens=(6,), cmp_topk=512)
    )
    assert call.q.shape == (1, 64, 512)
    assert call.cmp_kv is not None
    assert call.cmp_kv.shape[0] == 1
    assert call.cmp_residual_kv is not None
    assert call.cmp_residual_kv.tolist() == [2]
    call = dataclasses.replace(call, cmp_sparse_indices=int32([0] + [-1] * 511).reshape(1, 1, 512))
    assert call.cmp_kv is not None
    call.cmp_kv[0] = 0.5
    assert_close(attend(call), attention(call))


def whole_prompt() -> Call:
    """Two prompts of 16 and 18 tokens, all rows at once."""
    return build(
        Case(
            "csa",
            ("TND", "TND"),
            heads=64,
            rows=(16, 18),
            tokens=(16, 18),
            cmp_topk=4,
            window=(-1, 0),
            seed=5,
        )
    )


def rank_part(
    whole: Call, rows: Array, ori: Array, cmp: Array, query_lengths: list[int], prefixes: list[int]
) -> Call:
    """The call of one rank: its rows and the prefixes that end with them."""
    assert whole.cmp_kv is not None
    assert whole.cmp_sparse_indices is not None
    return dataclasses.replace(
        whole,
        q=whole.q[rows],
        ori_kv=whole.ori_kv[ori],
        cmp_kv=whole.cmp_kv[cmp],
        cmp_sparse_indices=whole.cmp_sparse_indices[rows],
        cu_seqlens_q=int32(np.cumsum([0, *query_lengths])),
        cu_seqlens_ori_kv=int32(np.cumsum([0, *prefixes])),
        cu_seqlens_cmp_kv=int32(np.cumsum([0, *(p // 4 for p in prefixes)])),
        seqused_ori_kv=None,
        seqused_cmp_kv=None,
        cmp_residual_kv=int32([p % 4 for p in prefixes]),
    )


def test_two_ranks_joined_equal_the_whole() -> None:
    whole = whole_prompt()
    # Rank 0 has all of the first prompt and 8 rows of the second, rank 1 the other 10 rows.
    first = rank_part(whole, np.arange(24), np.arange(24), np.arange(6), [16, 8], [16, 8])
    second = rank_part(whole, np.arange(24, 34), np.arange(16, 34), np.arange(4, 8), [10], [18])
    assert first.cmp_residual_kv is not None
    assert second.cmp_residual_kv is not None
    assert (first.cmp_residual_kv.tolist(), second.cmp_residual_kv.tolist()) == ([0, 0], [2])

    out, lse = attend(whole)
    assert_close((out, lse), attention(whole))
    parts = [attend(first), attend(second)]
    assert_same_bits(np.concatenate([part[0] for part in parts]), out)
    assert_same_bits(np.concatenate([part[1] for part in parts], axis=1), lse)


def test_defaults_of_the_two_functions_agree() -> None:
    """Masks 0/0 and windows -1/-1 in both; the published page prints other defaults for one."""
    call = build(
        Case(
            "swa", ("BSND", "BSND"), rows=(2,), tokens=(40,), ori_mask=0, scale=1.0, window=(-1, -1)
        )
    )
    metadata = sfmla_ctypes.sparse_flash_mla_metadata(
        8, 1, 512, batch_size=1, max_seqlen_q=2, max_seqlen_ori_kv=40, has_cmp_kv=False
    )
    out, _ = sfmla_ctypes.sparse_flash_mla(
        call.q, ori_kv=call.ori_kv, sinks=call.sinks, metadata=metadata
    )
    assert_close((out, attend(call)[1]), attention(call))
    assert_same_bits(np.asarray(metadata), plan(call))
