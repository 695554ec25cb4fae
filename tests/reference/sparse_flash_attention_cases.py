# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs of SparseFlashAttention, with NaN in every place that must not be read.

As reference/cases.py does for SparseFlashMla: key, value and rope cache hold numbers only in the
tokens that some row attends to; query rows without a key are NaN too; table entries that nobody
needs and list entries behind the end of a list are junk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from reference.call import Array
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
from reference.pairwise import choices
from reference.sparse_flash_attention import SparseFlashCall, first_rows, places, rows_of

NOPE_DIM, ROPE_DIM = 512, 64
SCALE = (NOPE_DIM + ROPE_DIM) ** -0.5
LAYOUTS = (("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BSND"), ("TND", "PA_BSND"))


@dataclass(frozen=True)
class SparseFlashCase:
    """A call in few words. `rows` and `tokens` are the used lengths of each request."""

    layouts: tuple[str, str] = ("TND", "PA_BSND")
    dtype: str = "bfloat16"
    heads: int = 8
    rows: tuple[int, ...] = (1,)
    tokens: tuple[int, ...] = (130,)
    sparse_mode: int = 3
    sparse_block_size: int = 1
    topk: int = 64
    page_tokens: int = 128
    value: str = "own"  # "key": the same array; "none": left out
    sinks: str = "none"  # or "finite", "infinite"
    row_padding: int = 0  # rows of query no request has: of each request (BSND), at the end (TND)
    token_padding: int = 0  # tokens no request has: of each request (BSND), at the end (TND)
    gap_elements: int = 0  # between pages or requests; the operator makes such views contiguous
    lse: bool = True
    scale: float = SCALE
    seed: int = 0

    def __str__(self) -> str:
        layout = "/".join(self.layouts).lower().replace("pa_bsnd", "pa")
        page = f"-p{self.page_tokens}" if self.layouts[1] == "PA_BSND" else ""
        lengths_text = "+".join(f"{r}q{t}" for r, t in zip(self.rows, self.tokens, strict=True))
        return (
            f"{layout}-{self.dtype}-h{self.heads}-m{self.sparse_mode}-b{self.sparse_block_size}"
            f"k{self.topk}{page}-v.{self.value}-sink.{self.sinks}-{lengths_text}-s{self.seed}"
        )


def make_queries(case: SparseFlashCase, rng: Generator) -> dict[str, Any]:
    axes, cu, used = query_axes(case.layouts[0], case.rows, case.row_padding)
    dtype = DTYPES[case.dtype]
    return {
        "query": rng.standard_normal((*axes, case.heads, NOPE_DIM)).astype(dtype),
        "query_rope": rng.standard_normal((*axes, case.heads, ROPE_DIM)).astype(dtype),
        "actual_seq_lengths_query": used if cu is None else cu[1:],
        "sinks": make_sinks(rng, case.heads, case.sinks),
    }


def make_caches(case: SparseFlashCase, rng: Generator) -> dict[str, Any]:
    """Key, value and rope cache, still without numbers in them, and what belongs to them."""
    layout, tokens = case.layouts[1], list(case.tokens)
    padding = case.token_padding if layout == "BSND" else 0
    axes, cu, table = cache_axes(rng, layout, tokens, padding, case.page_tokens)
    used = int32(tokens) if cu is None else cu[1:]
    if layout == "TND":
        axes = (axes[0] + case.token_padding, *axes[1:])
    if layout == "BSND" and not case.token_padding and set(tokens) == {axes[1]}:
        used = None

    def cache(width: int) -> Array:
        return strided((*axes, width), case.gap_elements, 0, DTYPES[case.dtype])

    key = cache(NOPE_DIM)
    return {
        "key": key,
        "value": {"own": cache(NOPE_DIM), "key": key, "none": None}[case.value],
        "key_rope": cache(ROPE_DIM),
        "block_table": table,
        "actual_seq_lengths_kv": used,
    }


def make_lists(case: SparseFlashCase, rng: Generator, call: SparseFlashCall) -> Array:
    """Lists of block ids; the id an entry must be below is where hostile ones begin."""
    axes = call.query.shape[:-2]
    flat = np.stack([junk_list(rng, case.topk) for _ in range(int(np.prod(axes)))])
    for place in places(call):
        blocks = -(-max(place.visible, 0) // case.sparse_block_size)
        flat[place.query_row] = index_list(rng, np.arange(blocks), case.topk, blocks)
    return int32(flat.reshape(*axes, 1, case.topk))


def build(case: SparseFlashCase) -> SparseFlashCall:
    """The call that `case` describes; the same case gives the same arrays."""
    rng = np.random.default_rng(case.seed)
    call = SparseFlashCall(
        **make_queries(case, rng),
        **make_caches(case, rng),
        sparse_indices=int32([]),
        scale_value=case.scale,
        sparse_block_size=case.sparse_block_size,
        layout_query=case.layouts[0],
        layout_kv=case.layouts[1],
        sparse_mode=case.sparse_mode,
        return_softmax_lse=case.lse,
    )
    call = replace(call, sparse_indices=make_lists(case, rng, call))
    used = [row.place.query_row for row in rows_of(call) if row.keys.size]
    poison(call.query, used)
    poison(call.query_rope, used)
    fill_attended(call, rng)
    return call


def fill_attended(call: SparseFlashCall, rng: Generator) -> None:
    caches = [call.key, call.key_rope]
    if call.value is not None and call.value is not call.key:
        caches.append(call.value)
    cu = first_rows(call.actual_seq_lengths_kv) if call.layout_kv == "TND" else None
    attended = merge((row.place.request, row.keys) for row in rows_of(call))
    fill(caches, attended, cu, call.block_table, rng)


AXES: dict[str, list[Any]] = {
    "layouts": list(LAYOUTS),
    "dtype": ["bfloat16", "float16"],
    "heads": [1, 3, 8, 16, 64, 128],
    "sparse_mode": [0, 3],
    "sparse_block_size": [1, 2, 4, 16, 64, 128],
    "topk": [1, 5, 64, 600],
    "page_tokens": [128, 256, 1024],
    "value": ["own", "key", "none"],
    "sinks": ["none", "finite", "infinite"],
    "rows tokens": REQUESTS,
    "row_padding token_padding": [(0, 0), (2, 3)],
    "gap_elements": [0, 64],
    "lse": [True, False],
}


def matrix(seeds: int = 2) -> list[SparseFlashCase]:
    """Cases in which every pair of values of two axes occurs, once for each seed; and odd ones.

    The odd ones have pages as small as a block allows.
    """
    return [SparseFlashCase(**choice) for choice in choices(AXES, seeds)] + [
        SparseFlashCase(rows=(3,), tokens=(250,), page_tokens=16, sparse_block_size=size)
        for size in (1, 2, 4, 8, 16)
    ]
