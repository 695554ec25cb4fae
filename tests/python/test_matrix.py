# SPDX-License-Identifier: Apache-2.0
"""Every pair of settings, against the oracle: each row and head, LSE too, outputs poisoned."""

import dataclasses
from typing import Any

import pytest
from operator_calls import arguments_of, attend, on_device, plan

import sfmla_ctypes
from reference.attention import attention
from reference.cases import LAYOUTS, MODES, Case, build
from reference.compare import assert_close, assert_same_bits
from reference.pairwise import pairwise

AXES: dict[str, list[Any]] = {
    "mode": list(MODES),
    "layouts": list(LAYOUTS),
    "dtype": ["bfloat16", "float16"],
    "heads": [1, 3, 8, 16, 64, 128],
    "ori": [
        (0, (-1, -1)),
        (0, (127, 0)),
        (3, (-1, -1)),
        (4, (127, 0)),
        (4, (0, 0)),
        (4, (-1, 0)),
        (4, (15, 3)),
        (4, (-1, -1)),
        (4, (3, -1)),
        (4, (0, 5)),
    ],
    "cmp_mask": [3, 0],
    "ratio": [1, 2, 4, 128],
    "ori_topk": [1, 5, 64, 512],
    "cmp_topk": [1, 5, 64, 512],
    "blocks": [(128, 128), (16, 24), (24, 1), (1, 16), (128, 16)],
    "requests": [
        ((1,), (0,)),
        ((1,), (1,)),
        ((1, 1), (1, 127)),
        ((2, 1, 3), (128, 129, 130)),
        ((4, 0, 1), (257, 700, 1)),
        ((9,), (700,)),
        ((5, 5), (3, 257)),
        ((1, 2, 3, 4), (0, 1, 130, 700)),
        ((8,), (8,)),
        ((3, 0, 6), (64, 0, 513)),
    ],
    "padding": [(0, 0), (2, 3)],
    "gaps": [(0, 0), (10 * 512, 0), (64, 16)],
    "topk_lengths": [False, True],
}


def to_case(choice: dict[str, Any], seed: int) -> Case:
    values = dict(choice)
    mask, window = values.pop("ori")
    ori_block, cmp_block = values.pop("blocks")
    rows, tokens = values.pop("requests")
    row_padding, token_padding = values.pop("padding")
    page_gap, row_gap = values.pop("gaps")
    return Case(
        **values,
        ori_mask=mask,
        window=window,
        ori_block=ori_block,
        cmp_block=cmp_block,
        rows=rows,
        tokens=tokens,
        row_padding=row_padding,
        token_padding=token_padding,
        page_gap_elements=page_gap,
        row_gap_elements=row_gap,
        seed=seed,
    )


CASES = [
    to_case(choice, 100 * seed + number)
    for seed in range(2)
    for number, choice in enumerate(pairwise(AXES, seed))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_numpy_arrays(case: Case) -> None:
    call = build(case)
    assert_close(attend(call), attention(call))


@pytest.mark.parametrize("case", CASES[::7], ids=str)
def test_device_arrays_give_the_same_bits(case: Case) -> None:
    call = build(case)
    words = sfmla_ctypes.DeviceArray.from_numpy(plan(call))
    out, lse = sfmla_ctypes.sparse_flash_mla(**on_device(arguments_of(call)), metadata=words)
    expected = attend(call)
    assert_same_bits(out.numpy(), expected[0])
    assert_same_bits(lse.numpy(), expected[1])


@pytest.mark.parametrize("case", CASES[::9], ids=str)
def test_output_does_not_depend_on_the_lse_flag(case: Case) -> None:
    call = build(case)
    expected, _ = attend(call)
    found, scalar = attend(dataclasses.replace(call, return_softmax_lse=False))
    assert_same_bits(found, expected)
    assert scalar.shape == ()
    assert scalar == 0


def test_the_matrix_covers_what_it_claims() -> None:
    assert 120 <= len(CASES) <= 250
    assert len({str(case) for case in CASES}) == len(CASES)
