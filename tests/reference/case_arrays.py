# SPDX-License-Identifier: Apache-2.0
"""Arrays from which the cases of all operators are made: caches, tables, index lists, sinks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.random import Generator

from reference.call import Array

DTYPES: dict[str, Any] = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}

# Query rows and tokens of the requests of a call: single rows and chunks, none of either, fewer
# tokens than rows, both sides of the edges of windows, pages and blocks.
REQUESTS = [
    ((1,), (0,)),
    ((1,), (1,)),
    ((1, 1), (3, 127)),
    ((2, 1, 3), (128, 129, 130)),
    ((4, 0, 1), (257, 700, 2)),
    ((9,), (700,)),
    ((5, 5), (3, 257)),
    ((1, 2, 3, 4), (0, 1, 130, 700)),
    ((8,), (8,)),
    ((3, 0, 6), (64, 0, 513)),
]


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


def cache_axes(
    rng: Generator, layout: str, tokens: list[int], padding: int, block: int
) -> tuple[tuple[int, ...], Array | None, Array | None]:
    """A cache with room for `tokens` and `padding` more a request.

    All axes but the last; prefix sums if packed; a block table, two columns to spare, if paged.
    """
    allotted = [count + padding for count in tokens]
    if layout == "TND":
        return (max(sum(allotted), 1), 1), prefix_sums(allotted), None
    if layout == "BSND":
        return (len(tokens), max(*allotted, 1), 1), None, None
    columns = max(-(-count // block) for count in tokens) + 2
    pages = len(tokens) * columns + 3
    table = rng.permutation(pages)[: len(tokens) * columns].reshape(len(tokens), columns)
    return (pages, block, 1), None, int32(table)


def query_axes(
    layout: str, rows: tuple[int, ...], padding: int
) -> tuple[tuple[int, ...], Array | None, Array | None]:
    """Leading axes of q, prefix sums if packed, used rows of each request where axes hide them.

    Padding follows the rows of each request (BSND) or of all requests (TND).
    """
    if layout == "TND":
        return (sum(rows) + padding,), prefix_sums(list(rows)), None
    room = max(rows) + padding
    return (len(rows), room), None, int32(rows) if set(rows) != {room} else None


def make_sinks(rng: Generator, heads: int, kind: str) -> Array | None:
    """Sinks "finite", "none", or "infinite": +inf first, -inf in the last of several heads."""
    if kind == "none":
        return None
    sinks = (1.5 * rng.standard_normal(heads)).astype(np.float32)
    if kind == "infinite":
        sinks[0] = np.inf
        sinks[1:][-1:] = -np.inf
    return sinks


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


def merge(rows: Iterable[tuple[int, Array]]) -> dict[int, Array]:
    """The attended tokens of each request, from (request, keys) of its rows."""
    by_request: dict[int, list[Array]] = {}
    for request, keys in rows:
        by_request.setdefault(request, []).append(keys)
    return {request: np.unique(np.concatenate(keys)) for request, keys in by_request.items()}


def fill(
    caches: list[Array],
    attended: dict[int, Array],
    cu: Array | None,
    table: Array | None,
    rng: Generator,
) -> None:
    """Numbers for the attended tokens of equally laid out caches; junk where no page is needed."""
    needed = np.zeros_like(table, dtype=bool) if table is not None else None
    for request, keys in attended.items():
        index: tuple[Array, ...] = (np.full_like(keys, request), keys)
        if table is not None and needed is not None:
            page, place = np.divmod(keys, caches[0].shape[1])
            needed[request, page] = True
            index = (table[request, page], place)
        elif cu is not None:
            index = (cu[request] + keys,)
        for kv in caches:
            kv[index] = rng.standard_normal((len(keys), *kv.shape[-2:])).astype(kv.dtype)
    if table is not None and needed is not None:
        junk = junk_list(rng, table.size).reshape(table.shape)
        table[~needed] = junk[~needed]


def poison(q: Array, used: list[int]) -> None:
    """NaN in all rows of the flattened q but the used ones."""
    flat = q.reshape(-1, *q.shape[-2:])
    unused = np.ones(len(flat), dtype=bool)
    unused[used] = False
    flat[unused] = np.nan
