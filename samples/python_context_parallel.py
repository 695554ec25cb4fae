# SPDX-License-Identifier: Apache-2.0
"""Context parallel: the rows of a batch are cut into parts, each part runs alone, the joined parts
equal the whole bit by bit.

The batch is two prompts of 16 and 18 tokens with selected compressed keys (CSA, compression by 4).
Two ranks take 24 and 10 rows: rank 0 all of prompt 0 and 8 rows of prompt 1, rank 1 the other 10.
A request of a part ends where its rows end, and so do its lengths: rank 0 has prefixes of 16 and 8
tokens, rank 1 one of 18 tokens, 2 of them behind the last group of 4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import sfmla_ctypes as sfmla
from sample_reference import SCALE

HEADS, RATIO, TOPK = 64, 4, 512
PROMPTS = (16, 18)


@dataclass
class Problem:
    """A batch of whole prompts. Packed rows: q and indices by row, one cache list per prompt."""

    q: NDArray[np.float16]  # (rows, heads, 512)
    indices: NDArray[np.int32]  # (rows, 1, topk), -1 filled
    ori: list[NDArray[np.float16]]  # per prompt (tokens, 1, 512)
    cmp: list[NDArray[np.float16]]  # per prompt (tokens // ratio, 1, 512)
    sinks: NDArray[np.float32]  # (heads)


def build_problem() -> Problem:
    """Random prompts; each row selects all compressed tokens it may see, in random order."""
    rng = np.random.default_rng(3)

    def halves(*shape: int) -> NDArray[np.float16]:
        return rng.standard_normal(shape, np.float32).astype(np.float16)

    indices = np.full((sum(PROMPTS), 1, TOPK), -1, np.int32)
    positions = np.concatenate([np.arange(tokens) for tokens in PROMPTS])
    for row, position in enumerate(positions):
        visible = (position + 1) // RATIO
        indices[row, 0, :visible] = rng.permutation(visible)
    return Problem(
        q=halves(sum(PROMPTS), HEADS, 512),
        indices=indices,
        ori=[halves(tokens, 1, 512) for tokens in PROMPTS],
        cmp=[halves(tokens // RATIO, 1, 512) for tokens in PROMPTS],
        sinks=rng.standard_normal(HEADS, np.float32),
    )


def attend_rows(problem: Problem, first: int, end: int) -> NDArray[np.float16]:
    """Attention output (end - first, heads, 512) of the packed rows [first, end) alone."""
    starts = np.cumsum((0, *PROMPTS))
    parts = [  # (prompt, rows of the part, tokens up to its last row)
        (i, min(end, starts[i + 1]) - max(first, starts[i]), min(end, starts[i + 1]) - starts[i])
        for i in range(len(PROMPTS))
        if max(first, starts[i]) < min(end, starts[i + 1])
    ]
    rows, tokens = (np.array([p[k] for p in parts], np.int32) for k in (1, 2))

    def prefix_sums(lengths: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)

    call = {
        "cu_seqlens_q": prefix_sums(rows), "cu_seqlens_ori_kv": prefix_sums(tokens),
        "cu_seqlens_cmp_kv": prefix_sums(tokens // RATIO), "cmp_residual_kv": tokens % RATIO,
        "cmp_ratio": RATIO, "ori_mask_mode": 4, "cmp_mask_mode": 3, "ori_win_left": 127,
        "ori_win_right": 0, "layout_q": "TND", "layout_kv": "TND",
    }  # fmt: skip
    plan = sfmla.sparse_flash_mla_metadata(
        HEADS, 1, 512, batch_size=len(parts), cmp_topk=TOPK, **call
    )
    return sfmla.sparse_flash_mla(
        problem.q[first:end],
        ori_kv=np.concatenate([problem.ori[i][:count] for i, _, count in parts]),
        cmp_kv=np.concatenate([problem.cmp[i][: count // RATIO] for i, _, count in parts]),
        cmp_sparse_indices=problem.indices[first:end],
        sinks=problem.sinks, metadata=plan, softmax_scale=SCALE, **call,
    )[0]  # fmt: skip


def main() -> None:
    """Compares the two parts with the whole."""
    problem = build_problem()
    whole = attend_rows(problem, 0, sum(PROMPTS))
    joined = np.concatenate([attend_rows(problem, 0, 24), attend_rows(problem, 24, 34)])
    if not np.array_equal(joined, whole):
        raise SystemExit("the joined parts differ from the whole")
    print(f"24 + 10 rows equal the {len(whole)} rows of one call, bit by bit")


if __name__ == "__main__":
    main()
