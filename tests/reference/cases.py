# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs for every mode and layout, with NaN in every place that must not be read.

A cache holds numbers only in the tokens that some row attends to; the rest of its storage (gaps
between pages, page tails, unused pages, tokens before the window or past the threshold) is NaN.
Block-table entries that no attended token needs, list entries behind the end of a list and padded
query rows hold junk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from reference.attention import lengths, rows_of
from reference.call import Call
from reference.case_arrays import (
    DTYPES,
    cache_axes,
    fill,
    index_list,
    int32,
    junk_list,
    make_sinks,
    merge,
    poison,
    prefix_sums,
    strided,
)

HEAD_DIM = 512
SCALE = HEAD_DIM**-0.5
MODES = ("swa", "csa", "hca", "ori_sparse", "ori_cmp_sparse")
LAYOUTS = (("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BBND"), ("TND", "PA_BBND"))


@dataclass(frozen=True)
class Case:
    """A call in few words. `rows` and `tokens` are the used lengths of each request."""

    mode: str = "swa"
    layouts: tuple[str, str] = ("TND", "PA_BBND")
    dtype: str = "bfloat16"
    heads: int = 8
    rows: tuple[int, ...] = (1,)
    tokens: tuple[int, ...] = (130,)
    ratio: int = 4
    ori_mask: int = 4
    cmp_mask: int = 3
    window: tuple[int, int] = (127, 0)
    ori_topk: int = 64
    cmp_topk: int = 64
    ori_block: int = 128
    cmp_block: int = 128
    row_padding: int = 0  # allotted query rows of each request behind the used ones
    token_padding: int = 0  # the same for its tokens; BSND and TND caches
    page_gap_elements: int = 0  # between two pages, or two requests of a BSND cache
    row_gap_elements: int = 0  # between two tokens of a cache
    topk_lengths: bool = False  # given even where the masks do not require them
    scale: float = SCALE
    seed: int = 0

    @property
    def has_cmp(self) -> bool:
        return self.mode in ("csa", "hca", "ori_cmp_sparse")

    def __str__(self) -> str:
        layout = "/".join(self.layouts).lower().replace("_bbnd", "")
        window = f"w{self.window[0]}.{self.window[1]}" if self.ori_mask == 4 else ""
        cmp_part = f"-r{self.ratio}c{self.cmp_mask}" if self.has_cmp else ""
        if self.mode in ("csa", "ori_cmp_sparse"):
            cmp_part += f"k{self.cmp_topk}"
        if self.mode.startswith("ori"):
            cmp_part += f"-ok{self.ori_topk}"
        pages = f"-p{self.ori_block}.{self.cmp_block}" if self.layouts[1] == "PA_BBND" else ""
        lengths_text = "+".join(f"{r}q{t}" for r, t in zip(self.rows, self.tokens, strict=True))
        return (
            f"{self.mode}-{layout}-{self.dtype}-h{self.heads}-m{self.ori_mask}{window}"
            f"{cmp_part}{pages}-{lengths_text}-s{self.seed}"
        )


def make_cache(case: Case, rng: Generator, name: str, tokens: list[int]) -> dict[str, Any]:
    """The arguments of one cache ("ori" or "cmp"), still without numbers in it."""
    dtype, layout = DTYPES[case.dtype], case.layouts[1]
    block = case.ori_block if name == "ori" else case.cmp_block
    axes, cu, table = cache_axes(rng, layout, tokens, case.token_padding, block)
    arguments: dict[str, Any] = {
        f"cu_seqlens_{name}_kv": cu,
        f"{name}_block_table": table,
        f"{name}_kv": strided(
            (*axes, HEAD_DIM), case.page_gap_elements, case.row_gap_elements, dtype
        ),
    }
    if table is not None or case.token_padding or len(set(tokens)) > 1 or not all(tokens):
        arguments[f"seqused_{name}_kv"] = int32(tokens)
    return arguments


def make_lists(
    case: Case, rng: Generator, dense: Call, name: str, width: int, mask: int
) -> dict[str, Any]:
    """Index lists of one cache and, where the mask needs them, the lengths of the lists."""
    rows = dense.q.shape[:-2]
    flat = np.stack([junk_list(rng, width) for _ in range(int(np.prod(rows)))] or [int32([])])
    for row in rows_of(dense):
        keys = row.ori_keys if name == "ori" else row.cmp_keys
        end = lengths(dense, row.request)[1 if name == "ori" else 2]
        flat[row.query_row] = index_list(rng, keys, width, end)
    arguments: dict[str, Any] = {f"{name}_sparse_indices": int32(flat.reshape(*rows, 1, width))}
    if mask == 0 or case.topk_lengths:
        arguments[f"{name}_topk_length"] = int32(rng.integers(0, width + 1, (*rows, 1)))
    return arguments


def fill_attended(call: Call, name: str, rng: Generator) -> None:
    kv, cu, table = (
        getattr(call, attribute)
        for attribute in (f"{name}_kv", f"cu_seqlens_{name}_kv", f"{name}_block_table")
    )
    attended = merge((row.request, getattr(row, f"{name}_keys")) for row in rows_of(call))
    fill([kv], attended, cu, table, rng)


def make_queries(case: Case, rng: Generator) -> dict[str, Any]:
    allotted = [count + case.row_padding for count in case.rows]
    arguments: dict[str, Any] = {}
    if case.layouts[0] == "TND":
        arguments["cu_seqlens_q"] = prefix_sums(allotted)
        shape: tuple[int, ...] = (sum(allotted), case.heads, HEAD_DIM)
        ragged = False
    else:
        shape = (len(allotted), max(allotted), case.heads, HEAD_DIM)
        ragged = len(set(allotted)) > 1
    if ragged or case.row_padding:
        arguments["seqused_q"] = int32(case.rows)
    arguments["q"] = rng.standard_normal(shape).astype(DTYPES[case.dtype])
    arguments["sinks"] = make_sinks(rng, case.heads, "finite")
    return arguments


def build(case: Case) -> Call:
    """The call that `case` describes; the same case gives the same arrays."""
    rng = np.random.default_rng(case.seed)
    arguments = make_queries(case, rng) | make_cache(case, rng, "ori", list(case.tokens))
    if case.has_cmp:
        arguments |= make_cache(case, rng, "cmp", [count // case.ratio for count in case.tokens])
        if case.cmp_mask == 3 and case.ratio != 1:
            arguments["cmp_residual_kv"] = int32([count % case.ratio for count in case.tokens])
    call = Call(
        **arguments,
        softmax_scale=case.scale,
        cmp_ratio=case.ratio if case.has_cmp else 1,
        ori_mask_mode=case.ori_mask,
        cmp_mask_mode=case.cmp_mask if case.has_cmp else 0,
        ori_win_left=case.window[0],
        ori_win_right=case.window[1],
        layout_q=case.layouts[0],
        layout_kv=case.layouts[1],
    )
    lists: dict[str, Any] = {}
    if case.mode.startswith("ori"):
        lists |= make_lists(case, rng, call, "ori", case.ori_topk, case.ori_mask)
    if case.mode in ("csa", "ori_cmp_sparse"):
        lists |= make_lists(case, rng, call, "cmp", case.cmp_topk, case.cmp_mask)
    call = replace(call, **lists)
    poison(call.q, [row.query_row for row in rows_of(call)])
    for name in ("ori", "cmp") if case.has_cmp else ("ori",):
        fill_attended(call, name, rng)
    return call


def with_full_caches(call: Call) -> Call:
    """Numbers, not NaN, in every token of the caches, and usable ids in the whole tables."""
    rng = np.random.default_rng(17)
    changes: dict[str, Any] = {}
    for name in ("ori", "cmp"):
        kv, table = getattr(call, f"{name}_kv"), getattr(call, f"{name}_block_table")
        if kv is not None:
            changes[f"{name}_kv"] = rng.standard_normal(kv.shape).astype(kv.dtype)
        if table is not None:
            ids = rng.permutation(len(kv))[: table.size]
            changes[f"{name}_block_table"] = int32(ids.reshape(table.shape))
    return replace(call, **changes)


def mixed_batch(mode: str, dtype: str = "bfloat16", heads: int = 8) -> Call:
    """32 requests of all kinds of length in one TND / PA_BBND call."""
    rng = np.random.default_rng(99)
    lengths = rng.choice([0, 1, 2, 5, 100, 127, 128, 129, 500, 513, 1025, 2500], 32)
    rows = rng.choice([0, 1, 1, 2, 4, 7], 32)
    return build(
        Case(
            mode,
            dtype=dtype,
            rows=tuple(map(int, rows)),
            tokens=tuple(map(int, lengths)),
            heads=heads,
            ori_topk=700,
            cmp_topk=600,
            ratio=2,
            ori_mask=3,
            window=(-1, -1),
        )
    )
