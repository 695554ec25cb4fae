# SPDX-License-Identifier: Apache-2.0
"""Bytes of the arrays of a case: as many as are made, known before they are."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sfmla_ctypes.case_arrays import build_sparse_flash_attention, build_sparse_flash_mla
from sfmla_ctypes.case_sizes import array_bytes, requests_of
from sfmla_ctypes.cases import MODES, CaseSpec, resize
from sfmla_ctypes.cli import main

REQUESTS = [((2,), (9,)), ((3, 0, 1), (300, 0, 33)), ((0, 0), (0, 0)), ((1, 2), (700, 700))]
LAYOUTS = [("TND", "PA_BBND"), ("BSND", "PA_BBND"), ("TND", "TND"), ("BSND", "BSND")]


@pytest.mark.parametrize("mode", MODES)
def test_bytes_are_those_of_the_arrays(mode: str) -> None:
    build = build_sparse_flash_attention if mode == "sfa" else build_sparse_flash_mla
    for (rows, tokens), (layout_q, layout_kv), ratio in itertools.product(
        REQUESTS, LAYOUTS, (None, 1)
    ):
        spec = CaseSpec(mode, rows, tokens, 3, 5, ratio, 16, layout_q, layout_kv)
        made = [value for value in build(spec).values() if isinstance(value, np.ndarray)]
        assert array_bytes(spec, requests_of(spec)) == sum(value.nbytes for value in made), spec


@pytest.mark.parametrize("batch", [None, 1, 2, 5, 6, 13])
@pytest.mark.parametrize("kv_tokens", [None, (9,), (9, 8, 7)])
def test_requests_are_those_of_the_resized_spec(
    batch: int | None, kv_tokens: tuple[int, ...] | None
) -> None:
    spec = CaseSpec("swa", (1, 2), (30, 40))
    resized = resize(spec, batch, None, kv_tokens)
    assert requests_of(spec, batch, None, kv_tokens) == requests_of(resized)
    assert sum(requests_of(resized).values()) == resized.batch


def test_a_batch_that_no_machine_holds_is_counted_at_once() -> None:
    spec = replace(CaseSpec("swa", (1,), (10,), heads=2), page_tokens=16)
    count = 2**31 - 1
    q, pool = count * 2 * 1024, (count + 1 + count // 16) * 16 * 1024
    lengths = 4 * (count + (count + 1) + count)  # table, prefix sums, KV lengths
    assert array_bytes(spec, requests_of(spec, batch=count)) == q + pool + lengths + 2 * 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--kv-tokens", "9" * 27], f"'--kv-tokens': {'9' * 27} is not in the range 0<=x<=2147"),
        (["--kv-tokens", "9" * 5000], "'--kv-tokens': "),
        (["--kv-tokens", "99999999999"], "'--kv-tokens': 99999999999 is not in the range"),
        (["--query-tokens", "1,99999999999"], "'--query-tokens': 99999999999 is not in the"),
        (["--batch", "99999999999"], "'--batch': 99999999999 is not in the range"),
        (["--topk", "99999999999"], "'--topk': 99999999999 is not in the range"),
        (["--batch", "1000000000"], "Error: --batch: the arrays of the case need "),
        (["--kv-tokens", "2147483647", "--heads", "2"], "Error: --kv-tokens, --heads: the arrays"),
    ],
)
@pytest.mark.parametrize("command", ["case", "sim"])
def test_absurd_sizes_are_refused(
    tmp_path: Path, command: str, words: list[str], sentence: str
) -> None:
    output = ["-o", str(tmp_path / "a.npz")] if command == "case" else []
    found = CliRunner().invoke(main, [command, "v4-flash-csa-decode", *output, *words])
    assert found.exit_code == 2, found.exception
    assert sentence in found.stderr
    assert not (tmp_path / "a.npz").exists()
