# SPDX-License-Identifier: Apache-2.0
"""Every refusal of phase one: its code, and a sentence: operand, found value, allowed one."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from operator_calls import attend, plan, replace

import sfmla_ctypes
from reference.attention import attention
from reference.call import Call
from reference.cases import LAYOUTS, Case, build, int32
from reference.compare import assert_close

PARAM_NULL, PARAM_INVALID = 161001, 161002
CSA = Case("csa", rows=(2, 1), tokens=(300, 40))
HCA = Case("hca", rows=(2, 1), tokens=(300, 40), ratio=4)
SPARSE = Case("ori_sparse", rows=(2, 1), tokens=(300, 40))


def assert_refused(
    call: Call, changes: dict[str, Any], words: list[str], code: int = PARAM_INVALID
) -> None:
    """The main operator refuses; the next good call works."""
    metadata = plan(call)
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        attend(call, metadata, **changes)
    assert error.value.code == code
    assert "\n" not in error.value.text
    for word in words:
        assert word in error.value.text
    assert_close(attend(call, metadata), attention(call))


def assert_plan_refused(
    call: Call, changes: dict[str, Any], words: list[str], code: int = PARAM_INVALID
) -> None:
    with pytest.raises(sfmla_ctypes.AclError) as error:
        plan(call, **changes)
    assert error.value.code == code
    for word in words:
        assert word in error.value.text


@pytest.mark.parametrize(
    ("name", "code"), [("ori_kv", PARAM_NULL), ("metadata", PARAM_NULL), ("sinks", PARAM_INVALID)]
)
def test_bl_62_a_required_tensor_is_missing(name: str, code: int) -> None:
    call = build(CSA)
    arguments: dict[str, Any] = {"metadata": plan(call)} | {
        field: getattr(call, field) for field in call.__dataclass_fields__
    }
    with pytest.raises(sfmla_ctypes.AclParamError, match=name) as error:
        sfmla_ctypes.sparse_flash_mla(**(arguments | {name: None}))
    assert error.value.code == code


@pytest.mark.parametrize(
    ("case", "name", "reason"),
    [
        (CSA, "ori_block_table", "PA_BBND"),
        (CSA, "seqused_ori_kv", "PA_BBND"),
        (CSA, "cu_seqlens_q", "TND"),
        (CSA, "cmp_block_table", "PA_BBND"),
        (CSA, "cmp_residual_kv", "cmp_mask_mode"),
        (CSA, "cmp_kv", "cmp_sparse_indices"),
        (Case("csa", ("TND", "TND"), rows=(2,), tokens=(300,)), "cu_seqlens_ori_kv", "TND"),
        (Case("csa", ("TND", "TND"), rows=(2,), tokens=(300,)), "cu_seqlens_cmp_kv", "TND"),
        (
            Case("ori_sparse", rows=(2,), tokens=(300,), ori_mask=0),
            "ori_topk_length",
            "ori_mask_mode",
        ),
        (Case("csa", rows=(2,), tokens=(300,), cmp_mask=0), "cmp_topk_length", "cmp_mask_mode"),
    ],
)
def test_bl_63_a_companion_is_missing(case: Case, name: str, reason: str) -> None:
    call = build(case)
    assert getattr(call, name) is not None
    assert_refused(call, {name: None}, [name, reason])
    if name in ("cmp_kv", "ori_block_table", "cmp_block_table"):
        return  # the planner has no such argument
    assert_plan_refused(call, {name: None}, [name, reason])


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({"cmp_ratio": value}, ["cmp_ratio", str(value), "128"]) for value in (0, -1, 129, 200)),
        *(
            ({"ori_mask_mode": value}, ["ori_mask_mode", str(value), "3 (causal)"])
            for value in (1, 2, 5, -1)
        ),
        *(({"cmp_mask_mode": value}, ["cmp_mask_mode", str(value), "0"]) for value in (1, 2, 4)),
        ({"ori_win_left": -2}, ["ori_win_left", "-2", "-1"]),
        ({"ori_win_right": -2}, ["ori_win_right", "-2", "-1"]),
        ({"cmp_ratio": 2**32 + 4}, ["cmp_ratio", "4294967300"]),
        *(
            ({"layout_q": value}, ["layout_q", value, "BSND", "TND"])
            for value in ("tnd", "BNSD", "PA_BBND")
        ),
        *(({"layout_kv": value}, ["layout_kv", value, "PA_BBND"]) for value in ("pa", "BNSD")),
        ({"layout_kv": "BSND"}, ["layout_kv", "BSND", "TND"]),
    ],
)
def test_bl_64_attributes_out_of_range(changes: dict[str, Any], words: list[str]) -> None:
    call = build(CSA)
    assert_refused(call, changes, words)
    assert_plan_refused(call, changes, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({"topk_value_mode": value}, ["topk_value_mode", str(value), "1"]) for value in (0, 2)),
        *(
            ({"softmax_scale": value}, ["softmax_scale", "finite"])
            for value in (np.nan, np.inf, -np.inf)
        ),
    ],
)
def test_bl_64_attributes_of_the_main_operator(changes: dict[str, Any], words: list[str]) -> None:
    assert_refused(build(CSA), changes, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_heads_q": 0}, ["num_heads_q", "0", "128"]),
        ({"num_heads_q": 129}, ["num_heads_q", "129", "128"]),
        ({"num_heads_kv": 2}, ["num_heads_kv", "2", "1"]),
        ({"head_dim": 576}, ["head_dim", "576", "512"]),
        *(
            ({name: -1}, [name, "-1"])
            for name in (
                "batch_size",
                "max_seqlen_q",
                "max_seqlen_ori_kv",
                "max_seqlen_cmp_kv",
                "ori_topk",
                "cmp_topk",
            )
        ),
        ({"batch_size": 3}, ["batch", "3", "2"]),
    ],
)
def test_bl_64_attributes_of_the_planner(changes: dict[str, Any], words: list[str]) -> None:
    assert_plan_refused(build(CSA), changes, words)


@pytest.mark.parametrize(
    ("name", "dtype", "words"),
    [
        ("q", np.float16, ["ori_kv", "BFLOAT16", "FLOAT16"]),
        ("q", np.float32, ["q", "FLOAT", "BFLOAT16"]),
        ("ori_kv", np.float16, ["ori_kv", "FLOAT16", "BFLOAT16"]),
        ("cmp_kv", np.float16, ["cmp_kv", "FLOAT16", "BFLOAT16"]),
        *(
            (name, np.int64, [name, "INT64", "INT32"])
            for name in (
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
        ),
        ("sinks", ml_dtypes.bfloat16, ["sinks", "BFLOAT16", "FLOAT"]),
    ],
)
def test_bl_65_dtypes(name: str, dtype: Any, words: list[str]) -> None:
    call = build(Case("csa", rows=(2, 1), tokens=(300, 40), topk_lengths=True, row_padding=1))
    assert_refused(call, {name: getattr(call, name).astype(dtype)}, words)


def test_bl_65_dtypes_of_outputs_and_metadata() -> None:
    call = build(CSA)
    words = plan(call)
    assert_refused(call, {"out": np.zeros(call.q.shape, np.float16)}, ["attn_out", "FLOAT16"])
    assert_refused(
        call,
        {"softmax_lse_out": np.zeros((1, 3, 8), np.float16)},
        ["softmax_lse", "FLOAT16", "FLOAT"],
    )
    for metadata, found in (
        (words.astype(np.int64), "INT64"),
        (words[:1023], "1023"),
        (np.append(words, words[:1]), "1025"),
        (words.reshape(2, 512), "2"),
    ):
        with pytest.raises(sfmla_ctypes.AclParamError, match="metadata") as error:
            attend(call, metadata)
        assert error.value.code == PARAM_INVALID
        assert found in error.value.text
    for name in ("cu_seqlens_q", "seqused_ori_kv", "cmp_residual_kv"):
        assert_plan_refused(
            call, {name: getattr(call, name).astype(np.int64)}, [name, "INT64", "INT32"]
        )


def shape_changes(call: Call) -> list[tuple[str, Any, list[str]]]:
    """(argument, wrong value, words of the sentence) for one CSA call of 3 rows, 2 requests."""
    assert call.cmp_sparse_indices is not None
    indices = call.cmp_sparse_indices
    assert call.sinks is not None
    assert call.ori_block_table is not None
    wide_kv = np.zeros((4, 128, 2, 512), call.q.dtype)
    return [
        ("cmp_sparse_indices", np.repeat(indices, 8, axis=0), ["24", "3"]),
        ("cmp_sparse_indices", np.repeat(indices, 2, axis=1), ["2", "1"]),
        ("cmp_sparse_indices", indices[:, 0], ["cmp_sparse_indices"]),
        ("cmp_sparse_indices", indices[..., :0], ["cmp_sparse_indices", "0"]),
        ("ori_kv", wide_kv, ["2", "1"]),
        ("ori_kv", wide_kv[:, :, 0], ["ori_kv"]),
        ("ori_kv", np.zeros((4, 128, 1, 576), call.q.dtype), ["576", "512"]),
        ("ori_kv", np.zeros((2, 1025, 1, 512), call.q.dtype), ["1025", "1024"]),
        ("ori_kv", np.zeros((0, 128, 1, 512), call.q.dtype), ["ori_kv", "zero"]),
        ("ori_kv", np.zeros((4, 0, 1, 512), call.q.dtype), ["ori_kv", "zero"]),
        ("cmp_kv", np.zeros((2, 1025, 1, 512), call.q.dtype), ["1025", "1024"]),
        ("ori_block_table", call.ori_block_table[:1], ["1", "2"]),
        ("ori_block_table", call.ori_block_table.ravel(), ["ori_block_table"]),
        ("seqused_ori_kv", int32([300]), ["1", "2"]),
        ("seqused_cmp_kv", int32([75, 10, 0]), ["3", "2"]),
        ("cmp_residual_kv", int32([0]), ["1", "2"]),
        ("seqused_q", int32([1]), ["1", "2"]),
        ("cu_seqlens_q", int32([[0, 2, 3]]), ["cu_seqlens_q"]),
        ("sinks", call.sinks[:7], ["7", "8"]),
        ("out", np.zeros((3, 8, 256), call.q.dtype), ["attn_out", "256", "512"]),
    ]


@pytest.mark.parametrize("number", range(20))
def test_bl_29_extents_that_do_not_agree(number: int) -> None:
    call = build(CSA)
    name, value, words = shape_changes(call)[number]
    assert_refused(call, {name: value}, [name if name != "out" else "attn_out", *words])


def test_bl_60_head_counts_outside_1_to_128() -> None:
    call = build(CSA)
    for heads in (0, 129, 256):
        q = np.zeros((3, heads, 512), call.q.dtype)
        with pytest.raises(sfmla_ctypes.AclParamError) as error:
            attend(replace(call, q=q, sinks=np.zeros(heads, np.float32)), plan(call))
        assert error.value.code == PARAM_INVALID
        assert str(heads) in error.value.text


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


def test_bl_60_a_table_without_columns() -> None:
    call = build(Case(rows=(1,), tokens=(40,)))
    with pytest.raises(sfmla_ctypes.AclError, match="ori_block_table") as error:
        attend(replace(call, ori_block_table=np.zeros((1, 0), np.int32)), plan(call))
    assert error.value.code in (PARAM_INVALID, 507015)


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


def test_bl_82_a_wider_head_is_refused_with_an_explanation() -> None:
    call = build(CSA)
    with pytest.raises(sfmla_ctypes.AclParamError, match="512") as error:
        attend(replace(call, q=np.zeros((3, 8, 576), call.q.dtype)), plan(call))
    assert error.value.code == PARAM_INVALID
    assert "576" in error.value.text


def test_a_packed_tensor_with_a_padded_layout_is_refused() -> None:
    call = build(Case("swa", ("BSND", "BSND"), rows=(2,), tokens=(30,)))
    assert_refused(call, {"cu_seqlens_q": int32([0, 2])}, ["cu_seqlens_q", "BSND"])


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
    np.testing.assert_array_equal(found, expected)
