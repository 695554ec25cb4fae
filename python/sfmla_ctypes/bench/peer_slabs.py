# SPDX-License-Identifier: Apache-2.0
"""What peers compute on: the call cut into slabs of query tokens, each with its own keys.

Peers are given for free what the operator finds out itself: one pool with the rows of all caches,
the rows of every token, and the masks. The sink is one more key, the zero row at the end of the
pool, with the logit in the mask: K = V = 0 there, so this is exact. Queries and keys with a rope
part are joined to 576 elements, of which the value is the first 512.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..case_arrays import Arguments
from ..reference import AnyCall, AttendedRow, Cache, FlashCall, Keys
from .workloads import Shape, operator_of

Array = NDArray[Any]

UNION_LIMIT = 2  # tokens share keys only while the union is at most so many times one token's


@dataclass(frozen=True)
class PeerInputs:
    """Arrays in 16 bits: q (tokens, heads, width), pool (rows, width) whose last row is zero."""

    q: Array
    pool: Array
    sinks: Array
    scale: float
    rows_of_token: tuple[Array, ...]  # into pool
    tokens_per_request: int

    @property
    def zero_row(self) -> int:
        return len(self.pool) - 1


@dataclass(frozen=True)
class Slab:
    """Tokens [first, past_last) as ``groups`` products of equal size.

    ``rows`` (groups, keys) are rows of the pool; ``mask`` (groups or 1, query rows, keys) is added
    to the scores. Query rows of a group: the heads of its tokens.
    """

    first: int
    past_last: int
    rows: Array
    mask: Array

    @property
    def groups(self) -> int:
        return len(self.rows)


Cut = Callable[[PeerInputs, int], Iterator[Slab]]


def peer_inputs(shape: Shape, arguments: Arguments) -> PeerInputs:
    """The arrays of a paged call as peers get them."""
    call = operator_of(shape).call(**arguments)
    if isinstance(call, FlashCall):
        q, scale = _joined(call.query, call.query_rope), call.scale_value
        pools = [_joined(call.key, call.key_rope)]
    else:
        q, scale = call.q, call.softmax_scale
        pools = [cache.tokens for cache in call.caches]
    flat = [pool.reshape(-1, q.shape[-1]) for pool in pools]
    first_rows = np.cumsum([0, *map(len, flat)])
    none = np.full(shape.heads, -np.inf, np.float32)
    return PeerInputs(
        q=q,
        pool=np.concatenate([*flat, np.zeros((1, q.shape[-1]), q.dtype)]),
        sinks=none if call.sinks is None else call.sinks,
        scale=scale,
        rows_of_token=tuple(_rows_of_token(call, row, first_rows) for row in call.attended_rows()),
        tokens_per_request=shape.query_tokens,
    )


def _joined(array: Array | None, rope: Array | None) -> Array:
    assert array is not None
    assert rope is not None
    return np.concatenate([array, rope], axis=-1)


def gathered(inputs: PeerInputs, tokens: int) -> Iterator[Slab]:
    """Every token has its own copy of its keys: a batch of small products."""
    for first in range(0, len(inputs.q), tokens):
        rows = inputs.rows_of_token[first : first + tokens]
        yield _gathered_slab(inputs, first, rows)


def shared(inputs: PeerInputs, tokens: int) -> Iterator[Slab]:
    """Neighbouring tokens of a request share the union of their keys: one product and a mask."""
    for start in range(0, len(inputs.q), inputs.tokens_per_request):
        end = start + inputs.tokens_per_request
        for first in range(start, end, tokens):
            yield _shared_slab(
                inputs, first, inputs.rows_of_token[first : min(end, first + tokens)]
            )


def is_worth_sharing(inputs: PeerInputs, tokens: int) -> bool:
    """Whether ``shared`` would not drown in keys that most of its tokens do not attend to."""
    if inputs.tokens_per_request < tokens:
        return False
    rows = inputs.rows_of_token[-tokens:]
    return np.unique(np.concatenate(rows)).size <= UNION_LIMIT * max(map(len, rows))


def _rows_of_token(call: AnyCall, row: AttendedRow, first_rows: Array) -> Array:
    parts = zip(call.caches, row.keys, first_rows[:-1], strict=True)
    return np.concatenate(
        [first + _pool_rows(cache, keys, row.request) for cache, keys, first in parts]
    )


def _pool_rows(cache: Cache, keys: Keys, request: int) -> Array:
    assert cache.block_table is not None
    page_tokens = cache.tokens.shape[1]
    pages = cache.block_table[request, keys // page_tokens].astype(np.int64)
    rows: Array = pages * page_tokens + keys % page_tokens
    return rows


def _gathered_slab(inputs: PeerInputs, first: int, rows_of_token: Sequence[Array]) -> Slab:
    keys = max(map(len, rows_of_token))
    rows = np.full((len(rows_of_token), 1 + keys), inputs.zero_row, np.int64)
    is_ragged = any(len(token_rows) < keys for token_rows in rows_of_token)
    groups = len(rows_of_token) if is_ragged else 1
    mask = np.zeros((groups, len(inputs.sinks), 1 + keys), np.float32)
    mask[:, :, 0] = inputs.sinks
    for index, token_rows in enumerate(rows_of_token):
        rows[index, 1 : 1 + len(token_rows)] = token_rows
        if is_ragged:
            mask[index, :, 1 + len(token_rows) :] = -np.inf
    return Slab(first, first + len(rows_of_token), rows, mask)


def _shared_slab(inputs: PeerInputs, first: int, rows_of_token: Sequence[Array]) -> Slab:
    union = np.unique(np.concatenate(rows_of_token))
    mask = np.full((len(rows_of_token), len(inputs.sinks), 1 + union.size), -np.inf, np.float32)
    mask[:, :, 0] = inputs.sinks
    for token_mask, token_rows in zip(mask, rows_of_token, strict=True):
        token_mask[:, 1 + np.searchsorted(union, token_rows)] = 0
    rows = np.concatenate([[inputs.zero_row], union])[np.newaxis]
    return Slab(first, first + len(rows_of_token), rows, mask.reshape(1, -1, rows.shape[1]))
