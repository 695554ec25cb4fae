# SPDX-License-Identifier: Apache-2.0
"""What phase one of both operators refuses about types, extents and strides."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from operator_calls import plan
from refusals import assert_plan_refused, assert_refused

from reference.call import Array
from reference.case_arrays import int32
from reference.cases import Case, build

CSA = Case("csa", rows=(2, 1), tokens=(300, 40))
ONE_KV_HEAD = "must be 1 (one key/value head)"
HEAD_WIDTH = (
    "must be 512 (448 without and 64 with rotary embedding in one vector that is key and value)"
)
PLANNED_WORDS = "must be 1024 (the words aclnnSparseFlashMlaMetadata writes)"


INTEGER_TENSORS = (
    "cmp_sparse_indices",
    "ori_block_table",
    "cmp_block_table",
    "cu_seqlens_q",
    "seqused_q",
    "seqused_ori_kv",
    "seqused_cmp_kv",
    "cmp_residual_kv",
    "cmp_topk_length",
)


@pytest.mark.parametrize(
    ("name", "dtype", "sentence"),
    [
        ("q", np.float16, "ori_kv: dtype BFLOAT16, must be FLOAT16 as q"),
        ("q", np.float32, "q: dtype FLOAT, must be FLOAT16 or BFLOAT16"),
        ("ori_kv", np.float16, "ori_kv: dtype FLOAT16, must be BFLOAT16 as q"),
        ("cmp_kv", np.float16, "cmp_kv: dtype FLOAT16, must be BFLOAT16 as q"),
        *((name, np.int64, f"{name}: dtype INT64, must be INT32") for name in INTEGER_TENSORS),
        ("sinks", ml_dtypes.bfloat16, "sinks: dtype BFLOAT16, must be FLOAT"),
    ],
)
def test_bl_65_dtypes(name: str, dtype: Any, sentence: str) -> None:
    call = build(Case("csa", rows=(2, 1), tokens=(300, 40), topk_lengths=True, row_padding=1))
    assert_refused(call, {name: getattr(call, name).astype(dtype)}, sentence)


@pytest.mark.parametrize("name", ["cu_seqlens_q", "seqused_ori_kv", "cmp_residual_kv"])
def test_bl_65_dtypes_of_the_planner(name: str) -> None:
    call = build(CSA)
    wrong = getattr(call, name).astype(np.int64)
    assert_plan_refused(call, {name: wrong}, f"{name}: dtype INT64, must be INT32")


def test_bl_65_outputs_and_metadata() -> None:
    call = build(CSA)
    words = plan(call)
    for changes, sentence in (
        (
            {"out": np.zeros(call.q.shape, np.float16)},
            "attn_out: dtype FLOAT16, must be BFLOAT16 as q",
        ),
        (
            {"softmax_lse_out": np.zeros((1, 3, 8), np.float16)},
            "softmax_lse: dtype FLOAT16, must be FLOAT",
        ),
        ({"metadata": words.astype(np.int64)}, "metadata: dtype INT64, must be INT32"),
        ({"metadata": words[:1023]}, f"metadata: axis 0 (words) is 1023, {PLANNED_WORDS}"),
        (
            {"metadata": np.append(words, words[:1])},
            f"metadata: axis 0 (words) is 1025, {PLANNED_WORDS}",
        ),
        ({"metadata": words.reshape(2, 512)}, "metadata: rank 2, must be 1 (words)"),
    ):
        assert_refused(call, changes, sentence)


def bf16(*shape: int) -> Array:
    return np.zeros(shape, ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [  # for a CSA call of 3 rows, 2 requests and 8 heads
        (
            "cmp_sparse_indices",
            np.zeros((24, 1, 64), np.int32),
            "cmp_sparse_indices: axis 0 (T1) is 24, must be 3 as in q",
        ),
        (
            "cmp_sparse_indices",
            np.zeros((3, 2, 64), np.int32),
            f"cmp_sparse_indices: axis 1 (N2) is 2, {ONE_KV_HEAD}",
        ),
        (
            "cmp_sparse_indices",
            np.zeros((3, 64), np.int32),
            "cmp_sparse_indices: rank 2, must be 3 (T1, N2, K2)",
        ),
        (
            "cmp_sparse_indices",
            np.zeros((3, 1, 0), np.int32),
            "cmp_sparse_indices: last axis is 0, must be at least 1",
        ),
        ("ori_kv", bf16(4, 128, 2, 512), f"ori_kv: axis 2 (N2) is 2, {ONE_KV_HEAD}"),
        ("ori_kv", bf16(4, 128, 512), "ori_kv: rank 3, must be 4 (pages, tokens, N2, D)"),
        ("ori_kv", bf16(4, 128, 1, 576), f"ori_kv: axis 3 (D) is 576, {HEAD_WIDTH}"),
        (
            "ori_kv",
            bf16(2, 1025, 1, 512),
            "ori_kv: axis 1 (block size) is 1025, must be in [1, 1024]",
        ),
        ("ori_kv", bf16(0, 128, 1, 512), "ori_kv: zero elements, must hold at least one token"),
        ("ori_kv", bf16(4, 0, 1, 512), "ori_kv: zero elements, must hold at least one token"),
        (
            "cmp_kv",
            bf16(2, 1025, 1, 512),
            "cmp_kv: axis 1 (block size) is 1025, must be in [1, 1024]",
        ),
        (
            "ori_block_table",
            int32([[0, 1, 2]]),
            "ori_block_table: axis 0 (B) is 1, must be 2 (from cu_seqlens_q)",
        ),
        (
            "ori_block_table",
            int32([0, 1, 2]),
            "ori_block_table: rank 1, must be 2 (B, pages per request)",
        ),
        (
            "seqused_ori_kv",
            int32([300]),
            "seqused_ori_kv: axis 0 (B) is 1, must be 2 (from cu_seqlens_q)",
        ),
        (
            "seqused_cmp_kv",
            int32([75, 10, 0]),
            "seqused_cmp_kv: axis 0 (B) is 3, must be 2 (from cu_seqlens_q)",
        ),
        (
            "cmp_residual_kv",
            int32([0]),
            "cmp_residual_kv: axis 0 (B) is 1, must be 2 (from cu_seqlens_q)",
        ),
        ("seqused_q", int32([1]), "seqused_q: axis 0 (B) is 1, must be 2 (from cu_seqlens_q)"),
        ("cu_seqlens_q", int32([[0, 2, 3]]), "cu_seqlens_q: rank 2, must be 1 (B+1)"),
        ("sinks", np.zeros(7, np.float32), "sinks: axis 0 (N1) is 7, must be 8 as in q"),
        ("out", bf16(3, 8, 256), f"attn_out: axis 2 (D) is 256, {HEAD_WIDTH}"),
    ],
)
def test_bl_29_extents_that_do_not_agree(name: str, value: Array, sentence: str) -> None:
    assert_refused(build(CSA), {name: value}, sentence)


@pytest.mark.parametrize("heads", [0, 129, 256])
def test_bl_60_head_counts_outside_1_to_128(heads: int) -> None:
    assert_refused(
        build(CSA),
        {"q": bf16(3, heads, 512), "sinks": np.zeros(heads, np.float32)},
        f"q: axis N1 is {heads}, must be in [1, 128]",
    )


def test_bl_60_a_table_without_columns_is_an_absent_one() -> None:
    assert_refused(
        build(CSA),
        {"ori_block_table": np.zeros((2, 0), np.int32)},
        "ori_block_table: absent, must be given with layout_kv PA_BBND",
    )


def test_bl_82_a_wider_head_is_refused_with_an_explanation() -> None:
    assert_refused(build(CSA), {"q": bf16(3, 8, 576)}, f"q: axis 2 (D) is 576, {HEAD_WIDTH}")
