# SPDX-License-Identifier: Apache-2.0
"""What phase one of both operators refuses about presence and attributes."""

from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, plan
from refusals import PARAM_INVALID, PARAM_NULL, assert_plan_refused, assert_refused

import sfmla_ctypes
from reference.case_arrays import int32
from reference.cases import Case, build

CSA = Case("csa", rows=(2, 1), tokens=(300, 40))


@pytest.mark.parametrize(
    ("name", "sentence", "code"),
    [
        ("q", "q: NULL, must be a tensor", PARAM_NULL),
        ("ori_kv", "ori_kv: NULL, must be a tensor", PARAM_NULL),
        ("metadata", "metadata: NULL, must be a tensor", PARAM_NULL),
        ("sinks", "sinks: absent, must be given (one FLOAT per query head)", PARAM_INVALID),
    ],
)
def test_bl_62_a_required_tensor_is_missing(name: str, sentence: str, code: int) -> None:
    call = build(CSA)
    arguments = arguments_of(call) | {"metadata": plan(call), name: None}
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        sfmla_ctypes.sparse_flash_mla(**arguments)
    assert (error.value.text, error.value.code) == (sentence, code)


PACKED_CSA = Case("csa", ("TND", "TND"), rows=(2,), tokens=(300,))
UNMASKED_LIST = Case("ori_sparse", rows=(2,), tokens=(300,), ori_mask=0)
UNMASKED_CSA = Case("csa", rows=(2,), tokens=(300,), cmp_mask=0)


@pytest.mark.parametrize(
    ("case", "name", "reason", "reason_of_planner"),
    [
        (CSA, "cu_seqlens_q", "layout_q TND", "layout_q TND"),
        (
            CSA,
            "seqused_ori_kv",
            "layout_kv PA_BBND unless ori_sparse_indices are",
            "layout_kv PA_BBND unless ori_topk is positive",
        ),
        (
            CSA,
            "cmp_residual_kv",
            "cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1",
            "has_cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1",
        ),
        (PACKED_CSA, "cu_seqlens_ori_kv", "layout_kv TND", "layout_kv TND"),
        (
            PACKED_CSA,
            "cu_seqlens_cmp_kv",
            "cmp_kv and layout_kv TND",
            "has_cmp_kv and layout_kv TND",
        ),
        (
            UNMASKED_LIST,
            "ori_topk_length",
            "ori_sparse_indices when ori_mask_mode is 0",
            "a positive ori_topk when ori_mask_mode is 0",
        ),
        (
            UNMASKED_CSA,
            "cmp_topk_length",
            "cmp_sparse_indices when cmp_mask_mode is 0",
            "a positive cmp_topk when cmp_mask_mode is 0",
        ),
    ],
)
def test_bl_63_a_companion_is_missing(
    case: Case, name: str, reason: str, reason_of_planner: str
) -> None:
    call = build(case)
    assert_refused(call, {name: None}, f"{name}: absent, must be given with {reason}")
    assert_plan_refused(
        call, {name: None}, f"{name}: absent, must be given with {reason_of_planner}"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"ori_block_table": None},
            "ori_block_table: absent, must be given with layout_kv PA_BBND",
        ),
        (
            {"cmp_block_table": None},
            "cmp_block_table: absent, must be given with cmp_kv and layout_kv PA_BBND",
        ),
        ({"cmp_kv": None}, "cmp_sparse_indices: given without cmp_kv, must come with it"),
    ],
)
def test_bl_63_a_companion_that_the_planner_does_not_have_is_missing(
    changes: dict[str, Any], sentence: str
) -> None:
    assert_refused(build(CSA), changes, sentence)


ALLOWED_ATTRIBUTES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "cmp_ratio": ("must be in [1, 128]", (0, -1, 129, 200, 2**32 + 4)),
    "ori_mask_mode": ("must be 0 (no mask), 3 (causal) or 4 (sliding window)", (1, 2, 5, -1)),
    "cmp_mask_mode": ("must be 0 (no mask) or 3 (causal)", (1, 2, 4)),
    "ori_win_left": ("must be -1 (unlimited) or a number of tokens", (-2, -(2**31) - 1)),
    "ori_win_right": ("must be -1 (unlimited) or a number of tokens", (-2, -(2**31) - 1)),
    "layout_q": ("must be BSND or TND", ("tnd", "BNSD", "PA_BBND", "")),
    "layout_kv": ("must be BSND, TND or PA_BBND", ("pa", "BNSD", "")),
}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        (name, value, allowed)
        for name, (allowed, values) in ALLOWED_ATTRIBUTES.items()
        for value in values
    ],
)
def test_bl_64_attributes_out_of_range(name: str, value: Any, allowed: str) -> None:
    call = build(CSA)
    assert_refused(call, {name: value}, f"{name}: {value!r}, {allowed}")
    assert_plan_refused(call, {name: value}, f"{name}: {value!r}, {allowed}")


def test_bl_64_layouts_that_do_not_go_together() -> None:
    sentence = "layout_kv: BSND with layout_q TND, must be TND or PA_BBND"
    assert_refused(build(CSA), {"layout_kv": "BSND"}, sentence)
    assert_plan_refused(build(CSA), {"layout_kv": "BSND"}, sentence)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        *(("topk_value_mode", value, "must be 1") for value in (0, 2)),
        *(
            ("softmax_scale", value, "must be finite as a float")
            for value in (np.nan, np.inf, -np.inf, 1e39)
        ),
    ],
)
def test_bl_64_attributes_of_the_main_operator(name: str, value: Any, allowed: str) -> None:
    assert_refused(build(CSA), {name: value}, f"{name}: {value}, {allowed}")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("num_heads_q", 0, "must be in [1, 128]"),
        ("num_heads_q", 129, "must be in [1, 128]"),
        ("num_heads_kv", 2, "must be 1"),
        ("head_dim", 576, "must be 512"),
        *(
            (name, -1, "must be in [0, 2147483647]")
            for name in ("batch_size", "ori_topk", "cmp_topk")
        ),
        *(
            (name, -1, "must be at least 0")
            for name in ("max_seqlen_q", "max_seqlen_ori_kv", "max_seqlen_cmp_kv")
        ),
        ("batch_size", 3, "must be 0 or 2 as cu_seqlens_q says"),
    ],
)
def test_bl_64_attributes_of_the_planner(name: str, value: int, allowed: str) -> None:
    assert_plan_refused(build(CSA), {name: value}, f"{name}: {value}, {allowed}")


def test_prefix_sums_with_a_batched_layout_are_refused() -> None:
    call = build(Case("swa", ("BSND", "BSND"), rows=(2,), tokens=(30,)))
    sentence = "cu_seqlens_q: given with layout_q BSND, must be absent"
    assert_refused(call, {"cu_seqlens_q": int32([0, 2])}, sentence)
