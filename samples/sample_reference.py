# SPDX-License-Identifier: Apache-2.0
"""What the Python samples share: attention of one row in float64, and the comparison with it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SCALE = 512**-0.5


def attend(
    q: ArrayLike,
    keys: ArrayLike,
    sinks: ArrayLike | None = None,
    values: ArrayLike | None = None,
    scale: float = SCALE,
) -> NDArray[np.float64]:
    """Attention of q (heads, width) over keys (n, width), n >= 1, which are the values too unless
    those are given; with sinks one logit per head joins the softmax."""
    q, keys = np.asarray(q, np.float64), np.asarray(keys, np.float64)
    logits = -np.inf if sinks is None else np.asarray(sinks, np.float64)
    scores = scale * q @ keys.T
    peak = np.maximum(scores.max(axis=1), logits)
    weights = np.exp(scores - peak[:, None])
    weighted = weights @ (keys if values is None else np.asarray(values, np.float64))
    return weighted / (weights.sum(axis=1) + np.exp(logits - peak))[:, None]


def worst_error(found: ArrayLike, expected: NDArray[np.float64]) -> float:
    """Largest error of any row and head, relative to the length of its vector; NaN stays NaN."""
    error = np.linalg.norm(np.asarray(found, np.float64) - expected, axis=-1)
    return float(np.max(error / np.linalg.norm(expected, axis=-1)))
