# SPDX-License-Identifier: Apache-2.0
"""README's support matrix against what the library does under each value of SFMLA_RULES.

Each row of the table has a call here that needs what the row names. A call is accepted if phase one
takes it; with metadata of zeros it then ends as an error of the stream, which is cheap and enough.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sfmla_ctypes as sfmla

README = Path(__file__).parents[2] / "README.md"
PRODUCTS = ("cpu", "ascend910b", "ascend950")
WINDOW = {"ori_mask_mode": 4, "ori_win_left": 127, "ori_win_right": 0}


def call(
    *, heads: int = 64, ori_topk: int = 0, cmp: bool = False, cmp_topk: int = 0, page: int = 128,
    layouts: str = "TND/PA_BBND", dtype: Any = np.float16, gap: int = 0, **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of a call that every product accepts, with changes."""
    layout_q, layout_kv = layouts.split("/")

    def ints(*values: int) -> np.ndarray[Any, Any]:
        return np.array(values, np.int32)

    def cache(tokens: int) -> np.ndarray[Any, Any]:
        shape = {"BSND": (1, tokens), "TND": (tokens,), "PA_BBND": (4, page)}[layout_kv]
        return np.zeros((*shape, 1, 512 + gap), dtype)[..., :512]

    rows = (2,) if layout_q == "TND" else (1, 2)
    table = np.zeros((1, 4), np.int32)
    args: dict[str, Any] = {
        "q": np.zeros((*rows, heads, 512), dtype), "ori_kv": cache(512),
        "sinks": np.zeros(heads, np.float32), "metadata": np.zeros(1024, np.int32),
        "layout_q": layout_q, "layout_kv": layout_kv, **WINDOW,
    }  # fmt: skip
    if layout_q == "TND":
        args["cu_seqlens_q"] = ints(0, 2)
    if layout_kv == "TND":
        args["cu_seqlens_ori_kv"] = ints(0, 512)
    if layout_kv == "PA_BBND":
        args |= {"ori_block_table": table, "seqused_ori_kv": ints(512)}
    if ori_topk:
        windows = {"ori_mask_mode": 0, "ori_win_left": -1, "ori_win_right": -1}
        args |= windows if os.environ["SFMLA_RULES"] != "ascend910b" else {"ori_mask_mode": 0}
        args["ori_sparse_indices"] = np.zeros((*rows, 1, ori_topk), np.int32)
        args["ori_topk_length"] = np.ones((*rows, 1), np.int32)
    if cmp:
        ratio = 4 if cmp_topk else 128
        args |= {"cmp_kv": cache(512 // ratio), "cmp_ratio": ratio, "cmp_mask_mode": 3}
        args |= {"cmp_residual_kv": ints(0), "seqused_cmp_kv": ints(512 // ratio)}
        if layout_kv == "PA_BBND":
            args["cmp_block_table"] = table
        if layout_kv == "TND":
            args["cu_seqlens_cmp_kv"] = ints(0, 512 // ratio)
    if cmp_topk:
        args["cmp_sparse_indices"] = np.zeros((*rows, 1, cmp_topk), np.int32)
    return args | changes


def is_accepted(
    arguments: dict[str, Any], operator: Callable[..., Any] = sfmla.sparse_flash_mla
) -> bool:
    try:
        operator(**{k: v for k, v in arguments.items() if v is not None})
    except sfmla.AclParamError as error:
        if error.code != 161002:
            raise
        return False
    except sfmla.AclDeviceError:
        pass
    return True


def is_planned(**changes: Any) -> bool:
    arguments: dict[str, Any] = {
        "cu_seqlens_q": np.array([0, 2], np.int32), "seqused_ori_kv": np.array([512], np.int32),
        "cmp_residual_kv": np.array([0], np.int32), "batch_size": 1, "cmp_ratio": 128,
        "cmp_mask_mode": 3, **WINDOW, "layout_q": "TND", "layout_kv": "PA_BBND",
    }  # fmt: skip
    try:
        sfmla.sparse_flash_mla_metadata(64, 1, 512, **arguments, **changes)
    except sfmla.AclParamError:
        return False
    return True


def use_of_list_beside_dense_part() -> str:
    """Whether an original list with a dense compressed part counts: seen by which plan fits."""
    arguments = call(ori_topk=8, cmp=True, ori_topk_length=None) | WINDOW
    if not is_accepted(arguments):
        return "no"
    plan_names = ("cu_seqlens_q", "seqused_ori_kv", "seqused_cmp_kv", "cmp_residual_kv")
    plan_arguments = {name: arguments[name] for name in plan_names} | WINDOW
    arguments["metadata"] = sfmla.sparse_flash_mla_metadata(
        64, 1, 512, **plan_arguments, ori_topk=8, cmp_ratio=128, cmp_mask_mode=3, layout_q="TND",
        layout_kv="PA_BBND",
    )  # fmt: skip
    try:
        sfmla.sparse_flash_mla(**{k: v for k, v in arguments.items() if v is not None})
    except sfmla.AclDeviceError:
        return "ignored"
    return "used"


def accept_all(
    *calls: dict[str, Any], operator: Callable[..., Any] = sfmla.sparse_flash_mla
) -> str:
    answers = {is_accepted(arguments, operator) for arguments in calls}
    assert len(answers) == 1, "a row of the table must be accepted or refused as a whole"
    return "yes" if answers.pop() else "no"


def measured_row(text: str) -> str:
    """The cell of a row for the rules of this process."""
    layouts = ("BSND/BSND", "TND/TND", "BSND/PA_BBND", "TND/PA_BBND")
    kinds: tuple[dict[str, Any], ...] = (
        {}, {"cmp": True, "cmp_topk": 8}, {"cmp": True}, {"ori_topk": 8}
    )  # fmt: skip
    csa: dict[str, Any] = {"cmp": True, "cmp_topk": 8}
    spare: dict[str, Any] = {"cmp_block_table": np.zeros((1, 4), np.int32)}
    answers: dict[str, Callable[[], str]] = {
        "modes SWA, CSA, HCA, ORI_SPARSE": lambda: accept_all(*(call(**kind) for kind in kinds)),
        "mode ORI_CMP_SPARSE": lambda: accept_all(call(ori_topk=8, **csa)),
        "layouts BSND/BSND, TND/TND, BSND/PA_BBND, TND/PA_BBND": lambda: accept_all(
            *(call(layouts=pair, **kind) for pair in layouts for kind in kinds)),
        "float16, bfloat16": lambda: accept_all(
            *(call(dtype=kind) for kind in (np.float16, ml_dtypes.bfloat16))),
        "query heads 1..128 that are no power of two": lambda: accept_all(
            call(heads=3), call(heads=127)),
        "a dense original part with another mask than 4, window 127 and 0": lambda: accept_all(
            call(ori_win_left=126), call(ori_win_right=1),
            call(ori_mask_mode=3, ori_win_left=-1, ori_win_right=-1)),
        "cmp_mask_mode 0 with cmp_kv": lambda: accept_all(
            call(cmp=True, cmp_mask_mode=0, cmp_residual_kv=None)),
        "ori_sparse_indices with a mask or with cmp_kv": lambda: accept_all(
            call(ori_topk=8, ori_mask_mode=3), call(ori_topk=8, **csa)),
        "ori_sparse_indices with a dense compressed part": use_of_list_beside_dense_part,
        "cmp_topk_length": lambda: accept_all(
            call(cmp_topk_length=np.ones((2, 1), np.int32), **csa)),
        "a paged cmp_kv without seqused_cmp_kv or cmp_topk_length": lambda: accept_all(
            call(cmp=True, seqused_cmp_kv=None)),
        "a plan for a paged cmp_kv without seqused_cmp_kv": lambda: (
            "yes" if is_planned() else "no"),
        "gaps between the tokens of a cache": lambda: accept_all(call(gap=16)),
        "windows that are not -1 although ori_mask_mode is not 4": lambda: accept_all(
            call(ori_topk=8, ori_win_left=127, ori_win_right=0)),
        "cmp_ratio": lambda: "1..128" if is_accepted(call(cmp=True, cmp_ratio=64))
            else "SWA 1, CSA 4, HCA 128",
        "cmp_mask_mode 3 or another cmp_ratio than 1 without cmp_kv": lambda: {
            (True, True): "yes", (True, False): "mask only", (False, False): "no"}[
            is_accepted(call(cmp_mask_mode=3)), is_accepted(call(cmp_ratio=4))],
        "tensors that the mode does not use": lambda: (
            "ignored" if is_accepted(call(**spare)) else "no"),
        "most lanes of cmp_sparse_indices": lambda: "any" if is_accepted(
            call(cmp=True, cmp_topk=8193)) else "8192",
        "tokens per page, up to 1024, a multiple of": lambda: "1" if is_accepted(
            call(page=8)) and not is_accepted(call(page=1025)) else "16",
    }  # fmt: skip
    return answers[text]()


def table(name: str) -> dict[str, list[str]]:
    """The rows of the table that the comments `name` and `/name` enclose."""
    text = README.read_text(encoding="utf-8")
    lines = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    assert rows[0][1:] == list(PRODUCTS)
    return {row[0]: row[1:] for row in rows[2:]}


def check_column(script: str, name: str, product: str) -> None:
    """`script` prints, under the rules of `product`, what it measured for each row of a table."""
    done = subprocess.run(
        [sys.executable, script], env=os.environ | {"SFMLA_RULES": product},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    column = PRODUCTS.index(product)
    assert measured == {text: cells[column] for text, cells in table(name).items()}


@pytest.mark.parametrize("product", PRODUCTS)
def test_support_matrix(product: str) -> None:
    check_column(__file__, "support-matrix", product)


if __name__ == "__main__":
    print(json.dumps({text: measured_row(text) for text in table("support-matrix")}))
