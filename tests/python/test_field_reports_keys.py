# SPDX-License-Identifier: Apache-2.0
"""Field reports about which keys a row attends to: indices, masks, windows, pages, splits."""

import numpy as np
import pytest
from operator_calls import attend, replace

from reference.attention import attention
from reference.call import Array, Call
from reference.case_arrays import int32
from reference.cases import MODES, Case, build, with_full_caches
from reference.compare import assert_close, assert_same_bits


def csa_with_list(rows: int, tokens: int, lanes: list[int], width: int = 8) -> Call:
    """A CSA call whose rows all have the list `lanes`, filled up with -1."""
    call = with_full_caches(build(Case("csa", rows=(rows,), tokens=(tokens,), cmp_topk=width)))
    indices = np.full((rows, 1, width), -1, np.int32)
    indices[:, 0, : len(lanes)] = lanes
    return replace(call, cmp_sparse_indices=indices)


def keys_seen(call: Call) -> Array:
    """The number of keys of each row, counted with q = 0, values 1 and sink 0: LSE = ln(n + 1)."""
    assert call.sinks is not None
    ones = {
        name: None if kv is None else np.ones_like(kv)
        for name, kv in (("ori_kv", call.ori_kv), ("cmp_kv", call.cmp_kv))
    }
    out, lse = attend(
        replace(call, q=np.zeros_like(call.q), sinks=np.zeros_like(call.sinks), **ones)
    )
    count = np.exp(lse.astype(np.float64)) - 1
    np.testing.assert_allclose(
        out.astype(np.float64).mean(axis=-1).ravel(), (count / (count + 1)).ravel(), atol=2**-8
    )
    rounded: Array = np.rint(count[0, :, 0]).astype(int)
    np.testing.assert_allclose(
        count[0], np.broadcast_to(rounded[:, None], count[0].shape), atol=0.02
    )
    return rounded


@pytest.mark.parametrize("tokens", [64, 65, 66, 80])
def test_bl_15_masked_lanes_never_touch_slot_0(tokens: int) -> None:
    call = csa_with_list(tokens, tokens, [3, 2, 1], width=64)
    assert call.cmp_kv is not None
    assert call.cmp_block_table is not None
    call.cmp_kv[call.cmp_block_table[0, 0], 0] = np.nan
    assert_close(attend(call), attention(call))


def test_bl_16_lanes_past_what_the_row_may_see_are_skipped() -> None:
    call = csa_with_list(4, 8, [0, 1, 3])
    assert_close(attend(call), attention(call))
    assert (keys_seen(call) - [5, 6, 7, 8]).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("filler", [2147480000, 2**31 - 1, 10, -2, -(2**31)])
def test_bl_17_any_filler_means_no_key(filler: int) -> None:
    expected = attend(csa_with_list(1, 40, [0, 3]))
    found = attend(csa_with_list(1, 40, [0, 3] + [filler] * 6))
    assert_same_bits(found[0], expected[0])
    assert_same_bits(found[1], expected[1])


def test_bl_18_the_first_negative_lane_ends_the_list() -> None:
    assert_same_bits(
        attend(csa_with_list(1, 64, [5, -1, 3]))[0], attend(csa_with_list(1, 64, [5]))[0]
    )


def test_bl_19_only_as_many_lanes_as_visible_slots_are_looked_at() -> None:
    late, sorted_list = csa_with_list(1, 6, [7, 0]), csa_with_list(1, 6, [0, 7])
    assert keys_seen(late).tolist() == [6]
    assert keys_seen(sorted_list).tolist() == [7]
    assert_close(attend(late), attention(late))
    assert_close(attend(sorted_list), attention(sorted_list))


@pytest.mark.parametrize("mode", MODES)
def test_bl_20_junk_in_unused_slots_does_not_leak(mode: str) -> None:
    call = build(Case(mode, rows=(3, 1), tokens=(100, 257)))
    zeros = {
        name: None if kv is None else np.nan_to_num(kv.astype(np.float32)).astype(kv.dtype)
        for name, kv in (("ori_kv", call.ori_kv), ("cmp_kv", call.cmp_kv))
    }
    for junk in (np.nan, np.inf, -np.inf):
        dirty = {
            name: None if kv is None else np.where(np.isnan(kv), kv.dtype.type(junk), kv)
            for name, kv in (("ori_kv", call.ori_kv), ("cmp_kv", call.cmp_kv))
        }
        found, clean = attend(replace(call, **dirty)), attend(replace(call, **zeros))
        assert_same_bits(found[0], clean[0])
        assert_same_bits(found[1], clean[1])


def test_bl_21_missing_keys_do_not_count_as_score_0() -> None:
    call = with_full_caches(build(Case(rows=(1,), tokens=(5,), heads=2, scale=1.0)))
    assert call.ori_block_table is not None
    q = np.zeros_like(call.q)
    q[..., 0] = 1
    call.ori_kv[..., 0] = -40
    out, lse = attend(replace(call, q=q, sinks=np.full(2, -1e30, np.float32)))
    page = call.ori_kv[call.ori_block_table[0, 0], :5, 0].astype(np.float64)
    np.testing.assert_allclose(out[0, 0].astype(np.float64), page.mean(axis=0), atol=2**-8)
    np.testing.assert_allclose(lse, -40 + np.log(5), rtol=1e-6)


@pytest.mark.parametrize(
    ("mode", "ratio", "rows", "tokens", "slots"),
    [
        ("hca", 128, 4, 258, [1, 2, 2, 2]),
        ("hca", 128, 1, 127, [0]),
        ("hca", 128, 2, 128, [0, 1]),
        ("hca", 4, 5, 5, [0, 0, 0, 1, 1]),
        ("csa", 4, 1, 3, [0]),
        ("csa", 4, 1, 4, [1]),
        ("csa", 4, 6, 9, [1, 1, 1, 1, 2, 2]),
    ],
)
def test_bl_22_compressed_slots_appear_at_the_right_row(
    mode: str, ratio: int, rows: int, tokens: int, slots: list[int]
) -> None:
    call = build(Case(mode, rows=(rows,), tokens=(tokens,), ratio=ratio, window=(0, 0)))
    if mode == "csa":
        lanes = np.broadcast_to(np.arange(64, dtype=np.int32), (rows, 1, 64))
        call = replace(call, cmp_sparse_indices=lanes)
    call = with_full_caches(call)
    assert (keys_seen(call) - 1).tolist() == slots


@pytest.mark.parametrize(
    ("mode", "ratio", "tokens", "slot", "first_row"),
    [("csa", 4, 16, 1, 7), ("hca", 128, 260, 0, 127), ("hca", 128, 260, 1, 255)],
)
def test_bl_23_the_compressed_side_is_causal(
    mode: str, ratio: int, tokens: int, slot: int, first_row: int
) -> None:
    call = build(
        Case(
            mode,
            ("BSND", "BSND"),
            rows=(tokens,),
            tokens=(tokens,),
            heads=2,
            ratio=ratio,
            cmp_topk=4,
        )
    )
    if mode == "csa":
        call = replace(
            call,
            cmp_sparse_indices=np.broadcast_to(np.arange(4, dtype=np.int32), (1, tokens, 1, 4)),
        )
    call = with_full_caches(call)
    before, _ = attend(call)
    assert call.cmp_kv is not None
    call.cmp_kv[0, slot] += 1
    after, _ = attend(call)
    assert_same_bits(after[0, :first_row], before[0, :first_row])
    assert (after[0, first_row:] != before[0, first_row:]).any(axis=(1, 2)).all()


@pytest.mark.parametrize("tokens", [127, 128, 129, 130, 257])
def test_bl_24_the_window_has_128_tokens(tokens: int) -> None:
    call = with_full_caches(build(Case("swa", ("BSND", "BSND"), rows=(1,), tokens=(tokens,))))
    before, _ = attend(call)
    for distance, changes in ((129, False), (128, True)):
        if tokens >= distance:
            call.ori_kv[0, tokens - distance] += 1
            after, _ = attend(call)
            assert bool((after != before).any()) == changes
    tnd = build(Case("swa", ("TND", "TND"), rows=(1,), tokens=(tokens,)))
    assert keys_seen(tnd).tolist() == [min(tokens, 128)]


def test_bl_25_more_rows_than_keys() -> None:
    call = build(Case("swa", ("TND", "TND"), rows=(4,), tokens=(2,)))
    out, lse = attend(call)
    assert_close((out, lse), attention(call))
    assert not out[:2].any()
    assert not lse[:, :2].any()
    assert keys_seen(call).tolist() == [0, 0, 1, 2]


def test_bl_30_every_extent_distinct() -> None:
    bsnd = with_full_caches(
        build(
            Case(
                "csa",
                ("BSND", "PA_BBND"),
                heads=32,
                rows=(3, 3),
                tokens=(300, 131),
                cmp_topk=512,
                ori_block=128,
                cmp_block=32,
            )
        )
    )
    assert_close(attend(bsnd), attention(bsnd))
    assert bsnd.cmp_sparse_indices is not None
    tnd = replace(
        bsnd,
        q=bsnd.q.reshape(6, 32, 512),
        layout_q="TND",
        cu_seqlens_q=int32([0, 3, 6]),
        cmp_sparse_indices=bsnd.cmp_sparse_indices.reshape(6, 1, 512),
    )
    assert_same_bits(attend(tnd)[0].reshape(bsnd.q.shape), attend(bsnd)[0])


def test_bl_31_the_two_tables_are_not_mixed_up() -> None:
    call = with_full_caches(build(Case("hca", rows=(2,), tokens=(700,), ratio=4, cmp_block=32)))
    assert_close(attend(call), attention(call))
    assert call.cmp_kv is not None
    assert call.cmp_block_table is not None
    assert call.ori_block_table is not None
    contiguous = replace(
        call,
        layout_q="BSND",
        layout_kv="BSND",
        q=call.q[None],
        cu_seqlens_q=None,
        ori_kv=call.ori_kv[call.ori_block_table[0]].reshape(1, -1, 1, 512)[:, :700],
        cmp_kv=call.cmp_kv[call.cmp_block_table[0]].reshape(1, -1, 1, 512)[:, :175],
        ori_block_table=None,
        cmp_block_table=None,
    )
    assert_same_bits(attend(contiguous)[0][0], attend(call)[0])


def test_bl_32_table_entries_that_must_not_be_used() -> None:
    call = with_full_caches(build(Case(rows=(1,), tokens=(300,))))
    clean = attend(call)
    assert call.ori_block_table is not None
    for entry in (-1, 2**31 - 1, -(2**31), len(call.ori_kv)):
        table = call.ori_block_table.copy()
        table[0, 0] = table[0, 3:] = entry  # the window begins at token 172, on the second page
        assert_same_bits(attend(replace(call, ori_block_table=table))[0], clean[0])


def test_bl_33_requests_may_share_pages() -> None:
    call = with_full_caches(build(Case("csa", rows=(1, 2, 1), tokens=(129, 200, 256))))
    assert call.ori_block_table is not None
    assert call.cmp_block_table is not None
    call.ori_block_table[:, 0] = call.ori_block_table[0, 0]
    call.cmp_block_table[:, 0] = call.cmp_block_table[0, 0]
    before = call.ori_kv.copy()
    assert_close(attend(call), attention(call))
    assert_same_bits(call.ori_kv, before)


def test_bl_68_short_contexts_padded_to_the_list_width() -> None:
    one_slot = csa_with_list(1, 5, [0], width=512)
    assert keys_seen(one_slot).tolist() == [6]
    assert_close(attend(one_slot), attention(one_slot))
    no_slot = csa_with_list(1, 3, [], width=512)
    window_only = replace(
        no_slot,
        cmp_kv=None,
        cmp_sparse_indices=None,
        cmp_block_table=None,
        seqused_cmp_kv=None,
        cmp_residual_kv=None,
        cmp_ratio=1,
    )
    assert_same_bits(attend(no_slot)[0], attend(window_only)[0])


@pytest.mark.parametrize("mode", ["swa", "hca"])
@pytest.mark.parametrize("used", [300, 298, 128, 130])
def test_bl_83_the_used_length_is_taken_as_given(mode: str, used: int) -> None:
    call = with_full_caches(build(Case(mode, rows=(2,), tokens=(300,), ratio=128)))
    changes = {"seqused_ori_kv": int32([used])}
    if mode == "hca":
        changes |= {"seqused_cmp_kv": int32([used // 128]), "cmp_residual_kv": int32([used % 128])}
    call = replace(call, **changes)
    assert_close(attend(call), attention(call))


def test_bl_84_the_window_stays_inside_its_request() -> None:
    call = with_full_caches(build(Case("swa", ("TND", "TND"), rows=(64, 64), tokens=(64, 64))))
    before, _ = attend(call)
    call.ori_kv[63] += 1
    after, _ = attend(call)
    assert_same_bits(after[64:], before[64:])
    assert (after[63] != before[63]).any()


@pytest.mark.parametrize("edge", [128, 512, 513, 1024, 1025])
def test_bl_85_masks_hold_past_the_first_inner_tile(edge: int) -> None:
    """A planted strong key is found at the last visible token, and not one token later."""
    call = with_full_caches(
        build(Case("swa", ("BSND", "BSND"), rows=(2,), tokens=(edge + 1,), ori_mask=3, heads=2))
    )
    strong = np.sign(call.q[0, 0, 0].astype(np.float32)).astype(call.q.dtype)
    call.ori_kv[0, edge] = strong  # visible to row 1 only
    plain, _ = attend(call)
    assert_close(attend(call), attention(call))
    call.ori_kv[0, edge] = -strong
    hidden, _ = attend(call)
    assert_same_bits(hidden[0, 0], plain[0, 0])
    assert (hidden[0, 1] != plain[0, 1]).any()
