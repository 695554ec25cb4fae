# SPDX-License-Identifier: Apache-2.0
"""The calls that are measured: serving shapes, scaled so that one call takes less than 2 s.

Arrays are made so that a long context costs no memory it would not cost the operator: the pool of
original tokens holds only pages that some window touches, older table entries name page 0. Pages
are shuffled, lists name distinct visible keys in no order. The same shape gives the same arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cases import DTYPES, FLOP_PER_KEY_AND_HEAD, HEAD_DIM, WINDOW_TOKENS, Arguments
from ..reference import Call, query_rows, row_keys

Array = NDArray[Any]

BYTES_PER_ELEMENT = 2
CSA, HCA = 4, 128  # original tokens per compressed one


@dataclass(frozen=True)
class Shape:
    """One call. All requests are alike; ``query_tokens`` are the newest of ``kv_tokens``.

    ``cmp_ratio`` 1 is the window alone; ``topk`` 0 attends to every visible compressed key.
    ``table_factor`` widens the block tables and ``page_stride_factor`` spreads the pages of the
    pools by gaps; neither changes what is attended.
    """

    batch: int
    query_tokens: int
    kv_tokens: int
    heads: int = 64
    topk: int = 0
    cmp_ratio: int = 1
    page_tokens: int = 128
    table_factor: int = 1
    page_stride_factor: int = 1

    @property
    def compressed_tokens(self) -> int:
        return self.kv_tokens // self.cmp_ratio if self.cmp_ratio > 1 else 0


@dataclass(frozen=True)
class Workload:
    """A shape and what is expected of it; None where nothing is.

    ``peer_ratios`` are times faster than the best peer, with one thread and with two.
    """

    shape: Shape
    peak_fraction: float | None = None
    peer_ratios: Mapping[int, float] | None = None
    speedup: float | None = None  # of two threads against one

    @property
    def has_peers(self) -> bool:
        return self.peer_ratios is not None


WORKLOADS: Mapping[str, Workload] = {
    "decode-SWA": Workload(Shape(16, 1, 8192), 0.65, {1: 1.4, 2: 1.9}, 1.85),
    "decode-CSA": Workload(
        Shape(8, 1, 8192, topk=512, cmp_ratio=CSA), 0.70, {1: 1.7, 2: 2.0}, 1.85
    ),
    "decode-CSA-128h": Workload(
        Shape(4, 1, 16384, heads=128, topk=1024, cmp_ratio=CSA), 0.72, {1: 1.4, 2: 1.5}, 1.85
    ),
    "decode-HCA": Workload(Shape(8, 1, 32768, cmp_ratio=HCA), 0.70, {1: 1.45, 2: 1.6}, 1.85),
    "prefill-SWA": Workload(Shape(1, 1024, 1024), 0.72, {1: 1.45, 2: 1.45}, 1.85),
    "prefill-CSA": Workload(
        Shape(1, 512, 2048, topk=512, cmp_ratio=CSA), 0.72, {1: 1.25, 2: 1.5}, 1.85
    ),
    "prefill-CSA-sel": Workload(
        Shape(1, 128, 16384, topk=512, cmp_ratio=CSA), 0.70, {1: 1.35, 2: 1.7}, 1.85
    ),
    "prefill-HCA": Workload(Shape(1, 512, 8192, cmp_ratio=HCA), 0.74, {1: 1.25, 2: 1.5}, 1.85),
    "decode-CSA-8h": Workload(
        Shape(32, 1, 8192, heads=8, topk=512, cmp_ratio=CSA), 0.40, {1: 1.5, 2: 1.5}, 1.85
    ),
    "decode-CSA-16h": Workload(
        Shape(16, 1, 8192, heads=16, topk=512, cmp_ratio=CSA), 0.40, {1: 1.5, 2: 1.5}, 1.85
    ),
    "decode-HCA-1M": Workload(Shape(1, 1, 1 << 20, cmp_ratio=HCA), speedup=1.7),
}


@dataclass(frozen=True)
class Work:
    """What a call must do at least. Bytes: distinct KV rows; moved adds q and the output."""

    flop: int
    kv_bytes: int
    moved_bytes: int


def build(shape: Shape, dtype: str, seed: int = 0) -> Arguments:
    """The arguments of ``sparse_flash_mla`` for a shape, without ``metadata``."""
    rng = np.random.default_rng(seed)
    rows = shape.batch * shape.query_tokens
    window_tokens = min(shape.kv_tokens, shape.query_tokens + WINDOW_TOKENS - 1)
    original, original_table = _cache(rng, shape, shape.kv_tokens, window_tokens, dtype)
    arguments: Arguments = {
        "q": _gaussian(rng, (rows, shape.heads, HEAD_DIM), dtype),
        "ori_kv": original,
        "ori_block_table": original_table,
        "cu_seqlens_q": np.arange(shape.batch + 1, dtype=np.int32) * np.int32(shape.query_tokens),
        "seqused_ori_kv": np.full(shape.batch, shape.kv_tokens, np.int32),
        # In 16 bits exactly, because a peer that adds it to a 16-bit mask would round it.
        "sinks": _gaussian(rng, (shape.heads,), "bfloat16").astype(np.float32),
        "softmax_scale": HEAD_DIM**-0.5,
        "ori_mask_mode": 4,
        "ori_win_left": WINDOW_TOKENS - 1,
        "ori_win_right": 0,
        "layout_q": "TND",
        "layout_kv": "PA_BBND",
    }
    if shape.compressed_tokens:
        arguments |= _compressed(rng, shape, dtype)
    return arguments


def measure_work(call: Call) -> Work:
    """Operations on attended keys only, and bytes of every attended key once."""
    pairs, distinct = 0, 0
    seen: dict[int, tuple[list[Array], list[Array]]] = {}
    for row in query_rows(call):
        original, compressed = row_keys(call, row)
        pairs += original.size + compressed.size
        parts = seen.setdefault(row.request, ([], []))
        parts[0].append(original)
        parts[1].append(compressed)
    for parts in seen.values():
        distinct += sum(np.unique(np.concatenate(part)).size for part in parts)
    kv_bytes = distinct * HEAD_DIM * BYTES_PER_ELEMENT
    heads = call.q.shape[-2]
    flop = pairs * heads * FLOP_PER_KEY_AND_HEAD
    return Work(flop, kv_bytes, kv_bytes + 2 * call.q.size * BYTES_PER_ELEMENT)


def only_row(shape: Shape, arguments: Mapping[str, Any], row: int) -> Arguments:
    """A call of one query row that must answer what row ``row`` of the whole call does.

    The row becomes the newest token of its request.
    """
    request, token = divmod(row, shape.query_tokens)
    kv_tokens = shape.kv_tokens - shape.query_tokens + token + 1
    alone = dict(arguments)
    for name in ("q", "cmp_sparse_indices"):
        if name in arguments:
            alone[name] = arguments[name][row : row + 1]
    for name in ("ori_block_table", "cmp_block_table"):
        if name in arguments:
            alone[name] = arguments[name][request : request + 1]
    alone["cu_seqlens_q"] = np.array([0, 1], np.int32)
    alone["seqused_ori_kv"] = np.array([kv_tokens], np.int32)
    if "cmp_kv" in arguments:
        compressed, residual = divmod(kv_tokens, shape.cmp_ratio)
        alone["seqused_cmp_kv"] = np.array([compressed], np.int32)
        alone["cmp_residual_kv"] = np.array([residual], np.int32)
    return alone


def _compressed(rng: np.random.Generator, shape: Shape, dtype: str) -> Arguments:
    tokens = shape.compressed_tokens
    pool, table = _cache(rng, shape, tokens, tokens, dtype)
    made: Arguments = {
        "cmp_kv": pool,
        "cmp_block_table": table,
        "seqused_cmp_kv": np.full(shape.batch, tokens, np.int32),
        "cmp_residual_kv": np.full(shape.batch, shape.kv_tokens % shape.cmp_ratio, np.int32),
        "cmp_ratio": shape.cmp_ratio,
        "cmp_mask_mode": 3,
    }
    if shape.topk:
        made["cmp_sparse_indices"] = _lists(rng, shape)
    return made


def _cache(
    rng: np.random.Generator, shape: Shape, tokens: int, last_tokens: int, dtype: str
) -> tuple[Array, Array]:
    """A pool with the pages of the last ``last_tokens`` of every request, and its block table."""
    pages = -(-tokens // shape.page_tokens)
    kept_pages = pages - (tokens - last_tokens) // shape.page_tokens
    pool_pages = 1 + shape.batch * kept_pages
    table = np.zeros((shape.batch, pages * shape.table_factor), np.int32)
    shuffled = 1 + rng.permutation(pool_pages - 1).astype(np.int32)
    table[:, pages - kept_pages : pages] = shuffled.reshape(shape.batch, kept_pages)
    spread = (pool_pages, shape.page_tokens * shape.page_stride_factor, 1, HEAD_DIM)
    return _gaussian(rng, spread, dtype)[:, : shape.page_tokens], table


def _lists(rng: np.random.Generator, shape: Shape) -> Array:
    lists = np.full((shape.batch * shape.query_tokens, 1, shape.topk), -1, np.int32)
    for row in range(len(lists)):
        token = row % shape.query_tokens
        visible = (shape.kv_tokens - shape.query_tokens + token + 1) // shape.cmp_ratio
        chosen = rng.permutation(visible)[: shape.topk]
        lists[row, 0, : chosen.size] = chosen
    return lists


def _gaussian(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    drawn: Array = rng.standard_normal(shape, np.float32).astype(DTYPES[dtype])
    return drawn
