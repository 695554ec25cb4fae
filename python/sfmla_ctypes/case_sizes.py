# SPDX-License-Identifier: Apache-2.0
"""How many bytes the arrays of a case take, known without making anything that long."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .case_arrays import HEAD_DIM, ROPE_DIM
from .cases import FLASH_ATTENTION, CaseSpec, batch_of

INTEGER_BYTES = 4  # of lengths, tables and lists
ELEMENT_BYTES = 2  # of queries and caches

# How many requests have so many query tokens and KV tokens.
Requests = Mapping[tuple[int, int], int]


def requests_of(
    spec: CaseSpec,
    batch: int | None = None,
    query_tokens: Sequence[int] | None = None,
    kv_tokens: Sequence[int] | None = None,
) -> Requests:
    """The requests that ``cases.resize`` makes; they repeat, so that few are looked at."""
    count = batch_of(spec, batch, query_tokens, kv_tokens)
    rows, tokens = query_tokens or spec.query_tokens, kv_tokens or spec.kv_tokens
    period = min(count, math.lcm(len(rows), len(tokens)))
    found: Counter[tuple[int, int]] = Counter()
    for index in range(period):
        request = rows[index % len(rows)], tokens[index % len(tokens)]
        found[request] += (count - index - 1) // period + 1
    return found


def array_bytes(spec: CaseSpec, requests: Requests) -> int:
    """Of all arrays that ``cases.build_case`` makes of a spec with these requests."""
    rows = _rows(spec, requests)
    is_flash = spec.function == FLASH_ATTENTION
    width = ELEMENT_BYTES * (HEAD_DIM + (ROPE_DIM if is_flash else 0))
    total = rows * spec.heads * width
    ratios = (1, spec.compression) if spec.has_compressed else (1,)
    for ratio in ratios:
        cached = Counter[int]()
        for (_, tokens), count in requests.items():
            cached[tokens // ratio] += count
        total += _cache_bytes(spec, cached, width)
    lists = spec.rules.lists_original + spec.rules.lists_compressed
    integers = lists * rows * spec.topk
    if spec.rules.lists_original and not is_flash:
        integers += rows  # the lengths of the lists
    if not is_flash:
        integers += spec.heads  # sinks, of the same size
    return total + INTEGER_BYTES * (integers + _lengths(spec, requests, len(ratios)))


def _rows(spec: CaseSpec, requests: Requests) -> int:
    if spec.layout_q == "TND":
        return sum(rows * count for (rows, _), count in requests.items())
    return sum(requests.values()) * max(rows for rows, _ in requests)


def _cache_bytes(spec: CaseSpec, requests: Mapping[int, int], width: int) -> int:
    """Of one cache and its block table, as ``CaseArrays.place`` lays it out; requests by tokens."""
    batch = sum(requests.values())
    if spec.layout_kv == "TND":
        return max(1, sum(tokens * count for tokens, count in requests.items())) * width
    if spec.layout_kv == "BSND":
        return batch * max(1, *requests) * width
    pages = {tokens: -(-tokens // spec.page_tokens) for tokens in requests}
    used = sum(pages[tokens] * count for tokens, count in requests.items())
    pool_pages = used + 1 + used // 16
    table = batch * max(1, *pages.values())
    return pool_pages * spec.page_tokens * width + table * INTEGER_BYTES


def _lengths(spec: CaseSpec, requests: Requests, caches: int) -> int:
    """Integers in the arrays of lengths."""
    batch = sum(requests.values())
    if spec.function == FLASH_ATTENTION:
        return 2 * batch
    total = caches * (batch + (spec.layout_kv == "TND"))
    if spec.layout_q == "TND":
        total += batch + 1
    elif len({rows for rows, _ in requests}) > 1:
        total += batch
    return total + (batch if spec.has_compressed and spec.compression != 1 else 0)
