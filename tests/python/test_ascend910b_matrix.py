# SPDX-License-Identifier: Apache-2.0
"""Every pair of settings that Atlas A2 and A3 allow, on the emulated device with all checks.

Each case runs on one number of cores and under one schedule, which take turns. With
``SFMLA_SIM_SEEDS=20`` each runs on all numbers of cores under 20 schedules too, without a fault and
with the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ascend910b_cases import DeviceCase
from ascend910b_runs import Outputs, assert_right, assert_same, run
from operator_calls import plan
from test_matrix import AXES as HOST_AXES

from reference.cases import SCALE, Case
from reference.pairwise import choices

CORES = (1, 2, 5, 24)
TURNS = [(1, 0), (2, 1), (5, 2), (24, 3), (24, 0), (5, 4), (2, 5), (1, 6)]  # cores and seed
SEEDS = range(int(os.environ.get("SFMLA_SIM_SEEDS", "0")))
FIRST_VECTOR_RECORD = 324  # word of a plan: not 0 if rows are split between cores
RATIOS = {"csa": 4, "hca": 128}


def host_axis(name: str, allowed: Callable[[Any], bool] = lambda _: True) -> list[Any]:
    """Those values of the CPU's matrix that the product takes."""
    return [value for value in HOST_AXES[name] if allowed(value)]


# Long requests reach both parts of a cache and several chunks of a row.
AXES: dict[str, list[Any]] = {
    "mode": host_axis("mode", lambda mode: mode != "ori_cmp_sparse"),
    "layouts": host_axis("layouts"),
    "dtype": host_axis("dtype"),
    "heads": host_axis("heads", lambda heads: heads & (heads - 1) == 0),
    "listed_window": [(0, 0), (127, 0), (5, 3)],  # without a mask it hides nothing
    "ori_topk": [*host_axis("ori_topk"), 1024, 1100],
    "cmp_topk": [*host_axis("cmp_topk"), 1024],
    "ori_block cmp_block": [
        *host_axis("blocks", lambda blocks: all(block % 16 == 0 for block in blocks)),
        *((16, 48), (64, 16)),
    ],
    "rows tokens": [
        *host_axis("requests"),
        *(((1,), (70000,)), ((1, 2), (5000, 127)), ((2, 1), (131, 9000)), ((2,), (6000,))),
    ],
    "row_padding token_padding": host_axis("padding"),
    "page_gap_elements": [0, 48, 5120],
    "sinks": ["finite", "infinite", "large", "minus infinite"],
    "returns_lse": [True, False],
    "scale": [SCALE, 0.3],
}


def to_case(choice: dict[str, Any]) -> DeviceCase:
    values = dict(choice)
    sinks, returns_lse = values.pop("sinks"), values.pop("returns_lse")
    window = values.pop("listed_window")
    if values["layouts"][1] != "PA_BBND":
        values["page_gap_elements"] = 0
    if values["mode"] == "ori_sparse":
        values |= {"ori_mask": 0, "window": window}
    case = Case(**values, ratio=RATIOS.get(values["mode"], 1))
    return DeviceCase(case, sinks, returns_lse)


CASES = [to_case(choice) for choice in choices(AXES, 2)]
IDS = [str(case) for case in CASES]


@pytest.fixture(scope="module")
def in_turn(tmp_path_factory: pytest.TempPathFactory) -> list[Outputs]:
    """What each case gives on the cores and under the schedule whose turn it is."""
    found: list[Outputs] = [{} for _ in CASES]
    folder = tmp_path_factory.mktemp("turns")
    for first, (cores, seed) in enumerate(TURNS):
        places = slice(first, None, len(TURNS))
        found[places] = run(CASES[places], folder, cores, seed)
    return found


@pytest.mark.parametrize("index", range(len(CASES)), ids=IDS)
def test_numbers(in_turn: list[Outputs], index: int) -> None:
    assert_right(CASES[index], in_turn[index])


@pytest.mark.skipif(not SEEDS, reason="takes long: set SFMLA_SIM_SEEDS")
@pytest.mark.parametrize("cores", CORES)
def test_bits_over_cores_and_seeds(in_turn: list[Outputs], tmp_path: Path, cores: int) -> None:
    for seed in SEEDS:
        found = run(CASES, tmp_path, cores, seed)
        for case, bits, expected in zip(CASES, found, in_turn, strict=True):
            assert_same(case, bits, expected)


def test_the_matrix_covers_what_it_claims() -> None:
    assert 150 <= len(CASES) <= 250
    assert len(set(IDS)) == len(CASES)
    split = [case for case in CASES if plan(case.call())[FIRST_VECTOR_RECORD]]
    assert len(split) >= 10
    assert {case.case.mode for case in split} == {"csa", "hca", "ori_sparse"}
