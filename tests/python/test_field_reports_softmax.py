# SPDX-License-Identifier: Apache-2.0
"""Field reports about sinks, scale, LSE and precision."""

import numpy as np
import pytest
from operator_calls import attend, replace

import sfmla_ctypes
from reference.attention import attention
from reference.call import Call
from reference.case_arrays import int32
from reference.cases import LAYOUTS, MODES, Case, build
from reference.compare import assert_close, assert_same_bits


def uniform(tokens: int, sink: float, heads: int = 1) -> Call:
    """One row with q = 0: every key has score 0."""
    call = build(
        Case(
            "swa",
            ("TND", "TND"),
            heads=heads,
            rows=(1,),
            tokens=(tokens,),
            ori_mask=0,
            window=(-1, -1),
        )
    )
    return replace(call, q=np.zeros_like(call.q), sinks=np.full(heads, sink, np.float32))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_bl_35_rows_without_a_key_have_output_0_and_lse_0(
    mode: str, layouts: tuple[str, str]
) -> None:
    call = build(Case(mode, layouts, rows=(1, 4), tokens=(0, 2), ratio=4, ori_topk=2))
    out, lse = attend(call)
    assert_close((out, lse), attention(call))
    assert not out.reshape(-1, 8, 512)[0].any()
    assert not lse.reshape(-1, 8)[0].any()


@pytest.mark.parametrize(("tokens", "expected"), [(1, 0.693147), (127, 4.852030)])
def test_bl_36_the_logarithm_is_natural(tokens: int, expected: float) -> None:
    np.testing.assert_allclose(attend(uniform(tokens, 0.0))[1], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("sink", "expected"),
    [(0.0, np.log(4)), (2.0, np.log(3 + np.e**2)), (-1e30, np.log(3)), (-np.inf, np.log(3))],
)
def test_bl_37_the_sink_is_part_of_the_lse(sink: float, expected: float) -> None:
    np.testing.assert_allclose(attend(uniform(3, sink))[1], expected, rtol=1e-6)


def test_bl_37_shards_are_merged_by_their_lse() -> None:
    """The recipe of the manual: the sink in one shard only, weights exp(LSE - largest LSE)."""
    whole = build(Case("swa", ("TND", "TND"), rows=(1,), tokens=(200,), ori_mask=0))
    assert whole.sinks is not None
    shards = [
        replace(
            whole,
            ori_kv=whole.ori_kv[part],
            cu_seqlens_ori_kv=int32([0, size]),
            sinks=whole.sinks if first else np.full_like(whole.sinks, -np.inf),
        )
        for part, size, first in ((slice(70), 70, True), (slice(70, 200), 130, False))
    ]
    results = [attend(shard) for shard in shards]
    lse = np.stack([result[1][0, ..., None] for result in results])
    weights = np.exp(lse - lse.max(axis=0))
    merged = sum(
        weight * out.astype(np.float64) for weight, (out, _) in zip(weights, results, strict=True)
    ) / weights.sum(axis=0)
    np.testing.assert_allclose(merged, attention(whole)[0], atol=2e-3)


def test_bl_38_sinks_are_float32() -> None:
    call = build(Case(heads=64, rows=(1,), tokens=(3,)))
    assert call.sinks is not None
    call.sinks[:] = np.linspace(-3, 3, 64)
    assert_close(attend(call), attention(call))
    for sinks in (
        call.sinks.astype(call.q.dtype),
        call.sinks.astype(np.float64),
        call.sinks.reshape(8, 8),
        call.sinks[:63],
    ):
        with pytest.raises(sfmla_ctypes.AclParamError, match="sinks") as error:
            attend(replace(call, sinks=sinks))
        assert error.value.code == 161002


@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
@pytest.mark.parametrize("heads", [1, 8, 64, 128])
def test_bl_39_the_sink_takes_weight(heads: int, layouts: tuple[str, str]) -> None:
    for mode in ("swa", "csa", "hca"):
        call = build(Case(mode, layouts, heads=heads, rows=(1,), tokens=(1,)))
        out, _ = attend(
            replace(call, q=np.zeros_like(call.q), sinks=np.full(heads, 1.5, np.float32))
        )
        value = call.ori_kv[np.isfinite(call.ori_kv.astype(np.float32)).all(axis=-1)]
        np.testing.assert_allclose(
            out.reshape(heads, 512).astype(np.float64),
            np.broadcast_to(value.astype(np.float64) / (1 + np.exp(1.5)), (heads, 512)),
            rtol=2**-7,
        )


@pytest.mark.parametrize("sink", [1e4, 3e38, np.inf, -1e4, -3e38, -np.inf])
@pytest.mark.parametrize("tokens", [3, 5000])
def test_bl_40_extreme_sinks(sink: float, tokens: int) -> None:
    out, lse = attend(uniform(tokens, sink))
    if sink > 0:
        assert not out.any()
        assert (lse == np.float32(sink)).all()
    else:
        assert np.isfinite(out.astype(np.float32)).all()
        assert out.any()
        np.testing.assert_allclose(lse, np.log(tokens), rtol=1e-6)


@pytest.mark.parametrize("scale", [512**-0.5, 0.0441941738, 1 / 24, 1.0, 0.0, -0.1])
def test_bl_41_the_scale_is_used_as_given(scale: float) -> None:
    call = build(Case("csa", rows=(2,), tokens=(300,), scale=scale))
    assert_close(attend(call), attention(call))


def test_bl_42_axis_order_of_the_lse() -> None:
    call = build(Case("swa", ("TND", "TND"), heads=8, rows=(3,), tokens=(40,)))
    assert attend(call)[1].shape == (1, 3, 8)
    assert_close(attend(call), attention(call))
    with pytest.raises(sfmla_ctypes.AclParamError, match="softmax_lse") as error:
        attend(call, softmax_lse_out=np.zeros((3, 8, 1), np.float32))
    assert error.value.code == 161002
    call = build(Case("swa", ("BSND", "BSND"), heads=8, rows=(3, 3), tokens=(40, 40)))
    assert attend(call)[1].shape == (2, 1, 3, 8)
    assert_close(attend(call), attention(call))


def test_bl_43_without_the_flag_the_lse_buffer_stays_untouched() -> None:
    call = build(Case(rows=(2,), tokens=(300,)))
    junk = np.full((3, 5), 7, np.float32)
    out, _ = attend(replace(call, return_softmax_lse=False), softmax_lse_out=junk)
    assert (junk == 7).all()
    assert_same_bits(out, attend(call)[0])


def test_bl_72_softmax_in_float32_over_a_long_context() -> None:
    call = build(Case("hca", rows=(1,), tokens=(16384,), ratio=128, heads=64))
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("layouts", [("TND", "TND"), ("TND", "PA_BBND")], ids="/".join)
def test_bl_73_large_scores_in_float16(layouts: tuple[str, str]) -> None:
    case = Case("swa", layouts, "float16", rows=(1,), tokens=(1100,), ori_mask=0, scale=1.0)
    call = build(case)
    call.q[:] = 11
    call.ori_kv[~np.isnan(call.ori_kv)] *= 0  # scores 0, all equal
    assert_close(attend(call), attention(call))
    call = build(case)
    call.q[:] = 20  # scores of about +-452 * 20, first tile far below the last ones
    call.ori_kv[~np.isnan(call.ori_kv)] -= 3
    if layouts[1] == "TND":
        call.ori_kv[900] = 200  # score 2 048 000
        call.ori_kv[901:] = 60
    assert_close(attend(call), attention(call))


def long_context(tokens: int, case: Case) -> Call:
    """`case`, whose original tokens are few, as the end of a request of `tokens` tokens.

    The original pool stays small: only the pages of the window are needed.
    """
    call = build(case)
    assert call.ori_block_table is not None
    shift = tokens - case.tokens[0]
    assert shift % 128 == 0
    table = np.full((1, shift // 128 + call.ori_block_table.shape[1]), -1, np.int32)
    table[:, shift // 128 :] = call.ori_block_table
    return replace(call, ori_block_table=table, seqused_ori_kv=int32([tokens]))


@pytest.mark.parametrize("tokens", [2047, 2048, 2049, 8193, 20480, 131072, 1048576])
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_bl_76_a_planted_key_is_found_in_a_long_context(tokens: int, where: str) -> None:
    slots = tokens // 128
    call = long_context(tokens, Case(rows=(1,), tokens=(256 + tokens % 128,), heads=2))
    rng = np.random.default_rng(tokens)
    pages = slots // 128 + 1
    cmp_kv = rng.standard_normal((pages, 128, 1, 512)).astype(call.q.dtype)
    table = rng.permutation(pages).reshape(1, pages)
    slot = {"first": 0, "middle": slots // 2, "last": slots - 1}[where]
    planted = 2 * np.sign(call.q[0, 0].astype(np.float32))
    cmp_kv[table[0, slot // 128], slot % 128, 0] = planted
    call = replace(
        call,
        cmp_kv=cmp_kv,
        cmp_block_table=int32(table),
        cmp_ratio=128,
        cmp_mask_mode=3,
        seqused_cmp_kv=int32([slots]),
        cmp_residual_kv=int32([tokens % 128]),
    )
    out, lse = attend(call)
    assert_close((out, lse), attention(call))
    np.testing.assert_allclose(out[0, 0].astype(np.float32), planted, rtol=0.02)


@pytest.mark.parametrize("slots", [2049, 262143])
def test_bl_76_lists_reach_far_slots(slots: int) -> None:
    call = long_context(4 * slots, Case(rows=(1,), tokens=(256 + 4 * slots % 128,), heads=2))
    cmp_kv = np.random.default_rng(slots).standard_normal((2, 128, 1, 512)).astype(call.q.dtype)
    table = np.full((1, slots // 128 + 1), -1, np.int32)
    table[0, 0], table[0, (slots - 1) // 128] = 0, 1
    call = replace(
        call,
        cmp_kv=cmp_kv,
        cmp_block_table=table,
        cmp_ratio=4,
        cmp_mask_mode=3,
        seqused_cmp_kv=int32([slots]),
        cmp_residual_kv=int32([0]),
        cmp_sparse_indices=int32([slots - 1, 0, -1, -1]).reshape(1, 1, 4),
    )
    assert_close(attend(call), attention(call))
