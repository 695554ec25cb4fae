# SPDX-License-Identifier: Apache-2.0
"""What the Python samples share: attention of one row in float64, and the comparison with it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SCALE = 512**-0.5


def attend(q: ArrayLike, keys: ArrayLike, sinks: ArrayLike) -> NDArray[np.float64]:
    """Attention of q (heads, 512) over keys (n, 512), n >= 1, with one sink logit per head."""
    q, keys, sinks = (np.asarray(a, np.float64) for a in (q, keys, sinks))
    scores = SCALE * q @ keys.T
    peak = np.maximum(scores.max(axis=1), sinks)
    weights = np.exp(scores - peak[:, None])
    return weights @ keys / (weights.sum(axis=1) + np.exp(sinks - peak))[:, None]


def worst_error(found: ArrayLike, expected: NDArray[np.float64]) -> float:
    """Largest error of any row and head, relative to the length of its vector; NaN stays NaN."""
    error = np.linalg.norm(np.asarray(found, np.float64) - expected, axis=-1)
    return float(np.max(error / np.linalg.norm(expected, axis=-1)))
