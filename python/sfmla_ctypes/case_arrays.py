# SPDX-License-Identifier: Apache-2.0
"""The arrays of realistic calls, drawn in a fixed order from one generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .cases import CaseSpec

Array = NDArray[Any]
Arguments = dict[str, Any]

HEAD_DIM = 512
ROPE_DIM = 64
DTYPES: Mapping[str, Any] = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
SELECTION_CHANGE = 0.25  # of a key's importance, from row to row
RANDOM_CHUNK_VALUES = 1 << 22  # bounds the float32 scratch of a pool of many gigabytes


class CachePlace(NamedTuple):
    """All axes of a cache but the last, and its block table if it is paged."""

    axes: tuple[int, ...]
    block_table: Array | None


class CaseArrays:
    """Draws the arrays of one spec; nothing here knows an operator."""

    def __init__(self, spec: CaseSpec) -> None:
        self.spec = spec
        self.rng = np.random.default_rng(spec.seed)

    def query(self, width: int = HEAD_DIM) -> Array:
        return self.gaussian((*self._query_axes(), self.spec.heads, width))

    def sinks(self) -> Array:
        return self.rng.standard_normal(self.spec.heads, dtype=np.float32)

    def place(self, tokens: tuple[int, ...]) -> CachePlace:
        """Of a cache of so many tokens; an empty one counts as absent, so one is the least."""
        if self.spec.layout_kv == "TND":
            return CachePlace((max(1, sum(tokens)), 1), None)
        if self.spec.layout_kv == "BSND":
            return CachePlace((self.spec.batch, max(1, *tokens), 1), None)
        pages = [-(-count // self.spec.page_tokens) for count in tokens]
        pool_pages = sum(pages) + 1 + sum(pages) // 16
        table = np.zeros((self.spec.batch, max(1, *pages)), np.int32)
        free_pages = self.rng.permutation(pool_pages).astype(np.int32)
        first = 0
        for row, count in zip(table, pages, strict=True):
            row[:count] = free_pages[first : first + count]
            first += count
        return CachePlace((pool_pages, self.spec.page_tokens, 1), table)

    def lists(self, ratio: int) -> tuple[Array, Array]:
        """Each row names distinct visible keys in no order of position, then -1; and how many."""
        indices = np.full((*self._query_axes(), 1, self.spec.topk), -1, np.int32)
        counts = np.zeros((*self._query_axes(), 1), np.int32)
        first_row = 0
        for request, rows in enumerate(self.spec.query_tokens):
            for token, chosen in enumerate(self._selections(request, ratio)):
                packed = self.spec.layout_q == "TND"
                position = (first_row + token,) if packed else (request, token)
                indices[position][0, : chosen.size] = chosen
                counts[position] = chosen.size
            first_row += rows
        return indices, counts

    def gaussian(self, shape: tuple[int, ...]) -> Array:
        made = np.empty(shape, DTYPES[self.spec.dtype])
        flat = made.reshape(-1)
        for first in range(0, flat.size, RANDOM_CHUNK_VALUES):
            part = flat[first : first + RANDOM_CHUNK_VALUES]
            part[:] = self.rng.standard_normal(part.size, dtype=np.float32)
        return made

    def _query_axes(self) -> tuple[int, ...]:
        if self.spec.layout_q == "TND":
            return (sum(self.spec.query_tokens),)
        return (self.spec.batch, max(self.spec.query_tokens))

    def _selections(self, request: int, ratio: int) -> Iterator[Array]:
        """Chosen keys of each row, best first: mostly the same ones from row to row."""
        rows, kv_tokens = self.spec.query_tokens[request], self.spec.kv_tokens[request]
        importance = self.rng.standard_normal(kv_tokens // ratio, dtype=np.float32)
        for token in range(rows):
            visible = (kv_tokens - rows + token + 1) // ratio
            change = self.rng.standard_normal(visible, dtype=np.float32)
            order = np.argsort(-(importance[:visible] + SELECTION_CHANGE * change))
            yield order[: self.spec.topk]


def build_sparse_flash_mla(spec: CaseSpec) -> Arguments:
    """The arguments of ``sparse_flash_mla``, without ``metadata``."""
    arrays = CaseArrays(spec)
    arguments: Arguments = {"q": arrays.query()}
    sides = {"ori": spec.kv_tokens}
    if spec.has_compressed:
        sides["cmp"] = tuple(tokens // spec.compression for tokens in spec.kv_tokens)
    for side, tokens in sides.items():
        place = arrays.place(tokens)
        arguments[f"{side}_kv"] = arrays.gaussian((*place.axes, HEAD_DIM))
        if place.block_table is not None:
            arguments[f"{side}_block_table"] = place.block_table
    arguments |= _lengths(spec, sides)
    if spec.rules.lists_original:
        arguments["ori_sparse_indices"], arguments["ori_topk_length"] = arrays.lists(1)
    if spec.rules.lists_compressed:
        arguments["cmp_sparse_indices"], _ = arrays.lists(spec.compression)
    arguments["sinks"] = arrays.sinks()
    return arguments


def build_sparse_flash_attention(spec: CaseSpec) -> Arguments:
    """The arguments of ``sparse_flash_attention``; the value is the key."""
    arrays = CaseArrays(spec)
    arguments = {"query": arrays.query(), "query_rope": arrays.query(ROPE_DIM)}
    place = arrays.place(spec.kv_tokens)
    arguments["key"] = arrays.gaussian((*place.axes, HEAD_DIM))
    arguments["key_rope"] = arrays.gaussian((*place.axes, ROPE_DIM))
    if place.block_table is not None:
        arguments["block_table"] = place.block_table
    rows, tokens = np.array(spec.query_tokens, np.int32), np.array(spec.kv_tokens, np.int32)
    packed_kv = spec.layout_kv == "TND"
    arguments["actual_seq_lengths_query"] = _running(rows) if spec.layout_q == "TND" else rows
    arguments["actual_seq_lengths_kv"] = _running(tokens) if packed_kv else tokens
    arguments["sparse_indices"], _ = arrays.lists(1)
    return arguments


def _lengths(spec: CaseSpec, sides: Mapping[str, tuple[int, ...]]) -> Arguments:
    made: Arguments = {}
    if spec.layout_q == "TND":
        made["cu_seqlens_q"] = _prefix_sums(spec.query_tokens)
    elif len(set(spec.query_tokens)) > 1:
        made["seqused_q"] = np.array(spec.query_tokens, np.int32)
    if spec.has_compressed and spec.compression != 1:
        made["cmp_residual_kv"] = np.array(spec.kv_tokens, np.int32) % spec.compression
    for side, tokens in sides.items():
        if spec.layout_kv == "TND":
            made[f"cu_seqlens_{side}_kv"] = _prefix_sums(tokens)
        else:
            made[f"seqused_{side}_kv"] = np.array(tokens, np.int32)
    return made


def _running(counts: Array) -> Array:
    return np.cumsum(counts).astype(np.int32)


def _prefix_sums(tokens: Sequence[int]) -> Array:
    return np.concatenate(([0], np.cumsum(tokens))).astype(np.int32)
