# SPDX-License-Identifier: Apache-2.0
"""What the references share: lengths of a request, tokens of a cache, one row's softmax."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Keys = NDArray[np.int64]


class AttendedRow(NamedTuple):
    """A query row that is not padding and the tokens of its request that it attends to.

    A token that a list names twice appears twice: it counts twice in the softmax.
    """

    request: int
    position: tuple[int, ...]  # in the leading axes of the query: (batch, token) or (row,)
    keys: tuple[Keys, ...]  # of each cache, in the order of the operator's arguments


class Cache(NamedTuple):
    """A cache and what its tokens are found by: a block table, prefix sums, or neither."""

    tokens: Array
    block_table: Array | None = None
    first_tokens: Array | None = None


def drop_empty_arrays(call: Any, required: str) -> None:
    """In a frozen dataclass of arguments: an array without elements counts as absent."""
    for field in fields(call):
        value = getattr(call, field.name)
        if field.name != required and isinstance(value, np.ndarray) and value.size == 0:
            object.__setattr__(call, field.name, None)


def length(used: Array | None, cumulative: Array | None, index: int) -> int | None:
    """Tokens of one request: an explicit count, or the difference of two prefix sums."""
    if used is not None:
        return int(used[index])
    if cumulative is not None:
        return int(cumulative[index + 1]) - int(cumulative[index])
    return None


def until_negative(entries: Keys) -> Keys:
    """The entries of an index list before the first negative one."""
    negative = np.flatnonzero(entries < 0)
    return entries[: negative[0]] if negative.size else entries


def gather(cache: Cache, request: int, keys: Keys) -> Floats:
    """Tokens of one request in float64: (keys, width)."""
    if cache.block_table is not None:
        page_tokens = cache.tokens.shape[1]
        pages = cache.block_table[request, keys // page_tokens]
        vectors = cache.tokens[pages, keys % page_tokens, 0]
    elif cache.first_tokens is not None:
        vectors = cache.tokens[int(cache.first_tokens[request]) + keys, 0]
    else:
        vectors = cache.tokens[request, keys, 0]
    converted: Floats = vectors.astype(np.float64)
    return converted


def attend(
    queries: Floats, keys: Floats, values: Floats, sinks: Array | None, scale: float
) -> tuple[Floats, Floats, Floats]:
    """One row: queries (N1, D), keys (n, D), values (n, 512), n > 0.

    Output (N1, 512), the largest logit but an infinite sink, and the sum of weights relative to it.
    """
    scores = scale * (queries @ keys.T)
    logits = sink_logits(sinks, len(queries))
    peaks = np.maximum(scores.max(axis=1), np.where(np.isposinf(logits), -np.inf, logits))
    weights = np.exp(scores - peaks[:, np.newaxis])
    sums = weights.sum(axis=1) + np.exp(logits - peaks)
    return (weights @ values) / sums[:, np.newaxis], peaks, sums


def score_sizes(queries: Floats, keys: Floats, scale: float) -> Floats:
    """Per head, the largest sum over a key of |scale * query * key|; not finite ones left out.

    A score may be much smaller, when terms cancel; its float32 rounding error is not.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sizes: Floats = abs(scale) * (np.abs(queries) @ np.abs(keys).T)
    return np.asarray(sizes.max(axis=1, initial=0.0, where=np.isfinite(sizes)), np.float64)


def sink_logits(sinks: Array | None, heads: int) -> Floats:
    """One logit per head; minus infinity changes nothing."""
    return np.full(heads, -np.inf) if sinks is None else sinks.astype(np.float64)
