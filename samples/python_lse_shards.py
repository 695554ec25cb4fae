# SPDX-License-Identifier: Apache-2.0
"""Context parallel over keys: the tokens of a request lie in shards, each shard attends to its own,
and the partial results are merged by their log-sum-exp into what one call gives.

A row's list names tokens of the whole request. A shard takes the entries that it holds, renumbers
them, moves them to the front and fills up with -1. `softmax_max + ln(softmax_sum)` of each shard is
the weight of its part; a shard without any entry for a row says sum 0, weight 0. A sink counts
once, so one shard gets it. mpi_lse_shards.py does the same on several processes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import sfmla_ctypes as sfmla
from sample_reference import worst_error

ROWS, HEADS, TOKENS, TOPK, SHARDS = 4, 16, 3000, 2048, 2
SCALE = (512 + 64) ** -0.5


@dataclass
class Problem:
    """One request. Packed axes: rows, tokens; one key/value head."""

    query: NDArray[np.float16]  # (rows, heads, 512)
    query_rope: NDArray[np.float16]  # (rows, heads, 64)
    key: NDArray[np.float16]  # (tokens, 1, 512), the value too
    key_rope: NDArray[np.float16]  # (tokens, 1, 64)
    lists: NDArray[np.int32]  # (rows, 1, topk), -1 filled
    sinks: NDArray[np.float32]  # (heads)


Part = tuple[NDArray[np.float64], NDArray[np.float64]]  # output and LSE per row and head


def build_problem() -> Problem:
    """Random numbers; row 0 lists tokens of the first half only, row 3 a single one."""
    rng = np.random.default_rng(5)

    def halves(*shape: int) -> NDArray[np.float16]:
        return rng.standard_normal(shape, np.float32).astype(np.float16)

    lists = np.stack([rng.permutation(TOKENS)[:TOPK] for _ in range(ROWS)]).astype(np.int32)
    lists[0, 1000:] = -1
    lists[0, :1000] = rng.permutation(TOKENS // SHARDS)[:1000]
    lists[3, 1:] = -1
    return Problem(
        query=halves(ROWS, HEADS, 512),
        query_rope=halves(ROWS, HEADS, 64),
        key=halves(TOKENS, 1, 512),
        key_rope=halves(TOKENS, 1, 64),
        lists=lists[:, None],
        sinks=rng.standard_normal(HEADS, np.float32),
    )


def local_lists(lists: NDArray[np.int32], first: int, end: int) -> NDArray[np.int32]:
    """The entries in [first, end) counted from `first`, compacted, -1 behind them."""
    found = np.full_like(lists, -1)
    for row, entries in enumerate(lists[:, 0]):
        own = entries[(entries >= first) & (entries < end)] - first
        found[row, 0, : len(own)] = own
    return found


def attend_shard(problem: Problem, first: int, end: int) -> Part:
    """Attention over the tokens [first, end) alone; the shard with token 0 has the sinks."""
    out, largest, total = sfmla.sparse_flash_attention(
        problem.query, problem.key[first:end], None,
        local_lists(problem.lists, first, end), SCALE,
        query_rope=problem.query_rope, key_rope=problem.key_rope[first:end],
        actual_seq_lengths_query=np.array([ROWS], np.int32),
        actual_seq_lengths_kv=np.array([end - first], np.int32),
        sinks=problem.sinks if first == 0 else None, layout_query="TND", layout_kv="TND",
        sparse_mode=0,  # a list holds what its row may see; positions in a shard say nothing
        return_softmax_lse=True,
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        lse = largest[0].astype(np.float64) + np.log(total[0])  # -inf without any entry
    return out.astype(np.float64), lse


def merge(parts: list[Part]) -> NDArray[np.float64]:
    """The parts of all shards, each weighted with its share of the softmax."""
    outs, lses = (np.stack(arrays) for arrays in zip(*parts, strict=True))
    peak = lses.max(axis=0)
    weights = np.exp(lses - peak)
    weights /= weights.sum(axis=0)
    return (weights[..., None] * outs).sum(axis=0)


def borders(shards: int) -> list[int]:
    """Shard r holds the tokens [borders[r], borders[r + 1])."""
    return [TOKENS * shard // shards for shard in range(shards + 1)]


def check(problem: Problem, parts: list[Part]) -> float:
    """Largest difference of the merged parts to one call, relative to a row and head."""
    whole, _ = attend_shard(problem, 0, TOKENS)
    return worst_error(merge(parts), whole)


def main() -> None:
    """Compares two merged shards with the whole."""
    problem, edges = build_problem(), borders(SHARDS)
    parts = [attend_shard(problem, edges[r], edges[r + 1]) for r in range(SHARDS)]
    empty = sum(int(np.isneginf(lse[:, 0]).sum()) for _, lse in parts)
    difference = check(problem, parts)
    print(f"{SHARDS} shards, {empty} rows without a key in one: difference {difference:.6f}")
    # Every part is rounded to 11 bits, and so is the whole.
    if empty == 0 or not difference < 0.001:
        raise SystemExit("the merged shards differ from the whole")


if __name__ == "__main__":
    main()
