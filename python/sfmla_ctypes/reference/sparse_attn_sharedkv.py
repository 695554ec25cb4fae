# SPDX-License-Identifier: Apache-2.0
"""SparseAttnSharedkv, by way of the SparseFlashMla call that it corresponds to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .rows import Array, AttendedRow, Cache, Floats, drop_empty_arrays, length
from .sparse_flash_mla import CAUSAL, WINDOW, Call, attention

SAME_NAMES = (
    "q",
    "cmp_sparse_indices",
    "ori_block_table",
    "cmp_block_table",
    "cu_seqlens_q",
    "cu_seqlens_ori_kv",
    "cu_seqlens_cmp_kv",
    "seqused_q",
    "sinks",
    "softmax_scale",
    "ori_mask_mode",
    "ori_win_left",
    "ori_win_right",
    "layout_q",
    "layout_kv",
)


class _CorrespondingCall(Call):
    rows_need_a_token: ClassVar[bool] = True
    any_residual: ClassVar[bool] = True


@dataclass(frozen=True)
class SharedKvCall:
    """The arguments of one call; names, order and defaults are those of the operator."""

    q: Array
    ori_kv: Array | None = None
    cmp_kv: Array | None = None
    ori_sparse_indices: Array | None = None
    cmp_sparse_indices: Array | None = None
    ori_block_table: Array | None = None
    cmp_block_table: Array | None = None
    cu_seqlens_q: Array | None = None
    cu_seqlens_ori_kv: Array | None = None
    cu_seqlens_cmp_kv: Array | None = None
    seqused_q: Array | None = None
    seqused_kv: Array | None = None
    sinks: Array | None = None
    metadata: Array | None = None
    softmax_scale: float = 1.0
    cmp_ratio: int = 1
    ori_mask_mode: int = WINDOW
    cmp_mask_mode: int = CAUSAL
    ori_win_left: int = 127
    ori_win_right: int = 0
    layout_q: str = "BSND"
    layout_kv: str = "PA_ND"
    return_softmax_lse: bool = False
    ori_kv_stride: int = 0
    cmp_kv_stride: int = 0

    def __post_init__(self) -> None:
        drop_empty_arrays(self, required="q")

    @property
    def mode(self) -> str:
        """SWA, HCA or CSA, as SparseFlashMla names them."""
        return self.as_sparse_flash_mla().mode

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The original cache and, if there is one, the compressed cache."""
        return self.as_sparse_flash_mla().caches

    def attended_rows(self) -> Iterator[AttendedRow]:
        """Every query token that is not padding, requests in order, with its keys."""
        return self.as_sparse_flash_mla().attended_rows()

    def original_tokens(self, request: int) -> int:
        """The length of a request that everything follows from."""
        assert self.ori_kv is not None
        sums = self.cu_seqlens_ori_kv if self.layout_kv == "TND" else None
        known = length(self.seqused_kv, sums, request)
        return int(self.ori_kv.shape[1]) if known is None else known

    def compressed_tokens(self, request: int, tokens: int) -> int:
        """A row for each complete group, as far as the request's part of the cache has room."""
        if self.cmp_kv is None:
            return 0
        sums = self.cu_seqlens_cmp_kv if self.layout_kv == "TND" else None
        room = length(None, sums, request)
        if room is None:
            pages = self.cmp_block_table if self.layout_kv.startswith("PA_") else None
            room = int(self.cmp_kv.shape[1] * (1 if pages is None else pages.shape[1]))
        return min(tokens // self.cmp_ratio, room)

    def as_sparse_flash_mla(self) -> Call:
        """The call with the same result, but that the axes of the LSE differ.

        Rows before the first token see nothing, while those of a plain SparseFlashMla call may see
        a right window.
        """
        packed = self.layout_q == "TND"
        batch = len(self.cu_seqlens_q) - 1 if packed and self.cu_seqlens_q is not None else None
        requests = range(len(self.q) if batch is None else batch)
        tokens = np.array([self.original_tokens(index) for index in requests], np.int32)
        compressed: dict[str, Any] = {}
        if self.cmp_kv is not None:
            groups = [self.compressed_tokens(index, int(tokens[index])) for index in requests]
            used = np.array(groups, np.int32)
            compressed = {
                "cmp_kv": self._strided(self.cmp_kv, self.cmp_kv_stride),
                "cmp_ratio": self.cmp_ratio,
                "cmp_mask_mode": self.cmp_mask_mode,
                "seqused_cmp_kv": used,
                "cmp_residual_kv": tokens - used * self.cmp_ratio,
            }
        assert self.ori_kv is not None
        return _CorrespondingCall(
            **{name: getattr(self, name) for name in SAME_NAMES},
            **compressed,
            ori_kv=self._strided(self.ori_kv, self.ori_kv_stride),
            seqused_ori_kv=tokens,
        )

    def _strided(self, pool: Array, stride: int) -> Array:
        """A page pool whose pages are so many elements apart."""
        if stride == 0 or not self.layout_kv.startswith("PA_"):
            return pool
        strides = (stride * pool.itemsize, *pool.strides[1:])
        return np.lib.stride_tricks.as_strided(pool, pool.shape, strides)


def sparse_attn_sharedkv(
    q: Array,
    *,
    progress: Callable[[int, int], None] | None = None,
    sizes: Floats | None = None,
    **arguments: Any,
) -> tuple[Floats, Floats]:
    """Attention output and log-sum-exp of a call, in float64.

    Arguments: those of ``sfmla_ctypes.sparse_attn_sharedkv`` by name (see ``SharedKvCall``), as
    NumPy arrays. ``progress`` and ``sizes`` as in the reference of SparseFlashMla.

    Returns attn_out with the shape of q, and softmax_lse with that shape but a last axis of 1:
    natural logarithm, sink included. Padded rows and rows without a key are 0 in both.
    """
    call = SharedKvCall(q, **arguments).as_sparse_flash_mla()
    attn_out, row_lse = attention(call, progress, sizes)
    return attn_out, row_lse[..., np.newaxis]
