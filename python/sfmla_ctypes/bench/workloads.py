# SPDX-License-Identifier: Apache-2.0
"""The calls that are measured: serving shapes, scaled so that one call takes less than 2 s.

Arrays are made so that a long context costs no memory it would not cost the operator: the pool of
original tokens holds only pages that some window touches, older table entries name page 0. Pages
are shuffled, lists name distinct visible keys in no order. The same shape gives the same arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..case_arrays import DTYPES, HEAD_DIM, ROPE_DIM, Arguments
from ..cases import (
    FLASH_ATTENTION,
    FLASH_MLA,
    PAGED_NAMES,
    SHARED_KV,
    WINDOW_TOKENS,
    as_shared_kv,
)
from ..operators import OPERATORS, Operator

Array = NDArray[Any]

BYTES_PER_ELEMENT = 2
CSA, HCA = 4, 128  # original tokens per compressed one


@dataclass(frozen=True)
class Shape:
    """One call. All requests are alike; ``query_tokens`` are the newest of ``kv_tokens``.

    ``cmp_ratio`` 1 is the window alone; ``topk`` 0 attends to every visible compressed key. For
    SparseFlashAttention ``topk`` counts original keys, and neither ratio nor window exist.
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
    operator: str = FLASH_MLA

    @property
    def compressed_tokens(self) -> int:
        return self.kv_tokens // self.cmp_ratio if self.cmp_ratio > 1 else 0


@dataclass(frozen=True)
class Workload:
    """A shape and what is expected of it; None where nothing is.

    ``peer_ratios`` are times faster than the best peer, with one thread and with two. The only peer
    of SparseAttnSharedkv is SparseFlashMla on the same problem.
    """

    shape: Shape
    peak_fraction: float | None = None
    peer_ratios: Mapping[int, float] | None = None
    speedup: float | None = None  # of two threads against one

    @property
    def has_peers(self) -> bool:
        return self.peer_ratios is not None and self.shape.operator != SHARED_KV


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
    # Of SparseFlashAttention: a step of 16 requests that verify 3 draft tokens each, and a chunk.
    "sfa-decode": Workload(
        Shape(16, 4, 8192, heads=8, topk=2048, operator=FLASH_ATTENTION),
        0.40,
        {1: 1.5, 2: 1.5},
        1.85,
    ),
    "sfa-decode-16h": Workload(
        Shape(16, 1, 8192, heads=16, topk=2048, operator=FLASH_ATTENTION),
        0.40,
        {1: 1.5, 2: 1.5},
        1.85,
    ),
    "sfa-prefill": Workload(
        Shape(1, 512, 4096, heads=8, topk=2048, operator=FLASH_ATTENTION),
        0.40,
        {1: 1.5, 2: 1.5},
        1.85,
    ),
    "sas-decode": Workload(
        Shape(8, 1, 8192, topk=512, cmp_ratio=CSA, operator=SHARED_KV),
        0.70,
        {1: 0.97, 2: 0.97},
        1.85,
    ),
}


@dataclass(frozen=True)
class Work:
    """What a call must do at least. Bytes: distinct KV rows; moved adds q and the output."""

    flop: int
    kv_bytes: int
    moved_bytes: int


def operator_of(shape: Shape) -> Operator:
    """The operator that a shape is a call of."""
    return OPERATORS[shape.operator]


def build(shape: Shape, dtype: str, seed: int = 0) -> Arguments:
    """The arguments of the operator of a shape, without ``metadata``."""
    if shape.operator == FLASH_ATTENTION:
        return _flash_attention(shape, dtype, seed)
    arguments = _flash_mla(shape, dtype, seed)
    return as_shared_kv(arguments) if shape.operator == SHARED_KV else arguments


def _flash_mla(shape: Shape, dtype: str, seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    rows = shape.batch * shape.query_tokens
    window_tokens = min(shape.kv_tokens, shape.query_tokens + WINDOW_TOKENS - 1)
    place = _place(rng, shape, shape.kv_tokens, window_tokens)
    arguments: Arguments = {
        "q": _gaussian(rng, (rows, shape.heads, HEAD_DIM), dtype),
        "ori_kv": _pool(rng, shape, place, dtype),
        "ori_block_table": place.table,
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


def _flash_attention(shape: Shape, dtype: str, seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    rows = shape.batch * shape.query_tokens
    place = _place(rng, shape, shape.kv_tokens, shape.kv_tokens)
    key = _pool(rng, shape, place, dtype)
    return {
        "query": _gaussian(rng, (rows, shape.heads, HEAD_DIM), dtype),
        "query_rope": _gaussian(rng, (rows, shape.heads, ROPE_DIM), dtype),
        "key": key,
        "value": key,  # the same array, as engines pass it
        "key_rope": _pool(rng, shape, place, dtype, ROPE_DIM),
        "block_table": place.table,
        "actual_seq_lengths_query": np.arange(1, shape.batch + 1, dtype=np.int32)
        * np.int32(shape.query_tokens),
        "actual_seq_lengths_kv": np.full(shape.batch, shape.kv_tokens, np.int32),
        "sparse_indices": _lists(rng, shape),
        "scale_value": (HEAD_DIM + ROPE_DIM) ** -0.5,
        "layout_query": "TND",
        "layout_kv": PAGED_NAMES[FLASH_ATTENTION],
    }


def measure_work(shape: Shape, arguments: Mapping[str, Any]) -> Work:
    """Operations on attended keys only, and bytes of every attended key once."""
    operator = operator_of(shape)
    pairs, distinct = 0, 0
    seen: dict[int, list[tuple[Array, ...]]] = {}
    for row in operator.call(**arguments).attended_rows():
        pairs += sum(map(len, row.keys))
        seen.setdefault(row.request, []).append(row.keys)
    for rows in seen.values():
        distinct += sum(np.unique(np.concatenate(part)).size for part in zip(*rows, strict=True))
    query = arguments[operator.query]
    kv_bytes = distinct * operator.bytes_per_key
    flop = pairs * shape.heads * operator.flop_per_key_and_head
    return Work(flop, kv_bytes, kv_bytes + 2 * query.size * BYTES_PER_ELEMENT)


def only_row(shape: Shape, arguments: Mapping[str, Any], row: int) -> Arguments:
    """A call of one query row that must answer what row ``row`` of the whole call does.

    The row becomes the newest token of its request.
    """
    request, token = divmod(row, shape.query_tokens)
    kv_tokens = shape.kv_tokens - shape.query_tokens + token + 1
    alone = dict(arguments)
    for name in ("q", "query", "query_rope", "cmp_sparse_indices", "sparse_indices"):
        if name in arguments:
            alone[name] = arguments[name][row : row + 1]
    for name in ("ori_block_table", "cmp_block_table", "block_table"):
        if name in arguments:
            alone[name] = arguments[name][request : request + 1]
    compressed, residual = divmod(kv_tokens, shape.cmp_ratio)
    lengths = {
        "cu_seqlens_q": [0, 1],
        "actual_seq_lengths_query": [1],
        "seqused_ori_kv": [kv_tokens],
        "seqused_kv": [kv_tokens],
        "actual_seq_lengths_kv": [kv_tokens],
        "seqused_cmp_kv": [compressed],
        "cmp_residual_kv": [residual],
    }
    changed = {name: value for name, value in lengths.items() if name in arguments}
    return alone | {name: np.array(value, np.int32) for name, value in changed.items()}


def _compressed(rng: np.random.Generator, shape: Shape, dtype: str) -> Arguments:
    tokens = shape.compressed_tokens
    place = _place(rng, shape, tokens, tokens)
    made: Arguments = {
        "cmp_kv": _pool(rng, shape, place, dtype),
        "cmp_block_table": place.table,
        "seqused_cmp_kv": np.full(shape.batch, tokens, np.int32),
        "cmp_residual_kv": np.full(shape.batch, shape.kv_tokens % shape.cmp_ratio, np.int32),
        "cmp_ratio": shape.cmp_ratio,
        "cmp_mask_mode": 3,
    }
    if shape.topk:
        made["cmp_sparse_indices"] = _lists(rng, shape)
    return made


class _Place(NamedTuple):
    """The number of pages of a pool, and the block table into it."""

    pages: int
    table: Array


def _place(rng: np.random.Generator, shape: Shape, tokens: int, last_tokens: int) -> _Place:
    """For the pages of the last ``last_tokens`` of every request."""
    pages = -(-tokens // shape.page_tokens)
    kept_pages = pages - (tokens - last_tokens) // shape.page_tokens
    pool_pages = 1 + shape.batch * kept_pages
    table = np.zeros((shape.batch, pages * shape.table_factor), np.int32)
    shuffled = 1 + rng.permutation(pool_pages - 1).astype(np.int32)
    table[:, pages - kept_pages : pages] = shuffled.reshape(shape.batch, kept_pages)
    return _Place(pool_pages, table)


def _pool(
    rng: np.random.Generator, shape: Shape, place: _Place, dtype: str, width: int = HEAD_DIM
) -> Array:
    spread = (place.pages, shape.page_tokens * shape.page_stride_factor, 1, width)
    return _gaussian(rng, spread, dtype)[:, : shape.page_tokens]


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
