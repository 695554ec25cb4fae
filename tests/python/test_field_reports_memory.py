# SPDX-License-Identifier: Apache-2.0
"""Field reports about strides, offsets, guards, empty tensors and dirty memory."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from operator_calls import attend, plan, poisoned_outputs, replace
from refusals import assert_plan_refused, assert_refused

import sfmla_ctypes
from reference.attention import attention, rows_of
from reference.call import Array, Call
from reference.case_arrays import int32
from reference.cases import LAYOUTS, MODES, Case, build
from reference.compare import assert_close, assert_same_bits

TENSORS = [
    field.name for field in dataclasses.fields(Call) if field.type in ("Array", "Array | None")
]
# An index list without lanes is refused, see test_refusals_of_tensors.
OPTIONAL = [
    name
    for name in TENSORS
    if name not in ("q", "ori_kv", "sinks", "ori_sparse_indices", "cmp_sparse_indices")
]


def with_stride(array: Array, axis: int, elements: int) -> Array:
    """A copy of `array` in which one axis has the given stride."""
    strides = [stride // array.itemsize for stride in array.strides]
    strides[axis] = elements
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    storage = np.zeros(span, array.dtype)
    view = np.lib.stride_tricks.as_strided(
        storage, array.shape, [s * array.itemsize for s in strides]
    )
    view[...] = array
    return view


@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
@pytest.mark.parametrize("gap", [10 * 512, 131072 - 128 * 512])
def test_bl_46_pages_may_have_gaps_between_them(layouts: tuple[str, str], gap: int) -> None:
    case = Case("csa", layouts, rows=(2, 1), tokens=(300, 200), page_gap_elements=gap)
    call = build(case)
    assert_close(attend(call), attention(call))
    packed = replace(
        call, ori_kv=np.ascontiguousarray(call.ori_kv), cmp_kv=np.ascontiguousarray(call.cmp_kv)
    )
    assert_same_bits(attend(call)[0], attend(packed)[0])


def test_bl_46_two_caches_in_one_allocation() -> None:
    """Each record of the pool has a page of both caches."""
    call = build(Case("hca", rows=(1, 1), tokens=(300, 700), ratio=4, ori_block=128, cmp_block=32))
    assert call.cmp_kv is not None
    pages = max(len(call.ori_kv), len(call.cmp_kv))
    pool = np.full((pages, 160, 1, 512), np.nan, call.q.dtype)
    pool[: len(call.ori_kv), :128] = call.ori_kv
    pool[: len(call.cmp_kv), 128:] = call.cmp_kv
    shared = replace(call, ori_kv=pool[:, :128], cmp_kv=pool[:, 128:])
    # Entries that no token needs may hold any id; a larger pool changes nothing.
    assert_same_bits(attend(shared)[0], attend(call)[0])


def test_bl_47_stride_of_an_axis_of_extent_1_does_not_matter() -> None:
    call = build(Case(rows=(1,), tokens=(200,)))
    strides = list(call.ori_kv.strides)
    for stride in (0, 2, 6, 2**40):
        strides[2] = stride
        view = np.lib.stride_tricks.as_strided(call.ori_kv, strides=strides)
        assert_same_bits(attend(replace(call, ori_kv=view))[0], attend(call)[0])


@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_bl_47_tokens_may_have_gaps(layouts: tuple[str, str]) -> None:
    call = build(Case("csa", layouts, rows=(2,), tokens=(300,), row_gap_elements=88))
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("name", ["ori_kv", "cmp_kv"])
def test_bl_47_other_strides_are_refused_by_name(name: str) -> None:
    call = build(Case("csa", ("BSND", "BSND"), rows=(2, 2), tokens=(8, 8)))
    kv = getattr(call, name)
    for view in (np.repeat(kv, 2, axis=3)[..., ::2], kv[::-1], with_stride(kv, 1, 256)):
        with pytest.raises(sfmla_ctypes.AclParamError, match=name) as error:
            attend(replace(call, **{name: view}), plan(call))
        assert error.value.code == 161002
        assert "stride" in error.value.text


@pytest.mark.parametrize("name", [n for n in TENSORS if n not in ("ori_kv", "cmp_kv")])
def test_bl_47_other_inputs_may_have_any_strides(name: str) -> None:
    call = build(
        Case("ori_cmp_sparse", rows=(2, 3), tokens=(300, 40), topk_lengths=True, row_padding=1)
    )
    value = getattr(call, name)
    if value is None:
        call = build(
            Case(
                "ori_cmp_sparse",
                ("TND", "TND"),
                rows=(2, 3),
                tokens=(300, 40),
                row_padding=1,
                token_padding=1,
            )
        )
        value = getattr(call, name)
    spread = np.repeat(value, 2, axis=-1)[..., ::2]
    mirrored = np.flip(np.flip(value).copy())
    expected = attend(call)[0]
    words = plan(call)
    assert_same_bits(attend(replace(call, **{name: spread}), words)[0], expected)
    assert_same_bits(attend(replace(call, **{name: mirrored}), words)[0], expected)
    assert_same_bits(plan(replace(call, **{name: spread})), words)


def test_bl_47_outputs_are_contiguous() -> None:
    call = build(Case("swa", ("BSND", "BSND"), rows=(2, 2), tokens=(8, 8)))
    out, _ = poisoned_outputs(call)
    assert_refused(
        call,
        {"out": np.repeat(out, 2, axis=0)[::2]},
        "attn_out: stride of axis 0 is 16384, must be 8192 (an output is contiguous)",
    )
    assert_plan_refused(
        call,
        {"out": np.zeros(2048, np.int32)[::2]},
        "metadata: stride of axis 0 is 2, must be 1 (an output is contiguous)",
    )


def test_bl_48_a_view_inside_a_large_allocation() -> None:
    call = build(Case(rows=(1,), tokens=(300,)))
    storage = np.full((500, *call.ori_kv.shape[1:]), np.nan, call.q.dtype)
    view = storage[171 : 171 + len(call.ori_kv)]
    view[...] = call.ori_kv
    assert_same_bits(attend(replace(call, ori_kv=view))[0], attend(call)[0])
    assert call.ori_block_table is not None
    call.ori_block_table[0, 1] = len(call.ori_kv)  # a page of the storage, not of the view
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="ori_block_table") as error:
        attend(replace(call, ori_kv=view))
    assert error.value.code == 507015


def test_bl_50_results_do_not_depend_on_scratch_left_by_others() -> None:
    call = build(Case("csa", rows=(2,), tokens=(3000,), heads=64, cmp_topk=512))
    poison = build(Case("csa", rows=(2,), tokens=(3000,), heads=64, cmp_topk=512))
    poison.q[:] = np.nan
    first = attend(call)
    attend(poison)
    again = attend(call)
    assert_same_bits(again[0], first[0])
    assert_same_bits(again[1], first[1])


@pytest.mark.parametrize("mode", MODES)
def test_bl_51_every_output_row_is_written(mode: str) -> None:
    call = build(Case(mode, rows=(1, 1, 1), tokens=(130, 0, 40)))
    out, lse = attend(call)
    assert_close((out, lse), attention(call))
    assert not out[1].any()


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 8, 12, 16, 17, 24, 32, 48, 64, 96, 128])
@pytest.mark.parametrize("mode", ["swa", "csa"])
def test_bl_52_nothing_is_written_beyond_the_real_heads(heads: int, mode: str) -> None:
    call = build(Case(mode, rows=(3,), tokens=(200,), heads=heads))
    guarded_out = np.full((3 + 2, heads, 512), 7, call.q.dtype)
    guarded_lse = np.full(3 * heads + 200, 7, np.float32)
    lse = guarded_lse[100:-100].reshape(1, 3, heads)
    found = attend(call, out=guarded_out[1:-1], softmax_lse_out=lse)
    assert_close(found, attention(call))
    assert (guarded_out[[0, -1]] == 7).all()
    assert (guarded_lse[:100] == 7).all()
    assert (guarded_lse[-100:] == 7).all()


@pytest.mark.parametrize("name", OPTIONAL)
def test_bl_53_an_empty_tensor_means_absent(name: str) -> None:
    """In both operators, also where absence is an error."""
    call = build(Case("ori_cmp_sparse", rows=(2, 3), tokens=(300, 40), topk_lengths=True))
    dtype = call.q.dtype if name == "cmp_kv" else np.int32
    results: list[tuple[Any, ...]] = []
    for absent in (None, np.zeros(0, dtype)):
        changed = replace(call, **{name: absent})
        try:
            results.append((plan(changed), *attend(changed)))
        except sfmla_ctypes.AclParamError as error:
            results.append((error.code, error.text))
    assert len(results[0]) == len(results[1])
    for absent_result, empty_result in zip(*results, strict=True):
        if isinstance(absent_result, np.ndarray):
            assert_same_bits(empty_result, absent_result)
        else:
            assert empty_result == absent_result


def test_overlapping_pages_may_be_read() -> None:
    call = build(Case("swa", ("BSND", "BSND"), rows=(1, 1), tokens=(40, 40)))
    storage = np.random.default_rng(1).standard_normal((41, 1, 512)).astype(call.q.dtype)
    overlapping = np.lib.stride_tricks.as_strided(
        storage, (2, 40, 1, 512), (storage.strides[0], *storage.strides)
    )
    call = replace(call, ori_kv=overlapping)
    assert_close(attend(call), attention(call))


def test_a_page_id_outside_the_pool_is_reported_and_harmless() -> None:
    call = build(Case("hca", rows=(1, 2), tokens=(300, 513), ratio=4))
    good = attend(call)
    for name in ("ori_block_table", "cmp_block_table"):
        pages = len(getattr(call, name.replace("block_table", "kv")))
        for entry in (-1, pages, 2**31 - 1, -(2**31)):
            table = getattr(call, name).copy()
            column = 4 if name == "ori_block_table" else 0
            table[1, column] = entry
            with pytest.raises(sfmla_ctypes.AclDeviceError, match=name) as error:
                attend(replace(call, **{name: table}))
            assert error.value.code == 507015
            assert str(entry) in error.value.text
            assert_same_bits(attend(call)[0], good[0])


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("cu_seqlens_q", [1, 2, 4], "1"),
        ("cu_seqlens_q", [0, 3, 2], "2"),
        ("seqused_ori_kv", [-1, 40], "-1"),
        ("seqused_cmp_kv", [75, -7], "-7"),
        ("cmp_residual_kv", [4, 0], "4"),
        ("cmp_residual_kv", [0, -1], "-1"),
        ("seqused_q", [3, 1], "3"),
        ("seqused_q", [2, -2], "-2"),
    ],
)
def test_bad_lengths_are_reported_by_the_planner(name: str, values: list[int], found: str) -> None:
    call = build(Case("csa", rows=(2, 2), tokens=(300, 40)))
    with pytest.raises(sfmla_ctypes.AclDeviceError, match=name) as error:
        plan(call, **{name: int32(values)})
    assert error.value.code == 507018
    assert found in error.value.text
    assert_same_bits(plan(call), plan(call))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("heads", [1, 8, 64])
def test_a_nan_in_an_attended_token_reaches_its_rows_only(mode: str, heads: int) -> None:
    """Also through the merge of the parts of a long row."""
    call = build(
        Case(
            mode,
            ("TND", "TND"),
            heads=heads,
            rows=(3, 2),
            tokens=(4000, 30),
            ratio=2,
            ori_mask=3,
            ori_topk=3000,
            cmp_topk=1500,
        )
    )
    clean = attend(call)
    for cache in ("ori", "cmp") if call.cmp_kv is not None else ("ori",):
        kv = getattr(call, f"{cache}_kv")
        for row in list(rows_of(call))[:1]:
            for key in getattr(row, f"{cache}_keys")[[0, -1]]:
                damaged = kv.copy()
                damaged[key, 0, 511] = np.nan
                changed = replace(call, **{f"{cache}_kv": damaged})
                found, expected = attend(changed), attention(changed)
                assert_close(found, expected)
                untouched = ~np.isnan(expected[1][0]).any(axis=-1)
                assert not untouched[0]
                assert untouched[3:].all()
                assert_same_bits(found[0][untouched], clean[0][untouched])
