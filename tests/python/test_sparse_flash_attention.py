# SPDX-License-Identifier: Apache-2.0
"""SparseFlashAttention, V1 and V2: every pair of settings against the oracle, bits, refusals."""

import dataclasses
import inspect
from typing import Any

import numpy as np
import pytest
from operator_calls import FEW_AND_MANY, arguments_of, on_device, replace
from thread_counts import COUNTS, answers, digest

import sfmla_ctypes
from reference.call import Array
from reference.case_arrays import int32
from reference.compare import assert_output_close, assert_same_bits, assert_softmax_close
from reference.sparse_flash_attention import SparseFlashCall, attention, log_sum_exp
from reference.sparse_flash_attention_cases import SparseFlashCase, build, matrix

CASES = matrix()
Results = tuple[Array, Array, Array]


def attend(call: SparseFlashCall, **changes: Any) -> Results:
    """Outputs are poisoned before."""
    shape = call.query.shape
    results = {"out": np.full(shape, np.nan, call.query.dtype)}
    if call.return_softmax_lse:
        packed = call.layout_query == "TND"
        axes = (1, *shape[:-1]) if packed else (shape[0], 1, *shape[1:-1])
        for name in ("softmax_max_out", "softmax_sum_out"):
            results[name] = np.full(axes, np.nan, np.float32)
    arguments = arguments_of(call) | results | changes
    found: Results = sfmla_ctypes.sparse_flash_attention(**arguments)
    return found


def assert_same(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(np.asarray(one), other)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_row_and_head_against_the_oracle(case: SparseFlashCase) -> None:
    call = build(case)
    out, largest, total = attend(call)
    expected = attention(call)
    lse = log_sum_exp(*expected[1:])
    assert_output_close(out, expected[0], np.where(expected[2] == 0, 0.0, lse))
    if call.return_softmax_lse:
        assert_softmax_close((largest, total), expected[1:])
    else:
        assert (largest.shape, largest, total.shape, total) == ((), 0, (), 0)


@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_small_weights_leave_beside_a_token_of_nearly_all_weight(
    dtype: str, heads: int
) -> None:
    """Its value is 0, so nothing but the others, of weight 2^-25.2, makes the output."""
    case = SparseFlashCase(("TND", "TND"), dtype, heads, tokens=(600,), topk=600, scale=1.0)
    call = replace(build(case), sparse_indices=np.arange(600, dtype=np.int32).reshape(1, 1, -1))
    key, value = np.asarray(call.key), np.asarray(call.value)
    for array in (call.query, call.query_rope, key, call.key_rope):
        np.asarray(array)[...] = 0
    call.query[..., 0] = 1
    key[40, :, 0] = 17.5
    value[...] = 64 * np.random.default_rng(0).standard_normal(value.shape)
    value[40] = 0
    expected = attention(call)
    assert_output_close(attend(call)[0], expected[0], log_sum_exp(*expected[1:]))


@pytest.mark.parametrize("case", CASES[::7], ids=str)
def test_device_arrays_give_the_same_bits(case: SparseFlashCase) -> None:
    call = build(case)
    assert_same(sfmla_ctypes.sparse_flash_attention(**on_device(arguments_of(call))), attend(call))


@pytest.mark.parametrize("case", CASES[::9], ids=str)
def test_output_does_not_depend_on_the_flag_or_on_v2(case: SparseFlashCase) -> None:
    call = replace(build(case), return_softmax_lse=True)
    expected = attend(call)
    assert_same_bits(attend(replace(call, return_softmax_lse=False))[0], expected[0])
    if call.sinks is None:
        no_sinks = np.full(case.heads, -np.inf, np.float32)
        assert_same(attend(call, sinks=no_sinks), expected)


@pytest.mark.parametrize("layouts", [("TND", "PA_BSND"), ("TND", "TND"), ("BSND", "BSND")])
@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_value_equal_to_the_key_gives_the_bits_of_none(
    layouts: tuple[str, str], heads: int, dtype: str
) -> None:
    counts: dict[str, Any] = {"rows": (3, 1), "tokens": (700, 90), "topk": 600}
    call = build(SparseFlashCase(layouts, **counts, heads=heads, dtype=dtype, value="key"))
    expected = attend(call)
    assert_same(attend(replace(call, value=None)), expected)
    assert_same(attend(replace(call, value=call.key.copy())), expected)


@pytest.mark.parametrize("sinks", [None, np.zeros(16, np.float32)])
def test_the_published_example(sinks: Array | None) -> None:
    """All ones: scores 576 / 24, so 2048 keys of weight 1, and a sink of 0 of no weight."""
    ones: dict[str, Any] = {name: np.ones(shape, np.float16) for name, shape in (
        ("query", (1, 16, 512)), ("key", (2048, 1, 512)), ("value", (2048, 1, 512)),
        ("query_rope", (1, 16, 64)), ("key_rope", (2048, 1, 64)),
    )}  # fmt: skip
    out, largest, total = sfmla_ctypes.sparse_flash_attention(
        **ones, sparse_indices=np.arange(2048, dtype=np.int32).reshape(1, 1, -1),
        scale_value=1 / 24, actual_seq_lengths_query=int32([1]),
        actual_seq_lengths_kv=int32([2048]), sinks=sinks, layout_query="TND", layout_kv="TND",
        sparse_mode=0, return_softmax_lse=True,
    )  # fmt: skip
    assert (out == 1).all()
    assert (largest == 24).all()
    assert (total == 2048).all()
    assert largest.shape == total.shape == (1, 1, 16)


def test_a_nan_sink_reaches_the_rows_of_its_head_that_have_a_token() -> None:
    call = build(SparseFlashCase(rows=(9,), tokens=(6,), heads=4, sinks="finite"))
    sinks = np.array([0, np.nan, 0, np.nan], np.float32)
    out, _, total = attend(replace(call, sinks=sinks))
    has_token = attention(replace(call, sinks=None))[2][0] > 0
    assert has_token.any()
    assert not has_token.all()
    assert (np.isnan(out).all(axis=-1) == (has_token & np.isnan(sinks))).all()
    assert (np.isnan(total[0]) == (has_token & np.isnan(sinks))).all()
    none = attend(replace(call, sinks=np.zeros(4, np.float32)))[0]
    assert_same_bits(out[:, ::2], none[:, ::2])


# Bits of a row: alone, in a batch, one by one, with any threads.


def mixed_batch(block: int, sinks: str = "none", heads: int = 16) -> SparseFlashCall:
    """Requests of all kinds of length, packed queries and paged caches."""
    rng = np.random.default_rng(block)
    rows, tokens = rng.choice([0, 1, 2, 5], 16), rng.choice([0, 1, 127, 129, 513, 2500], 16)
    counts: dict[str, Any] = {"rows": tuple(map(int, rows)), "tokens": tuple(map(int, tokens))}
    return build(
        SparseFlashCase(**counts, heads=heads, topk=700, sparse_block_size=block, sinks=sinks)
    )


@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize(("block", "sinks"), [(1, "none"), (1, "finite"), (16, "none")])
def test_a_request_alone_and_in_a_batch(block: int, sinks: str, heads: int) -> None:
    call = mixed_batch(block, sinks, heads)
    together = attend(call)
    tokens, table, query_rope = call.actual_seq_lengths_kv, call.block_table, call.query_rope
    assert call.actual_seq_lengths_query is not None
    assert tokens is not None
    assert table is not None
    assert query_rope is not None
    ends = [0, *map(int, call.actual_seq_lengths_query)]
    for request in range(16):
        rows = slice(ends[request], ends[request + 1])
        alone = replace(
            call,
            query=call.query[rows],
            query_rope=query_rope[rows],
            sparse_indices=call.sparse_indices[rows],
            actual_seq_lengths_query=int32([rows.stop - rows.start]),
            actual_seq_lengths_kv=tokens[request : request + 1],
            block_table=table[request : request + 1],
        )
        out, largest, total = attend(alone)
        assert_same((out, largest, total), (together[0][rows], *(x[:, rows] for x in together[1:])))


@pytest.mark.parametrize("heads", FEW_AND_MANY)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_rows_one_by_one_equal_rows_together(dtype: str, heads: int) -> None:
    call = build(SparseFlashCase(dtype=dtype, rows=(6,), tokens=(1030,), topk=600, heads=heads))
    query_rope = call.query_rope
    assert query_rope is not None
    together = attend(call)
    for row in range(6):
        rows = slice(row, row + 1)
        alone = replace(
            call,
            query=call.query[rows],
            query_rope=query_rope[rows],
            sparse_indices=call.sparse_indices[rows],
            actual_seq_lengths_query=int32([1]),
            actual_seq_lengths_kv=int32([1030 - 5 + row]),
        )
        assert_same(attend(alone), (together[0][rows], *(x[:, rows] for x in together[1:])))


def digests() -> list[str]:
    return [
        digest(*attend(mixed_batch(block, "finite", heads)))
        for block in (1, 16)
        for heads in FEW_AND_MANY
    ]


def test_the_number_of_threads_changes_no_bit() -> None:
    assert answers("test_sparse_flash_attention", "digests") == [digests()] * len(COUNTS)


# Shards.


@pytest.mark.parametrize("sinks", [None, "first"])
def test_shards_of_the_keys_merge_to_the_whole(sinks: str | None) -> None:
    """Each row's list is split over two shards; the first row has no key in the second."""
    rng = np.random.default_rng(3)
    case = SparseFlashCase(rows=(4,), tokens=(600,), topk=256, sparse_mode=0, dtype="float16")
    whole = build(case)
    assert whole.key_rope is not None
    assert whole.block_table is not None
    lists = np.stack([rng.permutation(600)[:256] for _ in range(4)])
    full = rng.standard_normal(whole.key.shape).astype(np.float16)
    rope = rng.standard_normal(tuple(whole.key_rope.shape)).astype(np.float16)
    table = rng.permutation(len(full))[: whole.block_table.size].reshape(1, -1)
    whole = replace(
        whole, key=full, value=None, key_rope=rope, block_table=int32(table),
        sparse_indices=int32(lists[:, None]),
    )  # fmt: skip
    if sinks is not None:
        whole = replace(whole, sinks=rng.standard_normal(case.heads).astype(np.float32))
    first_count = np.array([256, 100, 3, 0])
    parts = []
    for shard in range(2):
        own = np.full_like(lists, -1)
        for row, count in enumerate(first_count):
            kept = lists[row, :count] if shard == 0 else lists[row, count:]
            own[row, : kept.size] = kept
        used = whole.sinks if shard == 0 else None  # a sink counts once
        parts.append(attend(replace(whole, sparse_indices=int32(own[:, None]), sinks=used)))
    with np.errstate(divide="ignore"):
        lse = np.stack([part[1] + np.log(part[2]) for part in parts])[:, 0]
    assert np.isneginf(lse[1, 0]).all()
    merged_lse = np.logaddexp(*lse)
    weights = np.exp(lse - merged_lse)[..., None]
    merged = (weights * np.stack([part[0].astype(np.float64) for part in parts])).sum(axis=0)
    expected = attention(whole)
    np.testing.assert_allclose(merged_lse, log_sum_exp(*expected[1:])[0], atol=1e-4)
    size = np.abs(expected[0]).max(axis=-1, keepdims=True)
    assert (np.abs(merged - expected[0]) <= 2.0**-10 * size).all()


# Refusals.

PAGED = SparseFlashCase(rows=(2, 1), tokens=(300, 40), value="none")
PACKED = SparseFlashCase(("TND", "TND"), rows=(2,), tokens=(300,), value="none")


@pytest.mark.parametrize(
    ("case", "changes", "sentence", "code"),
    [
        *(
            (PAGED, {name: None}, f"{name}: NULL, must be a tensor", 161001)
            for name in ("query", "key", "sparse_indices", "query_rope", "key_rope")
        ),
        (
            PAGED,
            {"block_table": None},
            "block_table: absent, must be given with layout_kv PA_BSND",
            161001,
        ),
        (
            PAGED,
            {"actual_seq_lengths_query": None},
            "actual_seq_lengths_query: absent, must be given with layout_query TND",
            161001,
        ),
        (
            PACKED,
            {"actual_seq_lengths_kv": None},
            "actual_seq_lengths_kv: absent, must be given with layout_kv TND",
            161001,
        ),
        (
            PACKED,
            {"block_table": np.zeros((1, 3), np.int32)},
            "block_table: given, must be absent unless layout_kv is PA_BSND",
            161002,
        ),
        (
            PAGED,
            {"attention_mode": 0},
            "attention_mode: 0, must be 2 (the rotary part in tensors of its own)",
            161002,
        ),
        (PAGED, {"sparse_mode": 4}, "sparse_mode: 4, must be 0 (no mask) or 3 (causal)", 161002),
        *(
            (
                PAGED,
                {"sparse_block_size": size},
                f"sparse_block_size: {size}, must be a power of two in [1, 128]",
                161002,
            )
            for size in (0, 3, 256, -1)
        ),
        (PAGED, {"pre_tokens": 5}, f"pre_tokens: 5, must be {2**63 - 1} (unlimited)", 161002),
        (PAGED, {"next_tokens": 0}, f"next_tokens: 0, must be {2**63 - 1} (unlimited)", 161002),
        (PAGED, {"scale_value": np.inf}, "scale_value: inf, must be finite as a float", 161002),
        (
            PAGED,
            {"layout_query": "BNSD"},
            "layout_query: 'BNSD', must be BSND or TND",
            161002,
        ),
        (
            PAGED,
            {"layout_kv": "BSND"},
            "layout_kv: BSND with layout_query TND, must be TND or PA_BSND",
            161002,
        ),
        (
            PAGED,
            {"query_rope": np.zeros((3, 8, 65), "f2")},
            "query_rope: dtype FLOAT16, must be BFLOAT16 as query",
            161002,
        ),
        (
            PAGED,
            {"sinks": np.zeros(7, np.float32)},
            "sinks: axis 0 (N1) is 7, must be 8 as in query",
            161002,
        ),
        (
            PAGED,
            {"softmax_max_out": np.zeros((3, 8), np.float32)},
            "softmax_max: rank 2, must be 3 (N2, T1, G)",
            161002,
        ),
    ],
)
def test_refusals(case: SparseFlashCase, changes: dict[str, Any], sentence: str, code: int) -> None:
    call = build(case)
    with pytest.raises(sfmla_ctypes.AclParamError) as error:
        attend(call, **changes)
    assert (error.value.text, error.value.code) == (sentence, code)
    expected = attention(call)
    assert_output_close(attend(call)[0], expected[0], log_sum_exp(*expected[1:]))


def test_the_name_of_the_function_tells_the_version() -> None:
    call = build(PAGED)
    for sinks, api in ((None, "aclnnSparseFlashAttention"), (7, "aclnnSparseFlashAttentionV2")):
        given = None if sinks is None else np.zeros(sinks, np.float32)
        with pytest.raises(sfmla_ctypes.AclParamError) as error:
            attend(call, sinks=given, attention_mode=0)
        assert error.value.api == f"{api}GetWorkspaceSize"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_table", np.full((2, 5), 999, np.int32)),
        ("actual_seq_lengths_query", int32([2, 1])),
        ("actual_seq_lengths_kv", int32([300, -1])),
    ],
)
def test_bad_values_in_device_memory_are_errors_of_the_stream(name: str, value: Array) -> None:
    call = build(PAGED)
    assert getattr(call, name).shape == value.shape
    with pytest.raises(sfmla_ctypes.AclDeviceError, match=name) as error:
        attend(call, **{name: value})
    assert error.value.code == 507015


def test_a_captured_call_replays(stream: sfmla_ctypes.Stream) -> None:
    call = build(PAGED)
    arguments = on_device(arguments_of(call))
    with stream.capture() as graph:
        results = sfmla_ctypes.sparse_flash_attention(**arguments)
    arguments["query"].copy_from(-call.query)
    graph.replay()
    assert_same([result.numpy() for result in results], attend(replace(call, query=-call.query)))


def test_argument_names_are_those_of_the_oracle() -> None:
    names = list(inspect.signature(sfmla_ctypes.sparse_flash_attention).parameters)
    own = ["stream", "out", "softmax_max_out", "softmax_sum_out"]
    assert names[-len(own) :] == own
    assert names[: -len(own)] == [field.name for field in dataclasses.fields(SparseFlashCall)]
