# SPDX-License-Identifier: Apache-2.0
"""SparseAttnSharedkv: every pair of settings against the oracle, its bits, refusals."""

import dataclasses
import inspect
import re
from typing import Any

import numpy as np
import pytest
from operator_calls import FEW_AND_MANY, arguments_of, core_limit, on_device, replace
from operator_calls import attend as attend_flash_mla
from thread_counts import COUNTS, answers, digest

import sfmla_ctypes
from reference.call import Array
from reference.case_arrays import int32
from reference.compare import assert_lse_close, assert_output_close, assert_same_bits
from reference.sparse_attn_sharedkv import SharedKvCall, attention, cache
from reference.sparse_attn_sharedkv_cases import (
    MODES,
    SharedKvCase,
    as_sparse_flash_mla,
    build,
    matrix,
    planning_arguments,
)
from sfmla_ctypes.reference import sparse_attn_sharedkv as package_attention

CASES = matrix()


def call_of(case: SharedKvCase) -> SharedKvCall:
    """The operator requires sinks; minus infinity is as good as none."""
    call = build(case)
    none = np.full(case.heads, -np.inf, np.float32)
    return call if call.sinks is not None else replace(call, sinks=none)


def plan(call: SharedKvCall, **changes: Any) -> Array:
    words: Array = sfmla_ctypes.sparse_attn_sharedkv_metadata(
        **(planning_arguments(call) | changes)
    )
    return words


def attend(call: SharedKvCall, **changes: Any) -> tuple[Array, Array]:
    """Outputs are poisoned before; plans first unless `metadata` is given, None included."""
    results = {"out": np.full(call.q.shape, np.nan, call.q.dtype)}
    if call.return_softmax_lse:
        results["softmax_lse_out"] = np.full((*call.q.shape[:-1], 1), np.nan, np.float32)
    arguments = arguments_of(call) | results | changes
    if "metadata" not in changes:
        arguments["metadata"] = plan(call)
    found: tuple[Array, Array] = sfmla_ctypes.sparse_attn_sharedkv(**arguments)
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_row_and_head_against_the_oracle(case: SharedKvCase) -> None:
    call = call_of(case)
    out, lse = attend(call)
    expected_out, expected_lse = attention(call)
    assert_output_close(out, expected_out, expected_lse)
    if call.return_softmax_lse:
        assert_lse_close(lse, expected_lse)
    else:
        assert (lse.shape, lse) == ((), 0)


# SparseFlashMla has fewer pairs of layouts, and another meaning of a right window before a prefix.
COMMON_CASES = [
    case for case in CASES if case.window[1] == 0 and case.layouts[1] in ("PA_ND", case.layouts[0])
]


@pytest.mark.parametrize("case", COMMON_CASES, ids=str)
def test_bits_of_the_sparse_flash_mla_call(case: SharedKvCase) -> None:
    call = call_of(case)
    out, lse = attend(call)
    expected_out, expected_lse = attend_flash_mla(as_sparse_flash_mla(call))
    assert_same_bits(out, expected_out)
    if call.return_softmax_lse:
        assert_same_bits(lse, expected_lse.reshape(lse.shape))


@pytest.mark.parametrize("case", CASES[::7], ids=str)
def test_device_arrays_give_the_same_bits(case: SharedKvCase) -> None:
    strided = call_of(case)
    caches = {"ori_kv": cache(strided, "ori"), "ori_kv_stride": 0, "cmp_kv_stride": 0}
    if strided.cmp_kv is not None:
        caches["cmp_kv"] = cache(strided, "cmp")
    call = replace(strided, **caches)  # a copy on the device has no gaps
    planned = on_device(planning_arguments(call))
    words = sfmla_ctypes.sparse_attn_sharedkv_metadata(**planned)
    results = sfmla_ctypes.sparse_attn_sharedkv(**on_device(arguments_of(call)), metadata=words)
    for found, expected in zip(results, attend(strided), strict=True):
        assert_same_bits(np.asarray(found), expected)


@pytest.mark.parametrize("case", CASES[::9], ids=str)
def test_numbers_do_not_depend_on_metadata_or_the_lse_flag(case: SharedKvCase) -> None:
    call = replace(call_of(case), return_softmax_lse=True)
    expected = attend(call)
    upstream = plan(call)
    upstream[864:] = 0  # what other planners leave there
    upstream[:8] = [1, 0, 0, 0, 1, 0, 0, 0]
    junk = np.random.default_rng(case.seed).integers(-(2**31), 2**31, 1024).astype(np.int32)
    for words in (np.zeros(1024, np.int32), upstream, junk):
        for found, right in zip(attend(call, metadata=words), expected, strict=True):
            assert_same_bits(found, right)
    assert_same_bits(attend(replace(call, return_softmax_lse=False))[0], expected[0])


def without_room(mode: str, layout: str, ratio: int) -> SharedKvCall:
    """Requests of 40 and 9 tokens whose parts of the compressed cache end after 7 and 2 rows."""
    case = SharedKvCase(mode, ("TND", layout), rows=(3, 2), tokens=(40, 9), ratio=ratio, topk=8)
    call = call_of(replace(case, cmp_block=1) if layout == "PA_ND" else case)
    assert call.cmp_kv is not None
    rng = np.random.default_rng(2)
    kv = rng.standard_normal(call.cmp_kv.shape).astype(call.cmp_kv.dtype)
    if layout == "TND":
        return replace(call, cmp_kv=kv, cu_seqlens_cmp_kv=int32([0, 7, 9]))
    if layout == "PA_ND":
        assert call.cmp_block_table is not None
        return replace(call, cmp_kv=kv, cmp_block_table=call.cmp_block_table[:, :7])
    return replace(call, cmp_kv=kv[:, :7], seqused_kv=int32([40, 9]))


@pytest.mark.parametrize("ratio", [1, 4])
@pytest.mark.parametrize("layout", ["PA_ND", "BSND", "TND"])
@pytest.mark.parametrize("mode", ["cfa", "scfa"])
def test_groups_without_room_in_the_compressed_cache_are_not_there(
    mode: str, layout: str, ratio: int
) -> None:
    call = without_room(mode, layout, ratio)
    out, lse = attend(call, metadata=np.zeros(1024, np.int32))
    for expected in (attention(call), package_attention(**arguments_of(call))):
        assert_output_close(out, *expected)
        assert_lse_close(lse, expected[1])


def test_a_nan_sink_reaches_the_rows_of_its_head_that_have_a_key() -> None:
    call = build(SharedKvCase("cfa", rows=(3,), tokens=(2,), heads=4))
    sinks = np.array([0, np.nan, 0, np.nan], np.float32)
    out, lse = attend(replace(call, sinks=sinks))
    expected = np.isnan(sinks) & np.array([[False], [True], [True]])  # row 0 is before the tokens
    assert (np.isnan(out).all(axis=-1) == expected).all()
    assert (np.isnan(lse[..., 0]) == expected).all()
    assert_same_bits(out, attend_flash_mla(as_sparse_flash_mla(replace(call, sinks=sinks)))[0])
    none = attend(replace(call, sinks=np.zeros(4, np.float32)))[0]
    assert_same_bits(out[:, ::2], none[:, ::2])


# Bits of a row: alone, in a batch, with any threads and cores.


def mixed_batch(mode: str, heads: int = 12) -> SharedKvCall:
    """Requests of all kinds of length, packed queries and paged caches."""
    rng = np.random.default_rng(7)
    rows, tokens = rng.choice([0, 1, 2, 5], 16), rng.choice([0, 1, 127, 129, 513, 2500], 16)
    counts: dict[str, Any] = {"rows": tuple(map(int, rows)), "tokens": tuple(map(int, tokens))}
    return build(SharedKvCase(mode, **counts, heads=heads, topk=300))


def only_request(call: SharedKvCall, request: int) -> SharedKvCall:
    assert call.cu_seqlens_q is not None
    first, end = map(int, call.cu_seqlens_q[request : request + 2])
    changes: dict[str, Any] = {"cu_seqlens_q": int32([0, end - first]), "q": call.q[first:end]}
    if call.cmp_sparse_indices is not None:
        changes["cmp_sparse_indices"] = call.cmp_sparse_indices[first:end]
    for name in ("ori_block_table", "cmp_block_table", "seqused_kv"):
        if getattr(call, name) is not None:
            changes[name] = getattr(call, name)[request : request + 1]
    return replace(call, **changes)


@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("mode", MODES)
def test_a_request_alone_and_in_a_batch(mode: str, heads: int) -> None:
    call = mixed_batch(mode, heads)
    together = attend(call)
    assert call.cu_seqlens_q is not None
    for request in range(16):
        rows = slice(*map(int, call.cu_seqlens_q[request : request + 2]))
        for found, whole in zip(attend(only_request(call, request)), together, strict=True):
            assert_same_bits(found, whole[rows])


def digests(counts: tuple[int, ...] = FEW_AND_MANY) -> list[str]:
    return [digest(*attend(mixed_batch(mode, heads))) for mode in MODES for heads in counts]


def test_the_number_of_threads_changes_no_bit() -> None:
    assert answers("test_sparse_attn_sharedkv", "digests") == [digests()] * len(COUNTS)


@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_cores_changes_the_plan_and_no_bit(mode: str) -> None:
    call = mixed_batch(mode)
    expected, full_plan = attend(call), plan(call)
    with core_limit(2):
        small_plan = plan(call)
    assert (small_plan[:864] != full_plan[:864]).any()
    assert_same_bits(attend(call, metadata=small_plan)[0], expected[0])


# Refusals.

PAGED = SharedKvCase("scfa", rows=(2, 1), tokens=(300, 40))
BATCHED = SharedKvCase("cfa", ("BSND", "BSND"), rows=(2,), tokens=(300,))
PACKED = SharedKvCase("cfa", ("TND", "TND"), rows=(2,), tokens=(300,))


@pytest.mark.parametrize(
    ("case", "changes", "sentence", "code"),
    [
        (PAGED, {"q": None}, "q: NULL, must be a tensor", 161001),
        (PAGED, {"ori_kv": None}, "ori_kv: NULL, must be a tensor", 161001),
        (PAGED, {"sinks": None}, "sinks: NULL, must be a tensor", 161001),
        (PAGED, {"metadata": None}, "metadata: NULL, must be a tensor", 161001),
        (
            PAGED,
            {"seqused_kv": None},
            "seqused_kv: absent, must be given with layout_kv PA_ND",
            161001,
        ),
        (
            PAGED,
            {"cmp_block_table": None},
            "cmp_block_table: absent, must be given with cmp_kv and layout_kv PA_ND",
            161001,
        ),
        (
            PACKED,
            {"cu_seqlens_cmp_kv": None},
            "cu_seqlens_cmp_kv: absent, must be given with cmp_kv and layout_kv TND",
            161001,
        ),
        (
            PAGED,
            {"ori_sparse_indices": np.zeros((3, 1, 8), np.int32)},
            "ori_sparse_indices: given, must be absent",
            161002,
        ),
        (
            PAGED,
            {"cmp_kv": None},
            "cmp_sparse_indices: given without cmp_kv, must come with it",
            161002,
        ),
        (PAGED, {"ori_mask_mode": 3}, "ori_mask_mode: 3, must be 4 (sliding window)", 161002),
        (
            PAGED,
            {"cmp_mask_mode": 0},
            "cmp_mask_mode: 0, must be 3 (causal) with cmp_kv",
            161002,
        ),
        (PAGED, {"cmp_ratio": 129}, "cmp_ratio: 129, must be in [1, 128]", 161002),
        (PAGED, {"ori_win_left": -1}, "ori_win_left: -1, must be at least 0", 161002),
        (PAGED, {"layout_kv": "PA"}, "layout_kv: 'PA', must be BSND, TND or PA_ND", 161002),
        (
            PAGED,
            {"ori_kv_stride": 65535},
            "ori_kv_stride: 65535, must be 0 (the stride of ori_kv) or at least 65536, "
            "the elements of a block",
            161002,
        ),
        (
            PAGED,
            {"cmp_kv_stride": -1},
            "cmp_kv_stride: -1, must be 0 (the stride of cmp_kv) or at least 65536, "
            "the elements of a block",
            161002,
        ),
        (
            BATCHED,
            {"cu_seqlens_q": int32([0, 2])},
            "cu_seqlens_q: given with layout_q BSND, must be absent",
            161002,
        ),
        (PAGED, {"softmax_scale": np.nan}, "softmax_scale: nan, must be finite as a float", 161002),
        (
            PAGED,
            {"sinks": np.zeros(7, np.float32)},
            "sinks: axis 0 (N1) is 7, must be 8 as in q",
            161002,
        ),
        (
            PAGED,
            {"metadata": np.zeros(1023, np.int32)},
            "metadata: axis 0 (words) is 1023, must be 1024 "
            "(the words aclnnSparseAttnSharedkvMetadata writes)",
            161002,
        ),
        (
            PAGED,
            {"out": np.zeros((3, 8, 511), np.float16)},
            "attn_out: dtype FLOAT16, must be BFLOAT16 as q",
            161002,
        ),
    ],
)
def test_refusals(case: SharedKvCase, changes: dict[str, Any], sentence: str, code: int) -> None:
    call = build(case)
    metadata = plan(call)
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        attend(call, **({"metadata": metadata} | changes))
    assert (error.value.text, error.value.code) == (sentence, code)
    assert_output_close(attend(call, metadata=metadata)[0], *attention(call))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"num_heads_q": 129}, "num_heads_q: 129, must be in [1, 128]"),
        ({"num_heads_kv": 2}, "num_heads_kv: 2, must be 1"),
        ({"head_dim": 576}, "head_dim: 576, must be 512"),
        ({"batch_size": -1}, "batch_size: -1, must be in [0, 67108864]"),
        ({"cmp_ratio": -1}, "cmp_ratio: -1, must be in [1, 128]"),
        (
            {"ori_mask_mode": 2},
            "ori_mask_mode: 2, must be 0 (no mask), 3 (causal) or 4 (sliding window)",
        ),
        ({"seqused_kv": None}, "seqused_kv: absent, must be given with layout_kv PA_ND"),
        (
            {"seqused_kv": int32([1, 2, 3])},
            "seqused_kv: axis 0 (B) is 3, must be 2 (B from cu_seqlens_q)",
        ),
        ({"layout_q": "BNSD"}, "layout_q: 'BNSD', must be BSND or TND"),
    ],
)
def test_refusals_of_the_planner(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        plan(build(PAGED), **changes)
    assert (error.value.text, error.value.code) == (sentence, 161002)


def test_a_stride_beyond_the_memory_is_refused() -> None:
    call = build(PAGED)
    for stride in (128 * 512 + 64, 10**9):
        with pytest.raises(sfmla_ctypes.AclParamError, match=r"ori_kv: .* leave their allocation"):
            attend(call, ori_kv_stride=stride)


def batched_call(tokens: int, groups: int, metadata: Array) -> Array:
    """One row over `tokens` tokens and `groups` compressed rows of ratio 4, all in BSND."""
    ones = np.ones((1, max(tokens, 1), 1, 512), np.float16)
    out, _ = sfmla_ctypes.sparse_attn_sharedkv(
        ones[:, :1].repeat(4, axis=2),
        ori_kv=ones[:, :tokens],
        cmp_kv=np.ones((1, groups, 1, 512), np.float16),
        sinks=np.full(4, -np.inf, np.float32),
        metadata=metadata,
        cmp_ratio=4,
        layout_kv="BSND",
    )
    return np.asarray(out)


def test_a_batched_cache_before_its_first_complete_group() -> None:
    plan_of_three = sfmla_ctypes.sparse_attn_sharedkv_metadata(
        4, 1, 512, batch_size=1, max_seqlen_q=1, max_seqlen_kv=3, cmp_ratio=4,
        layout_kv="BSND", has_cmp_kv=True,
    )  # fmt: skip
    assert (batched_call(3, 0, np.asarray(plan_of_three)) == 1).all()
    with pytest.raises(sfmla_ctypes.AclParamError, match=r"axis 1 \(tokens\) is 0, must"):
        batched_call(9, 0, int32([0] * 1024))


def test_a_plan_of_another_call_is_named() -> None:
    call = build(PAGED)
    for changes, name in (({"ori_win_left": 63}, "ori_win_left"), ({"cmp_topk": 5}, "cmp_topk")):
        with pytest.raises(sfmla_ctypes.AclDeviceError) as error:
            attend(call, metadata=plan(call, **changes))
        assert error.value.code == 507018
        assert name in error.value.text
    assert call.seqused_kv is not None
    shorter = replace(call, seqused_kv=call.seqused_kv - 1)
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="seqused_kv"):
        attend(call, metadata=plan(shorter))


def test_a_plan_with_words_that_no_planner_writes_is_refused() -> None:
    """Words of the digest that stand for what only SparseFlashMla has."""
    call = build(PAGED)
    for word in range(890, 896):
        forged = plan(call)
        forged[word] = 5
        with pytest.raises(sfmla_ctypes.AclDeviceError) as error:
            attend(call, metadata=forged)
        sentence = f"metadata: word {word} is 5, must be 0"
        assert (error.value.code, error.value.text.split(": ", 1)[1]) == (507018, sentence)


def test_bad_values_in_device_memory_are_errors_of_the_stream() -> None:
    call = build(PAGED)
    bad_table = np.full_like(call.ori_block_table, 999)
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="ori_block_table") as error:
        attend(call, ori_block_table=bad_table)
    assert error.value.code == 507015
    with pytest.raises(sfmla_ctypes.AclDeviceError, match="seqused_kv") as error:
        plan(call, seqused_kv=int32([-1, 40]))
    assert error.value.code == 507018


def test_used_rows_and_tokens_are_called_by_their_name() -> None:
    call = build(SharedKvCase(rows=(2, 1), tokens=(300, 40), layouts=("BSND", "PA_ND")))
    for name, sentence in (
        ("seqused_q", "seqused_q[1]: 3, must be in [0, 2], the rows the request has room for"),
        ("seqused_kv", "seqused_kv[1]: 999, must be in [0, 640], the tokens the request has room"),
    ):
        value = int32([1, 3 if name == "seqused_q" else 999])
        words = np.zeros(1024, np.int32)
        with pytest.raises(sfmla_ctypes.AclDeviceError, match=re.escape(sentence)) as error:
            attend(call, **{name: value}, metadata=words)
        assert error.value.code == 507015


def test_a_captured_step_replays(stream: sfmla_ctypes.Stream) -> None:
    call = build(PAGED)
    planning, arguments = on_device(planning_arguments(call)), on_device(arguments_of(call))
    with stream.capture() as graph:
        words = sfmla_ctypes.sparse_attn_sharedkv_metadata(**planning)
        out, lse = sfmla_ctypes.sparse_attn_sharedkv(**arguments, metadata=words)
    arguments["q"].copy_from(-call.q)
    graph.replay()
    expected = attend(replace(call, q=-call.q))
    assert_same_bits(out.numpy(), expected[0])
    assert_same_bits(lse.numpy(), expected[1])


def test_argument_names_are_those_of_the_oracle() -> None:
    names = list(inspect.signature(sfmla_ctypes.sparse_attn_sharedkv).parameters)
    ours = {"metadata", "stream", "out", "softmax_lse_out"}
    assert set(names) - ours == {field.name for field in dataclasses.fields(SharedKvCall)}
