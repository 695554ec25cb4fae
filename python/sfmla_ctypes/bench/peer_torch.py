# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU: its fused attention and its matmul, in float32 and in 16 bits.

PyTorch is not needed to install or use this package; only a worker that measures it imports this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..case_arrays import HEAD_DIM
from .peer_slabs import PeerInputs, Slab

Array = NDArray[Any]
Tensor = Any

torch: Any = import_module("torch")
torch.set_grad_enabled(False)


class TorchPeer:
    """One loaded call; ``output`` (tokens, heads, 512) is what the last task wrote."""

    def __init__(self, inputs: PeerInputs) -> None:
        self._dtype_name = inputs.q.dtype.name
        self._dtype = getattr(torch, self._dtype_name)
        self._scale = inputs.scale
        self._q = self._tensor(inputs.q)
        self._pool = self._tensor(inputs.pool)
        self._out = torch.empty((*inputs.q.shape[:-1], HEAD_DIM), dtype=self._dtype)
        self._numpy_dtype = inputs.q.dtype

    @staticmethod
    def describe() -> dict[str, str]:
        capability = torch.backends.cpu.get_cpu_capability()
        return {"version": torch.__version__, "instruction_set": capability}

    def tasks(self) -> Mapping[str, Callable[[Slab], Callable[[], None]]]:
        """By name: from a slab to what computes it."""
        made = {}
        for name in ("float32", self._dtype_name):
            dtype = getattr(torch, name)
            made[f"torch-sdpa-{name}"] = self._binder(self._sdpa, dtype)
            made[f"torch-matmul-{name}"] = self._binder(self._matmul, dtype)
        return made

    def output(self) -> Array:
        flat: Array = self._out.view(torch.int16).numpy().view(self._numpy_dtype)
        return flat

    def _tensor(self, values: Array) -> Tensor:
        return torch.from_numpy(values.view(np.int16)).view(self._dtype)

    def _binder(self, attend: Callable[..., Tensor], dtype: Any) -> Callable[[Slab], Any]:
        def bind(slab: Slab) -> Callable[[], None]:
            rows = torch.from_numpy(slab.rows.ravel())
            mask = torch.from_numpy(slab.mask).to(dtype)
            q = self._q[slab.first : slab.past_last]
            out = self._out[slab.first : slab.past_last]
            key_shape = (*slab.rows.shape, q.shape[-1])

            def run() -> None:
                keys = self._pool.index_select(0, rows).view(key_shape).to(dtype)
                queries = q.reshape(slab.groups, -1, q.shape[-1]).to(dtype)
                out.copy_(attend(queries, keys, mask).reshape(out.shape))

            return run

        return bind

    def _sdpa(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        keys = keys.unsqueeze(1)
        attention = torch.nn.functional.scaled_dot_product_attention
        values = keys[..., :HEAD_DIM]
        return attention(
            queries.unsqueeze(1), keys, values, attn_mask=mask.unsqueeze(1), scale=self._scale
        )

    def _matmul(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        scores = torch.baddbmm(mask, queries, keys.transpose(1, 2), alpha=self._scale)
        return torch.bmm(torch.softmax(scores, dim=-1), keys[..., :HEAD_DIM])
