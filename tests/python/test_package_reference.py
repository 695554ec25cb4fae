# SPDX-License-Identifier: Apache-2.0
"""The float64 reference of the package, by closed forms: with q = 0 every score is 0, so that a row
with n keys and a sink of 0 gives sum(v) / (n + 1) and ln(n + 1)."""

from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of

from reference import sparse_attn_sharedkv_cases as sharedkv_cases
from reference import sparse_flash_attention_cases as flash_cases
from reference.sparse_attn_sharedkv import attention as sharedkv_oracle
from reference.sparse_flash_attention import attention as flash_oracle
from sfmla_ctypes.reference import (
    Call,
    query_rows,
    requests,
    row_keys,
    sparse_attn_sharedkv,
    sparse_flash_attention,
    sparse_flash_mla,
)

HEADS, DIM = 3, 512


def zero_query(*row_axes: int) -> np.ndarray:
    return np.zeros((*row_axes, HEADS, DIM), np.float32)


def tokens(*axes: int) -> np.ndarray:
    """A cache whose token number i holds 2^(i mod 20) in every lane: sums tell tokens apart."""
    count = int(np.prod(axes))
    values = 2.0 ** (np.arange(count) % 20)
    return np.broadcast_to(values.reshape(*axes, 1, 1), (*axes, 1, DIM)).astype(np.float64)


def attend(q: np.ndarray, **arguments: Any) -> tuple[np.ndarray, np.ndarray]:
    arguments.setdefault("sinks", np.zeros(HEADS, np.float32))
    return sparse_flash_mla(q, **arguments)


def keys_of(q: np.ndarray, **arguments: Any) -> list[tuple[list[int], list[int]]]:
    call = Call(q, **arguments)
    rows = [row_keys(call, row) for row in query_rows(call)]
    return [(original.tolist(), compressed.tolist()) for original, compressed in rows]


@pytest.mark.parametrize(
    ("mask", "left", "right", "expected"),
    [
        (0, 1, 0, [[0, 1, 2, 3, 4]] * 3),  # windows count in mode 4 only
        (3, 1, 0, [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]),
        (4, 1, 0, [[1, 2], [2, 3], [3, 4]]),
        (4, 0, 1, [[2, 3], [3, 4], [4]]),
        (4, -1, 0, [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]),
        (4, 0, -1, [[2, 3, 4], [3, 4], [4]]),
    ],
)
def test_original_masks(mask: int, left: int, right: int, expected: list[list[int]]) -> None:
    found = keys_of(
        zero_query(1, 3),
        ori_kv=tokens(1, 5),
        ori_mask_mode=mask,
        ori_win_left=left,
        ori_win_right=right,
    )
    assert [original for original, _ in found] == expected


def test_rows_before_the_first_key_see_a_right_window_only() -> None:
    found = keys_of(
        zero_query(1, 4), ori_kv=tokens(1, 2), ori_mask_mode=4, ori_win_left=0, ori_win_right=1
    )
    assert [original for original, _ in found] == [[], [0], [0, 1], [1]]


def test_compressed_mask_counts_in_restored_tokens() -> None:
    # 2 compressed tokens of 4 and a residual of 3: restored length 11, rows at 8, 9 and 10.
    found = keys_of(
        zero_query(1, 5),
        ori_kv=tokens(1, 11),
        cmp_kv=tokens(1, 2),
        cmp_ratio=4,
        cmp_mask_mode=3,
        cmp_residual_kv=np.array([3]),
    )
    assert [compressed for _, compressed in found] == [[0], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_paged_compressed_length_defaults_to_the_quotient() -> None:
    call = Call(
        zero_query(1, 1),
        ori_kv=tokens(2, 8),
        cmp_kv=tokens(2, 8),
        ori_block_table=np.array([[0, 1]]),
        cmp_block_table=np.array([[1]]),
        seqused_ori_kv=np.array([11]),
        cmp_ratio=4,
        layout_kv="PA_BBND",
        cu_seqlens_ori_kv=np.array([0, 99]),  # means nothing for a paged cache
    )
    (request,) = requests(call)
    assert (request.original_tokens, request.compressed_tokens) == (11, 2)


def test_lists_end_at_a_negative_entry_skip_the_future_and_count_duplicates() -> None:
    indices = np.array([[[[1, 9, 1, -1, 0, 0]], [[0, 3, 2, 1, 5, 5]]]])
    found = keys_of(
        zero_query(1, 2), ori_kv=tokens(1, 5), ori_mask_mode=3, ori_sparse_indices=indices
    )
    # Row 0 sees 4 tokens and looks at 4 entries, row 1 sees 5 tokens and looks at 5 entries.
    assert [original for original, _ in found] == [[1, 1], [0, 3, 2, 1]]


def test_topk_lengths_shorten_lists() -> None:
    found = keys_of(
        zero_query(1, 2),
        ori_kv=tokens(1, 4),
        cmp_kv=tokens(1, 4),
        cmp_sparse_indices=np.array([[[[3, 2, 1]], [[0, 1, 2]]]]),
        cmp_topk_length=np.array([[[2], [0]]]),
    )
    assert [compressed for _, compressed in found] == [[3, 2], []]


@pytest.mark.parametrize("layout_kv", ["BSND", "TND", "PA_BBND"])
def test_closed_form_in_every_cache_layout(layout_kv: str) -> None:
    """Two requests of 3 and 2 tokens, causal, last two rows each."""
    lengths = np.array([3, 2])
    packed = np.array([0, 2, 4])
    caches: dict[str, dict[str, Any]] = {
        "BSND": {"ori_kv": tokens(2, 4), "seqused_ori_kv": lengths},
        "TND": {"ori_kv": tokens(5), "cu_seqlens_ori_kv": np.array([0, 3, 5])},
        "PA_BBND": {
            "ori_kv": tokens(4, 2),
            "ori_block_table": np.array([[3, 1], [0, -7]]),
            "seqused_ori_kv": lengths,
        },
    }
    first = {"BSND": [1, 2, 4], "TND": [1, 2, 4], "PA_BBND": [64, 128, 4]}[layout_kv]
    second = {"BSND": [16, 32], "TND": [8, 16], "PA_BBND": [1, 2]}[layout_kv]
    out, lse = attend(
        zero_query(2, 2) if layout_kv == "BSND" else zero_query(4),
        layout_q="BSND" if layout_kv == "BSND" else "TND",
        layout_kv=layout_kv,
        ori_mask_mode=3,
        cu_seqlens_q=None if layout_kv == "BSND" else packed,
        **caches[layout_kv],
    )
    sums = [sum(first[:2]) / 3, sum(first) / 4, second[0] / 2, sum(second) / 3]
    np.testing.assert_allclose(out.reshape(4, HEADS, DIM)[:, 1, 7], sums)
    counts = np.log([3, 4, 2, 3])
    np.testing.assert_allclose(lse.reshape(-1, HEADS)[:, 2], counts)
    assert lse.shape == ((2, 1, 2, HEADS) if layout_kv == "BSND" else (1, 4, HEADS))


def test_padded_and_empty_rows_are_zero() -> None:
    out, lse = attend(
        zero_query(2, 2),
        ori_kv=tokens(2, 3),
        seqused_q=np.array([1, 2]),
        seqused_ori_kv=np.array([3, 0]),
    )
    assert out[0, 0].min() > 0
    assert not out[0, 1].any()
    assert not out[1].any()
    assert np.count_nonzero(lse) == HEADS


def test_sinks_absent_infinite_and_minus_infinite() -> None:
    arguments = {"ori_kv": tokens(1, 3)}
    plain, plain_lse = attend(zero_query(1, 1), **arguments, sinks=None)
    sinks = np.array([np.inf, -np.inf, 0], np.float32)
    out, lse = attend(zero_query(1, 1), **arguments, sinks=sinks)
    np.testing.assert_allclose(out[0, 0, :, 0], [0, plain[0, 0, 1, 0], 7 / 4])
    np.testing.assert_allclose(lse[0, 0, 0], [np.inf, np.log(3), np.log(4)])
    np.testing.assert_allclose(plain[0, 0, :, 0], 7 / 3)
    np.testing.assert_allclose(plain_lse, np.log(3))


def test_scores_weigh_keys() -> None:
    q = zero_query(1, 1)
    q[0, 0, :, 0] = 1
    keys = np.zeros((1, 2, 1, DIM))
    keys[0, :, 0, 0] = [1, 3]
    out, lse = attend(q, ori_kv=keys, softmax_scale=0.5, sinks=np.full(HEADS, 0.25, np.float32))
    weights = np.exp([0.5, 1.5])
    total = weights.sum() + np.exp(0.25)
    np.testing.assert_allclose(out[0, 0, :, 0], (weights @ [1, 3]) / total)
    np.testing.assert_allclose(lse, np.log(total))


def test_not_a_number_stays_in_its_row() -> None:
    keys = tokens(1, 3)
    keys[0, 2] = np.nan
    out, _ = attend(zero_query(1, 2), ori_kv=keys, ori_mask_mode=3)
    assert np.isfinite(out[0, 0]).all()
    assert np.isnan(out[0, 1]).all()


@pytest.mark.parametrize("case", sharedkv_cases.matrix(1)[::3], ids=str)
def test_sparse_attn_sharedkv_and_the_oracle_of_the_tests_agree(case: Any) -> None:
    call = sharedkv_cases.build(case)
    assert_equal(sparse_attn_sharedkv(**arguments_of(call)), sharedkv_oracle(call))


@pytest.mark.parametrize("case", flash_cases.matrix(1)[::3], ids=str)
def test_sparse_flash_attention_and_the_oracle_of_the_tests_agree(case: Any) -> None:
    call = flash_cases.build(case)
    assert_equal(sparse_flash_attention(**arguments_of(call)), flash_oracle(call))


def assert_equal(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
