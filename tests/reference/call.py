# SPDX-License-Identifier: Apache-2.0
"""The arguments of one call of sparse_flash_mla, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# A NumPy array. Its own type says nothing about shapes and little about fancy indexing.
Array: TypeAlias = Any


@dataclass(frozen=True)
class Call:
    """Arguments of sparse_flash_mla; shapes and meaning as in its documentation."""

    q: Array
    ori_kv: Array
    cmp_kv: Array | None = None
    ori_sparse_indices: Array | None = None
    cmp_sparse_indices: Array | None = None
    ori_block_table: Array | None = None
    cmp_block_table: Array | None = None
    cu_seqlens_q: Array | None = None
    cu_seqlens_ori_kv: Array | None = None
    cu_seqlens_cmp_kv: Array | None = None
    seqused_q: Array | None = None
    seqused_ori_kv: Array | None = None
    seqused_cmp_kv: Array | None = None
    cmp_residual_kv: Array | None = None
    ori_topk_length: Array | None = None
    cmp_topk_length: Array | None = None
    sinks: Array | None = None
    softmax_scale: float = 1.0
    cmp_ratio: int = 1
    ori_mask_mode: int = 0
    cmp_mask_mode: int = 0
    ori_win_left: int = -1
    ori_win_right: int = -1
    layout_q: str = "BSND"
    layout_kv: str = "BSND"
    topk_value_mode: int = 1
    return_softmax_lse: bool = True


LENGTH_TENSORS = (
    "cu_seqlens_q",
    "cu_seqlens_ori_kv",
    "cu_seqlens_cmp_kv",
    "seqused_q",
    "seqused_ori_kv",
    "seqused_cmp_kv",
    "cmp_residual_kv",
    "ori_topk_length",
    "cmp_topk_length",
)
SHARED_ATTRIBUTES = (
    "cmp_ratio",
    "ori_mask_mode",
    "cmp_mask_mode",
    "ori_win_left",
    "ori_win_right",
    "layout_q",
    "layout_kv",
)


def given(tensor: Array | None) -> bool:
    """NULL and a tensor without elements both mean absent."""
    return tensor is not None and tensor.size > 0


def planning_arguments(call: Call) -> dict[str, Any]:
    """The arguments of sparse_flash_mla_metadata that describe the same call."""
    cu = call.cu_seqlens_q if given(call.cu_seqlens_q) else None

    def axis(kv: Array | None, table: Array | None) -> Any:
        if kv is None or call.layout_kv == "TND":
            return 0 if kv is None else len(kv)
        return kv.shape[1] * (table.shape[1] if table is not None and given(table) else 1)

    def width(indices: Array | None) -> int:
        return 0 if indices is None else indices.shape[-1]

    tensors_and_attributes = LENGTH_TENSORS + SHARED_ATTRIBUTES
    return {name: getattr(call, name) for name in tensors_and_attributes} | {
        "num_heads_q": call.q.shape[-2],
        "num_heads_kv": 1,
        "head_dim": call.q.shape[-1],
        "batch_size": len(call.q) if cu is None else len(cu) - 1,
        "max_seqlen_q": call.q.shape[1] if cu is None else len(call.q),
        "max_seqlen_ori_kv": axis(call.ori_kv, call.ori_block_table),
        "max_seqlen_cmp_kv": axis(call.cmp_kv, call.cmp_block_table) if given(call.cmp_kv) else 0,
        "ori_topk": width(call.ori_sparse_indices),
        "cmp_topk": width(call.cmp_sparse_indices),
        "has_ori_kv": True,
        "has_cmp_kv": given(call.cmp_kv),
    }
