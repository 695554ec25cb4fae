# SPDX-License-Identifier: Apache-2.0
"""The schedule that the metadata operator writes is valid, whatever the lengths and cores."""

import numpy as np
import pytest
from operator_calls import core_limit, plan

from reference.cases import LAYOUTS, MODES, Case, build, mixed_batch
from reference.compare import assert_same_bits
from reference.schedule import CORES, assert_valid, decode

CORE_COUNTS = [1, 2, 24, CORES]


@pytest.mark.parametrize("cores", CORE_COUNTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layouts", LAYOUTS, ids="/".join)
def test_every_mode_and_layout(mode: str, layouts: tuple[str, str], cores: int) -> None:
    case = Case(
        mode,
        layouts,
        rows=(3, 1, 4),
        tokens=(700, 30, 2500),
        heads=16,
        row_padding=1,
        token_padding=3,
        ratio=2,
        ori_topk=700,
        cmp_topk=600,
    )
    for ori_mask, cmp_mask in ((4, 3), (3, 3), (0, 0)):
        call = build(Case(**(vars(case) | {"ori_mask": ori_mask, "cmp_mask": cmp_mask})))
        with core_limit(cores):
            assert_valid(plan(call), call, cores)


@pytest.mark.parametrize("cores", CORE_COUNTS)
@pytest.mark.parametrize("seed", range(12))
def test_random_lengths(seed: int, cores: int) -> None:
    rng = np.random.default_rng(seed)
    requests = int(rng.choice([1, 2, 7, 40]))
    case = Case(
        str(rng.choice(MODES)),
        rows=tuple(map(int, rng.integers(0, 6, requests))),
        tokens=tuple(int(2 ** rng.uniform(0, 12)) - 1 for _ in range(requests)),
        heads=int(rng.choice([1, 8, 128])),
        ratio=int(rng.choice([1, 4])),
        ori_mask=3,
        ori_topk=2048,
        cmp_topk=1024,
        seed=seed,
    )
    call = build(case)
    with core_limit(cores):
        words = plan(call)
        assert_valid(words, call, cores)
        assert_same_bits(plan(call), words)


@pytest.mark.parametrize("mode", MODES)
def test_mixed_batch(mode: str) -> None:
    call = mixed_batch(mode)
    assert_valid(plan(call), call)


def test_bl_79_one_long_request_uses_many_cores() -> None:
    call = build(Case("hca", rows=(1,), tokens=(20000,), ratio=1, heads=64))
    words = plan(call)
    assert_valid(words, call)
    assert len(decode(words).enabled()) >= 12  # a row has at most 16 chunks


def test_thousands_of_requests() -> None:
    call = build(Case("swa", ("TND", "TND"), rows=(1,) * 3000, tokens=(40,) * 3000, heads=1))
    words = plan(call)
    schedule = decode(words)
    assert len(schedule.enabled()) == CORES
    rows = [end[0] - begin[0] for begin, end in schedule.enabled()]
    assert max(rows) - min(rows) <= 2


def test_no_work_at_all_is_still_a_schedule() -> None:
    for rows, tokens in (((0, 0), (5, 5)), ((2, 2), (0, 0))):
        call = build(Case(rows=rows, tokens=tokens))
        assert_valid(plan(call), call)
