# SPDX-License-Identifier: Apache-2.0
"""A short list of combinations in which every pair of values of two axes occurs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def pairwise(axes: dict[str, list[Any]], seed: int) -> list[dict[str, Any]]:
    """Greedy cover: each combination is the best of 40 random ones. Same seed, same list."""
    rng = np.random.default_rng(seed)
    names = list(axes)
    missing = {
        (a, i, b, j)
        for a, b in itertools.combinations(names, 2)
        for i in range(len(axes[a]))
        for j in range(len(axes[b]))
    }

    def pairs(choice: dict[str, int]) -> set[tuple[str, int, str, int]]:
        return {(a, choice[a], b, choice[b]) for a, b in itertools.combinations(names, 2)}

    chosen = []
    while missing:
        a, i, b, j = min(missing)
        candidates = [
            {name: int(rng.integers(len(axes[name]))) for name in names} | {a: i, b: j}
            for _ in range(40)
        ]
        best = max(candidates, key=lambda choice: len(pairs(choice) & missing))
        missing -= pairs(best)
        chosen.append({name: axes[name][best[name]] for name in names})
    return chosen


def choices(axes: dict[str, list[Any]], seeds: int) -> list[dict[str, Any]]:
    """pairwise() once for each seed, numbered in "seed". An axis "a b" holds pairs for a and b."""
    found = []
    for seed in range(seeds):
        for number, combination in enumerate(pairwise(axes, seed)):
            choice: dict[str, Any] = {"seed": 100 * seed + number}
            for names, value in combination.items():
                parts = names.split()
                choice |= zip(parts, value if len(parts) > 1 else [value], strict=True)
            found.append(choice)
    return found
