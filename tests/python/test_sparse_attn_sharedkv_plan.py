# SPDX-License-Identifier: Apache-2.0
"""Plans of SparseAttnSharedkv. Vectors: docs of the published operator, 24 cores, window 127."""

from typing import Any

import numpy as np
import pytest
from operator_calls import arguments_of, core_limit
from test_sparse_attn_sharedkv import attend, plan

import sfmla_ctypes
from reference.case_arrays import int32
from reference.sparse_attn_sharedkv_cases import MODES, SharedKvCase, build, planning_arguments
from sfmla_ctypes.reference import SharedKvCall as PackageCall
from sfmla_ctypes.schedule_sharedkv import decode_schedule, metadata_arguments


def plan_cursors(heads: int, lengths: list[tuple[int, int]], ratio: int = 1, topk: int = 0) -> Any:
    """The end cursors of the enabled cores."""
    rows, tokens = zip(*lengths, strict=True)
    with core_limit(24):
        words = sfmla_ctypes.sparse_attn_sharedkv_metadata(
            heads, 1, 512,
            cu_seqlens_q=int32(np.cumsum([0, *rows])), seqused_kv=int32(tokens),
            batch_size=len(rows), cmp_topk=topk, cmp_ratio=ratio, layout_q="TND",
            has_cmp_kv=ratio > 1,
        )  # fmt: skip
    records = words[:288].reshape(36, 8)
    assert not words[288:864].any()
    assert not records[records[:, 0] == 0].any()
    return [tuple(map(int, record[4:6])) for record in records if record[0]]


def test_published_plans() -> None:
    assert plan_cursors(64, [(1, 8193)], ratio=4, topk=512) == [(1, 0)]
    assert plan_cursors(64, [(3, 0), (0, 5)]) == [(2, 0)]
    mixed = [(1, 100), (0, 7), (5, 0), (2, 5000), (1, 1)]
    assert plan_cursors(64, mixed, ratio=4, topk=512) == [(3, 0), (3, 1), (4, 0), (5, 0)]
    assert plan_cursors(12, [(100, 50), (1, 3000)], ratio=128) == [(0, 1), (0, 2), (2, 0)]
    prefill = [21, 42, 63, 84, 105, 126]
    cursors = plan_cursors(64, [(128, 4096)] * 4, ratio=4, topk=512)
    assert cursors[:7] == [*((0, end) for end in prefill), (1, 19)]
    assert (len(cursors), cursors[-1]) == (24, (4, 0))


@pytest.mark.parametrize(("heads", "topk"), [(64, 512), (128, 1024), (12, 0)])
@pytest.mark.parametrize("mode", MODES)
def test_a_decoded_plan_covers_the_call_once(mode: str, heads: int, topk: int) -> None:
    lengths: dict[str, Any] = {"rows": (30, 0, 1, 9, 4), "tokens": (1500, 0, 40, 5000, 2)}
    call = build(SharedKvCase(mode, **lengths, heads=heads, topk=max(topk, 1)))
    arguments = arguments_of(call)
    planned = metadata_arguments(arguments)
    assert {name: planned[name] for name in ("cmp_topk", "has_cmp_kv", "batch_size")} == {
        name: planning_arguments(call)[name] for name in ("cmp_topk", "has_cmp_kv", "batch_size")
    }
    words = sfmla_ctypes.sparse_attn_sharedkv_metadata(**planned)
    schedule = decode_schedule(words, PackageCall(**arguments))
    starts = [work.start for work in schedule.cores]
    assert starts == [(0, 0, 0), *(work.end for work in schedule.cores[:-1])]
    assert schedule.cores[-1].end == (5, 0, 0)
    with core_limit(1):
        alone = sfmla_ctypes.sparse_attn_sharedkv_metadata(**planned)
    (whole,) = decode_schedule(alone, PackageCall(**arguments)).cores
    assert whole.rows == 30 + 1 + 9 + 2
    assert (schedule.cost, sum(work.kv_blocks for work in schedule.cores)) == (
        whole.cost,
        whole.kv_blocks,
    )
    assert attend(call, metadata=words)[0].shape == call.q.shape


def test_costs_by_hand() -> None:
    """One block of 256 pairs: a window of 131 keys, 10 groups of 128."""
    call = build(SharedKvCase("cfa", rows=(4,), tokens=(1300,), heads=64, ratio=128))
    (work,) = decode_schedule(plan(call), PackageCall(**arguments_of(call))).cores
    tiles = [6 * 16 + 10 * 3, 6 * 16 + 10 * 1]
    assert (work.rows, work.kv_blocks, work.cost) == (4, 2, sum(tiles))
