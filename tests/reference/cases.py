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

import ml_dtypes
import numpy as np
from numpy.random import Generator

from reference.attention import Row, lengths, rows_of
from reference.call import Array, Call

HEAD_DIM = 512
SCALE = HEAD_DIM**-0.5
MODES = ("swa", "csa", "hca", "ori_sparse", "ori_cmp_sparse")
LAYOUTS = (("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BBND"), ("TND", "PA_BBND"))
DTYPES: dict[str, Any] = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}


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


def prefix_sums(counts: list[int]) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def int32(values: Any) -> Array:
    return np.asarray(values, dtype=np.int32)


def strided(shape: tuple[int, ...], page_gap: int, row_gap: int, dtype: Any) -> Array:
    """A NaN-filled cache of `shape` whose pages and tokens have gaps (in elements) behind them."""
    row_stride = shape[-1] + row_gap
    page_stride = int(np.prod(shape[1:-1])) * row_stride + page_gap
    strides = (
        (page_stride, row_stride, row_stride, 1) if len(shape) == 4 else (row_stride,) * 2 + (1,)
    )
    storage = np.full(shape[0] * strides[0] + row_stride, np.nan, dtype=dtype)
    byte_strides = tuple(stride * storage.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(storage, shape, byte_strides)


def make_cache(case: Case, rng: Generator, name: str, tokens: list[int]) -> dict[str, Any]:
    """The arguments of one cache ("ori" or "cmp"), still without numbers in it."""
    dtype, layout = DTYPES[case.dtype], case.layouts[1]
    allotted = [count + case.token_padding for count in tokens]
    arguments: dict[str, Any] = {}
    if layout == "TND":
        arguments[f"cu_seqlens_{name}_kv"] = prefix_sums(allotted)
        shape: tuple[int, ...] = (max(sum(allotted), 1), 1, HEAD_DIM)
    elif layout == "BSND":
        shape = (len(tokens), max(*allotted, 1), 1, HEAD_DIM)
    else:
        block = case.ori_block if name == "ori" else case.cmp_block
        columns = max(-(-count // block) for count in tokens) + 2
        pages = len(tokens) * columns + 3
        table = rng.permutation(pages)[: len(tokens) * columns].reshape(len(tokens), columns)
        arguments[f"{name}_block_table"] = int32(table)
        shape = (pages, block, 1, HEAD_DIM)
    if layout == "PA_BBND" or case.token_padding or len(set(tokens)) > 1 or not all(tokens):
        arguments[f"seqused_{name}_kv"] = int32(tokens)
    arguments[f"{name}_kv"] = strided(shape, case.page_gap_elements, case.row_gap_elements, dtype)
    return arguments


def junk_list(rng: Generator, width: int) -> Array:
    return rng.choice(int32([-1, 0, 1, 5, 2**31 - 1, -(2**31), 2147480000, -2]), width)


def index_list(rng: Generator, keys: Array, width: int, end: int) -> Array:
    """One list over `keys`, in a style drawn at random."""
    style = rng.choice(
        ["clean", "sorted", "short", "hostile", "none"], p=[0.4, 0.1, 0.2, 0.25, 0.05]
    )
    taken = rng.permutation(keys)[:width]
    if style == "sorted":
        taken = np.sort(taken)
    if style == "short":
        taken = taken[: len(taken) // 2]
    if style == "none":
        taken = taken[:0]
    if style == "hostile" and len(taken):  # duplicates and entries that the row may not see
        replaced = rng.integers(0, len(taken), 3)
        taken[replaced] = [taken[0], end, 2**31 - 1]
    entries = junk_list(rng, width)
    entries[: len(taken)] = taken
    entries[len(taken) : len(taken) + 1] = rng.choice([-1, -2, -(2**31)])
    return entries


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


def fill(kv: Array, index: tuple[Array, ...], rng: Generator) -> None:
    kv[index] = rng.standard_normal((len(index[0]), 1, HEAD_DIM)).astype(kv.dtype)


def fill_attended(call: Call, name: str, rng: Generator) -> None:
    """Numbers for the attended tokens of a cache, junk for the table entries nobody needs."""
    kv, cu, table = (
        getattr(call, attribute)
        for attribute in (f"{name}_kv", f"cu_seqlens_{name}_kv", f"{name}_block_table")
    )
    by_request: dict[int, list[Row]] = {}
    for row in rows_of(call):
        by_request.setdefault(row.request, []).append(row)
    needed = np.zeros_like(table, dtype=bool) if table is not None else None
    for request, rows in by_request.items():
        keys = np.unique(np.concatenate([getattr(row, f"{name}_keys") for row in rows]))
        if needed is not None:
            needed[request, keys // kv.shape[1]] = True
            fill(kv, (table[request, keys // kv.shape[1]], keys % kv.shape[1]), rng)
        elif call.layout_kv == "TND":
            fill(kv, (cu[request] + keys,), rng)
        else:
            fill(kv, (np.full_like(keys, request), keys), rng)
    if needed is not None:
        junk = junk_list(rng, table.size).reshape(table.shape)
        table[~needed] = junk[~needed]


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
    arguments["sinks"] = (1.5 * rng.standard_normal(case.heads)).astype(np.float32)
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
    poison_padded_rows(call)
    for name in ("ori", "cmp") if case.has_cmp else ("ori",):
        fill_attended(call, name, rng)
    return call


def poison_padded_rows(call: Call) -> None:
    flat = call.q.reshape(-1, *call.q.shape[-2:])
    padded = np.ones(len(flat), dtype=bool)
    padded[[row.query_row for row in rows_of(call)]] = False
    flat[padded] = np.nan


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


def mixed_batch(mode: str, dtype: str = "bfloat16", requests: int = 32) -> Call:
    """Requests of all kinds of length in one TND / PA_BBND call."""
    rng = np.random.default_rng(99)
    lengths = rng.choice([0, 1, 2, 5, 100, 127, 128, 129, 500, 513, 1025, 2500], requests)
    rows = rng.choice([0, 1, 1, 2, 4, 7], requests)
    return build(
        Case(
            mode,
            dtype=dtype,
            rows=tuple(map(int, rows)),
            tokens=tuple(map(int, lengths)),
            heads=int(rng.choice([3, 8, 64])),
            ori_topk=700,
            cmp_topk=600,
            ratio=2,
            ori_mask=3,
            window=(-1, -1),
        )
    )
