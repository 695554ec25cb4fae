# SPDX-License-Identifier: Apache-2.0
"""SparseAttnSharedkvMetadata: plans a step of SparseAttnSharedkv over the cores of the device."""

from typing import Any

from ._arrays import ArrayLike, as_arrays
from ._attributes import integers
from ._shared_kv import plan
from ._stream import Stream

_API = "aclnnSparseAttnSharedkvMetadata"


def sparse_attn_sharedkv_metadata(
    num_heads_q: int,
    num_heads_kv: int,
    head_dim: int,
    *,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_ori_kv: ArrayLike | None = None,
    cu_seqlens_cmp_kv: ArrayLike | None = None,
    seqused_q: ArrayLike | None = None,
    seqused_kv: ArrayLike | None = None,
    batch_size: int = 0,
    max_seqlen_q: int = 0,
    max_seqlen_kv: int = 0,
    ori_topk: int = 0,
    cmp_topk: int = 0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 4,
    cmp_mask_mode: int = 3,
    ori_win_left: int = 127,
    ori_win_right: int = 0,
    layout_q: str = "BSND",
    layout_kv: str = "PA_ND",
    has_ori_kv: bool = True,
    has_cmp_kv: bool = True,
    stream: Stream | None = None,
    out: ArrayLike | None = None,
) -> Any:
    """The plan of one step: 1024 int32 words that every `sparse_attn_sharedkv` of it takes.

    Run once per step and kind of layer (window only, with a list, with all compressed tokens),
    share among all layers of the kind. The words hold which core does what, as published, and
    behind that a digest of the call. Rules, with their source: header
    aclnnop/aclnn_sparse_attn_sharedkv_metadata.h. Format of the words: docs/metadata_format.md.

    Tensors, int32, any strides (B requests); None and an array without elements both mean absent:
        cu_seqlens_q, cu_seqlens_ori_kv, cu_seqlens_cmp_kv   (B+1) prefix sums, for TND
        seqused_q, seqused_kv                                (B) rows, original tokens in use

    Attributes:
        num_heads_q, num_heads_kv, head_dim   1..128, 1, 512
        batch_size                            B where no tensor says it
        max_seqlen_q, max_seqlen_kv           rows, original tokens where no tensor gives them
        ori_topk                              not looked at
        cmp_topk                              lanes of cmp_sparse_indices, 0 = no list
        cmp_ratio, masks, windows, layouts    as in sparse_attn_sharedkv, same defaults; published
                                              pages name -1 for cmp_ratio here
        has_ori_kv                            not looked at
        has_cmp_kv                            taken as given: window-only callers pass False

    Ours, not in the published function:
        stream   queue of the call; None: Stream.current()
        out      (1024,) int32 array to write; operand metadata in refusals

    Returns, waits and raises as sparse_flash_mla_metadata.
    """
    inputs = as_arrays(
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_q=seqused_q,
        seqused_kv=seqused_kv,
    )
    layouts, parts = (layout_q, layout_kv), (has_ori_kv, has_cmp_kv)
    numbers = integers(
        num_heads_q=num_heads_q,
        num_heads_kv=num_heads_kv,
        head_dim=head_dim,
        batch_size=batch_size,
        max_seqlen_q=max_seqlen_q,
        max_seqlen_kv=max_seqlen_kv,
        ori_topk=ori_topk,
        cmp_topk=cmp_topk,
        cmp_ratio=cmp_ratio,
        ori_mask_mode=ori_mask_mode,
        cmp_mask_mode=cmp_mask_mode,
        ori_win_left=ori_win_left,
        ori_win_right=ori_win_right,
    )
    return plan(_API, inputs, numbers, layouts, parts, out, stream)
