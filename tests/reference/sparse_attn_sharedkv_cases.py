# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs of SparseAttnSharedkv, with NaN in every place that must not be read.

As reference/cases.py does for SparseFlashMla: a cache holds numbers only in the tokens that some
row attends to; query rows without a key are NaN too; table entries that nobody needs and list
entries behind the end of a list are junk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from reference.call import Array, Call, given
from reference.case_arrays import (
    DTYPES,
    REQUESTS,
    cache_axes,
    fill,
    index_list,
    int32,
    junk_list,
    make_sinks,
    merge,
    poison,
    query_axes,
    strided,
)
from reference.cases import HEAD_DIM, SCALE
from reference.pairwise import choices
from reference.sparse_attn_sharedkv import SharedKvCall, batch_size, cache, lengths, rows_of

MODES = ("swa", "cfa", "scfa")
LAYOUTS = tuple((q, kv) for q in ("BSND", "TND") for kv in ("PA_ND", "BSND", "TND"))


@dataclass(frozen=True)
class SharedKvCase:
    """A call in few words. `rows` and `tokens` are the used lengths of each request."""

    mode: str = "swa"
    layouts: tuple[str, str] = ("TND", "PA_ND")
    dtype: str = "bfloat16"
    heads: int = 8
    rows: tuple[int, ...] = (1,)
    tokens: tuple[int, ...] = (130,)
    ratio: int = 4
    window: tuple[int, int] = (127, 0)
    topk: int = 64
    ori_block: int = 128
    cmp_block: int = 128
    sinks: str = "finite"  # or "infinite", "none"
    row_padding: int = 0  # rows of q no request has: of each request (BSND), at the end (TND)
    token_padding: int = 0  # tokens no request has, of each one; BSND and TND caches
    page_gap_elements: int = 0  # between two pages, or two requests of a BSND cache
    row_gap_elements: int = 0  # between two tokens of a cache
    strides: str = "view"  # paged: "given" as attributes too, or by "attribute" alone
    no_cmp_pages: bool = False  # cmp_kv of 0 pages; no request may have a complete group
    lse: bool = True
    scale: float = SCALE
    seed: int = 0

    def __str__(self) -> str:
        layout = "/".join(self.layouts).lower().replace("_nd", "")
        cmp_part = f"-r{self.ratio}" if self.mode != "swa" else ""
        cmp_part += f"k{self.topk}" if self.mode == "scfa" else ""
        pages = f"-p{self.ori_block}.{self.cmp_block}" if self.layouts[1] == "PA_ND" else ""
        lengths_text = "+".join(f"{r}q{t}" for r, t in zip(self.rows, self.tokens, strict=True))
        return (
            f"{self.mode}-{layout}-{self.dtype}-h{self.heads}-w{self.window[0]}.{self.window[1]}"
            f"{cmp_part}{pages}-{lengths_text}-s{self.seed}"
        )


def make_cache(case: SharedKvCase, rng: Generator, name: str, tokens: list[int]) -> dict[str, Any]:
    """The arguments of one cache ("ori" or "cmp"), still without numbers in it."""
    block = case.ori_block if name == "ori" else case.cmp_block
    axes, cu, table = cache_axes(rng, case.layouts[1], tokens, case.token_padding, block)
    if name == "cmp" and case.no_cmp_pages:
        axes = (0, *axes[1:])
    gaps = (case.page_gap_elements, case.row_gap_elements)
    kv = strided((*axes, HEAD_DIM), *gaps, DTYPES[case.dtype])
    stride = 0
    if table is not None and case.strides != "view":
        stride = kv.strides[0] // kv.itemsize
    if stride and case.strides == "attribute":
        # The array claims that pages follow each other without a gap.
        strides = (axes[1] * kv.strides[1], *kv.strides[1:])
        kv = np.lib.stride_tricks.as_strided(kv, kv.shape, strides)
    return {
        f"{name}_kv": kv,
        f"cu_seqlens_{name}_kv": cu,
        f"{name}_block_table": table,
        f"{name}_kv_stride": stride,
    }


def make_queries(case: SharedKvCase, rng: Generator) -> dict[str, Any]:
    axes, cu, used = query_axes(case.layouts[0], case.rows, case.row_padding)
    return {
        "q": rng.standard_normal((*axes, case.heads, HEAD_DIM)).astype(DTYPES[case.dtype]),
        "cu_seqlens_q": cu,
        "seqused_q": used,
        "sinks": make_sinks(rng, case.heads, case.sinks),
    }


def make_lists(case: SharedKvCase, rng: Generator, dense: SharedKvCall) -> Array:
    axes = dense.q.shape[:-2]
    flat = np.stack([junk_list(rng, case.topk) for _ in range(int(np.prod(axes)))])
    for row in rows_of(dense):
        groups = lengths(dense, row.request).tokens // case.ratio
        flat[row.query_row] = index_list(rng, row.cmp_keys, case.topk, groups)
    return int32(flat.reshape(*axes, 1, case.topk))


def build(case: SharedKvCase) -> SharedKvCall:
    """The call that `case` describes; the same case gives the same arrays."""
    rng = np.random.default_rng(case.seed)
    arguments = make_queries(case, rng) | make_cache(case, rng, "ori", list(case.tokens))
    if case.mode != "swa":
        groups = [tokens // case.ratio for tokens in case.tokens]
        arguments |= make_cache(case, rng, "cmp", groups) | {"cmp_ratio": case.ratio}
    ragged = len(set(case.tokens)) > 1 or not all(case.tokens)
    if case.layouts[1] == "PA_ND" or case.token_padding or (case.layouts[1] == "BSND" and ragged):
        arguments["seqused_kv"] = int32(case.tokens)
    call = SharedKvCall(
        **arguments,
        softmax_scale=case.scale,
        ori_win_left=case.window[0],
        ori_win_right=case.window[1],
        layout_q=case.layouts[0],
        layout_kv=case.layouts[1],
        return_softmax_lse=case.lse,
    )
    if case.mode == "scfa":
        call = replace(call, cmp_sparse_indices=make_lists(case, rng, call))
    poison(call.q, [row.query_row for row in rows_of(call) if row.ori_keys.size])
    for name in ("ori", "cmp") if case.mode != "swa" else ("ori",):
        fill_attended(call, name, rng)
    return call


def fill_attended(call: SharedKvCall, name: str, rng: Generator) -> None:
    cu, table = getattr(call, f"cu_seqlens_{name}_kv"), getattr(call, f"{name}_block_table")
    attended = merge((row.request, getattr(row, f"{name}_keys")) for row in rows_of(call))
    fill([cache(call, name)], attended, cu, table, rng)


def planning_arguments(call: SharedKvCall) -> dict[str, Any]:
    """The arguments of sparse_attn_sharedkv_metadata that describe the same call."""
    shared = (
        *("cu_seqlens_q", "cu_seqlens_ori_kv", "cu_seqlens_cmp_kv", "seqused_q", "seqused_kv"),
        *("cmp_ratio", "ori_mask_mode", "cmp_mask_mode", "ori_win_left", "ori_win_right"),
        *("layout_q", "layout_kv"),
    )
    both = [lengths(call, request) for request in range(batch_size(call))]
    indices = call.cmp_sparse_indices
    return {name: getattr(call, name) for name in shared} | {
        "num_heads_q": call.q.shape[-2],
        "num_heads_kv": 1,
        "head_dim": call.q.shape[-1],
        "batch_size": len(both),
        "max_seqlen_q": call.q.shape[1] if call.cu_seqlens_q is None else max(both).rows,
        "max_seqlen_kv": max(tokens for _, tokens in both),
        "ori_topk": 0,
        "cmp_topk": 0 if indices is None else indices.shape[-1],
        "has_ori_kv": True,
        "has_cmp_kv": call.cmp_kv is not None,
    }


def as_sparse_flash_mla(call: SharedKvCall) -> Call:
    """The SparseFlashMla call with the same result, given a right window of 0.

    A right window would show it keys to rows before the first token, which SparseAttnSharedkv
    leaves 0. The LSE has other axes: (B, 1, S1, N1) or (1, T1, N1).
    """
    assert call.ori_win_right == 0
    tokens = int32([lengths(call, request).tokens for request in range(batch_size(call))])
    compressed: dict[str, Any] = {"cmp_mask_mode": call.cmp_mask_mode}
    if given(call.cmp_kv):
        compressed |= {
            "cmp_kv": cache(call, "cmp"),
            "cmp_sparse_indices": call.cmp_sparse_indices,
            "cmp_ratio": call.cmp_ratio,
            "seqused_cmp_kv": int32(tokens // call.cmp_ratio),
            "cmp_residual_kv": int32(tokens % call.cmp_ratio),
        }
    same = (
        *("q", "ori_block_table", "cmp_block_table", "cu_seqlens_q"),
        *("cu_seqlens_ori_kv", "cu_seqlens_cmp_kv", "seqused_q", "sinks", "softmax_scale"),
        *("ori_mask_mode", "ori_win_left", "ori_win_right", "layout_q", "return_softmax_lse"),
    )
    return Call(
        **{name: getattr(call, name) for name in same},
        **compressed,
        ori_kv=cache(call, "ori"),
        seqused_ori_kv=tokens,
        layout_kv=call.layout_kv.replace("PA_ND", "PA_BBND"),
    )


AXES: dict[str, list[Any]] = {
    "mode": list(MODES),
    "layouts": list(LAYOUTS),
    "dtype": ["bfloat16", "float16"],
    "heads": [1, 4, 8, 12, 64, 128],
    "ratio": [1, 4, 128],
    "window": [(127, 0), (0, 0), (134, 0), (15, 3)],
    "topk": [1, 5, 64, 512],
    "ori_block cmp_block": [(128, 128), (16, 32), (32, 16), (1024, 128)],
    "rows tokens": REQUESTS,
    "row_padding token_padding": [(0, 0), (2, 3)],
    "page_gap_elements row_gap_elements": [(0, 0), (64, 0), (64, 16)],
    "strides": ["view", "given", "attribute"],
    "sinks": ["finite", "infinite", "none"],
    "lse": [True, False],
}


def matrix(seeds: int = 2) -> list[SharedKvCase]:
    """Cases in which every pair of values of two axes occurs, once for each seed; and odd ones."""
    return [SharedKvCase(**choice) for choice in choices(AXES, seeds)] + [
        SharedKvCase(mode, rows=(1, 2, 0), tokens=(3, 1, 0), no_cmp_pages=True)
        for mode in ("cfa", "scfa")
    ]
