# SPDX-License-Identifier: Apache-2.0
"""NumPy in float32: gather, widen, matmul, softmax, matmul."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..case_arrays import HEAD_DIM
from .peer_slabs import PeerInputs, Slab

Array = NDArray[Any]
Floats = NDArray[np.float32]


class NumpyPeer:
    """One loaded call; ``out`` (tokens, heads, 512) is what the last task wrote."""

    def __init__(self, inputs: PeerInputs) -> None:
        self._inputs = inputs
        self.out: Array = np.empty((*inputs.q.shape[:-1], HEAD_DIM), inputs.q.dtype)

    @staticmethod
    def describe() -> dict[str, str]:
        return {"version": np.__version__}

    def tasks(self) -> Mapping[str, Callable[[Slab], Callable[[], None]]]:
        """By name: from a slab to what computes it."""
        return {"numpy-float32": self._task}

    def output(self) -> Array:
        return self.out

    def _task(self, slab: Slab) -> Callable[[], None]:
        inputs, mask = self._inputs, slab.mask
        tokens = slice(slab.first, slab.past_last)
        q_shape = (slab.groups, -1, inputs.q.shape[-1])

        def run() -> None:
            keys = _widen(inputs.pool[slab.rows])
            queries = _widen(inputs.q[tokens]).reshape(q_shape)
            queries *= np.float32(inputs.scale)
            scores = queries @ keys.transpose(0, 2, 1)
            scores += mask
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            values = scores @ keys[..., :HEAD_DIM]
            values /= scores.sum(axis=-1, keepdims=True)
            self.out[tokens] = values.reshape(self.out[tokens].shape)

        return run


def _widen(values: Array) -> Floats:
    if values.dtype == np.float16:
        return values.astype(np.float32)
    # Faster than the conversion of the type: a bfloat16 is the upper half of a float32.
    widened: Floats = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return widened
