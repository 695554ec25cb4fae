# SPDX-License-Identifier: Apache-2.0
"""README's support matrix of SparseAttnSharedkv; the other test has that of SparseFlashMla."""

import json
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_support_matrix import PRODUCTS, accept_all, check_column, is_accepted, table

import sfmla_ctypes as sfmla

TOKENS = 512


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def cache(
    layout: str, tokens: int, page: int, token_gap: int, page_gap: int, dtype: Any
) -> np.ndarray[Any, Any]:
    """A cache with so many elements between tokens, and tokens between pages or requests."""
    axes = {"BSND": (1, tokens), "TND": (tokens,), "PA_ND": (-(-TOKENS // page), page)}[layout]
    padded = (axes[0], axes[1] + page_gap) if len(axes) == 2 else axes
    whole = np.zeros((*padded, 1, 512 + token_gap), dtype)[..., :512]
    return whole[:, : axes[1]] if len(axes) == 2 else whole


def call(
    *, heads: int = 64, cmp: bool = False, topk: int = 0, page: int = 128, layout_q: str = "TND",
    layout_kv: str = "PA_ND", token_gap: int = 0, page_gap: int = 0, dtype: Any = np.float16,
    **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of a call that every product with the operator accepts, with changes."""
    rows = (2,) if layout_q == "TND" else (1, 2)
    gaps = (page, token_gap, page_gap, dtype)
    arguments: dict[str, Any] = {
        "q": np.zeros((*rows, heads, 512), dtype), "sinks": np.zeros(heads, np.float32),
        "ori_kv": cache(layout_kv, TOKENS, *gaps), "metadata": np.zeros(1024, np.int32),
        "layout_q": layout_q, "layout_kv": layout_kv,
    }  # fmt: skip
    table_ = np.zeros((1, len(arguments["ori_kv"])), np.int32)
    if layout_q == "TND":
        arguments["cu_seqlens_q"] = ints(0, 2)
    if layout_kv == "TND":
        arguments["cu_seqlens_ori_kv"] = ints(0, TOKENS)
    if layout_kv == "PA_ND":
        arguments |= {"ori_block_table": table_, "seqused_kv": ints(TOKENS)}
    if cmp:
        ratio = 4 if topk else 128
        arguments |= {"cmp_kv": cache(layout_kv, TOKENS // ratio, *gaps), "cmp_ratio": ratio}
        if layout_kv == "TND":
            arguments["cu_seqlens_cmp_kv"] = ints(0, TOKENS // ratio)
        if layout_kv == "PA_ND":
            arguments["cmp_block_table"] = table_
    if topk:
        arguments["cmp_sparse_indices"] = np.zeros((*rows, 1, topk), np.int32)
    return arguments | changes


def is_planned(**changes: Any) -> bool:
    try:
        sfmla.sparse_attn_sharedkv_metadata(
            64, 1, 512, cu_seqlens_q=ints(0, 2), seqused_kv=ints(TOKENS), layout_q="TND",
            has_cmp_kv=False, **changes,
        )  # fmt: skip
    except sfmla.AclParamError:
        return False
    return True


def all_accepted(*calls: dict[str, Any]) -> str:
    return accept_all(*calls, operator=sfmla.sparse_attn_sharedkv)


def accepted(**changes: Any) -> bool:
    return is_accepted(call(**changes), sfmla.sparse_attn_sharedkv)


def widest(values: list[tuple[str, bool]]) -> str:
    """The first text whose call is accepted; "no" if none is."""
    return next((text for text, accepts in values if accepts), "no")


def measured_row(text: str) -> str:
    """The cell of a row for the rules of this process."""
    kinds: tuple[dict[str, Any], ...] = ({}, {"cmp": True}, {"cmp": True, "topk": 512})
    answers: dict[str, Callable[[], str]] = {
        "modes SWA, CFA, SCFA; float16, bfloat16": lambda: all_accepted(
            *(call(dtype=dtype, **kind) for kind in kinds
              for dtype in (np.float16, ml_dtypes.bfloat16))),
        "layouts BSND, TND of q with any of PA_ND, BSND, TND of the caches": lambda: all_accepted(
            *(call(layout_q=q, layout_kv=kv, **kind) for kind in kinds
              for q in ("BSND", "TND") for kv in ("PA_ND", "BSND", "TND"))),
        "query heads 1..128 that are no multiple of 4": lambda: all_accepted(
            call(heads=1), call(heads=126)),
        "another window than 127 and 0": lambda: all_accepted(
            call(ori_win_left=134), call(ori_win_right=1)),
        "a plan with another left window than 127": lambda: (
            "yes" if is_planned(ori_win_left=134) else "no"),
        "cmp_ratio": lambda: widest([
            ("1..128", accepted(cmp=True, cmp_ratio=1)
                and accepted(cmp=True, page=1024, cmp_ratio=64)),
            ("4, 128", all_accepted(call(cmp=True, cmp_ratio=4), call(cmp=True)) == "yes")]),
        "lanes of cmp_sparse_indices": lambda: widest([
            ("any", accepted(cmp=True, topk=7)),
            ("512, 1024", all_accepted(call(cmp=True, topk=512), call(cmp=True, topk=1024))
                == "yes")]),
        "another cmp_mask_mode than 3 without cmp_kv": lambda: all_accepted(call(cmp_mask_mode=0)),
        "seqused_q with layout_q TND": lambda: all_accepted(call(seqused_q=ints(1))),
        "pages further apart than their tokens need, seqused_kv in any layout": lambda: (
            all_accepted(call(page_gap=3), call(layout_kv="TND", seqused_kv=ints(100)),
                         call(layout_kv="BSND", seqused_kv=ints(100)))),
        "gaps between the tokens of a cache": lambda: all_accepted(call(token_gap=16)),
        "no query rows": lambda: all_accepted(
            call(q=np.zeros((0, 64, 512), np.float16), cu_seqlens_q=ints(0, 0)),
            call(layout_q="BSND", q=np.zeros((1, 0, 64, 512), np.float16))),
        "tokens per page, up to 1024, a multiple of": lambda: widest([
            ("1", accepted(page=8)), ("16", accepted(page=16) and not accepted(page=24))]),
    }  # fmt: skip
    return answers[text]()


@pytest.mark.parametrize("product", PRODUCTS)
def test_support_matrix(product: str) -> None:
    check_column(__file__, "sharedkv-matrix", product)


if __name__ == "__main__":
    print(json.dumps({text: measured_row(text) for text in table("sharedkv-matrix")}))
