# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMla: attention of many query heads over one shared, sparse key/value head."""

from typing import Any

from ._arrays import ArrayLike, as_arrays
from ._attributes import c_string, integers, real
from ._results import kv_head_first
from ._shared_kv import attend
from ._stream import Stream

_API = "aclnnSparseFlashMla"


def sparse_flash_mla(
    q: ArrayLike,
    *,
    ori_kv: ArrayLike | None = None,
    cmp_kv: ArrayLike | None = None,
    ori_sparse_indices: ArrayLike | None = None,
    cmp_sparse_indices: ArrayLike | None = None,
    ori_block_table: ArrayLike | None = None,
    cmp_block_table: ArrayLike | None = None,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_ori_kv: ArrayLike | None = None,
    cu_seqlens_cmp_kv: ArrayLike | None = None,
    seqused_q: ArrayLike | None = None,
    seqused_ori_kv: ArrayLike | None = None,
    seqused_cmp_kv: ArrayLike | None = None,
    cmp_residual_kv: ArrayLike | None = None,
    ori_topk_length: ArrayLike | None = None,
    cmp_topk_length: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    metadata: ArrayLike | None = None,
    softmax_scale: float = 1.0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 0,
    cmp_mask_mode: int = 0,
    ori_win_left: int = -1,
    ori_win_right: int = -1,
    layout_q: str = "BSND",
    layout_kv: str = "BSND",
    topk_value_mode: int = 1,
    return_softmax_lse: bool = False,
    stream: Stream | None = None,
    out: ArrayLike | None = None,
    softmax_lse_out: ArrayLike | None = None,
) -> tuple[Any, Any]:
    """Attention output of every query row, and on request its log-sum-exp.

    Each row of `q` attends to a window of the original cache `ori_kv`, to all or to listed tokens
    of the compressed cache `cmp_kv`, or to both; a token serves as key and as value. The header
    aclnnop/aclnn_sparse_flash_mla.h says which tokens count and gives every rule of shape, type and
    range, with its source; the library alone checks them. The argument names are those of the
    published torch function.

    Letters: B requests; S1, S2, S3 query, original and compressed tokens per request; T1, T2, T3
    the same packed; N1 query heads; K1, K2 list lanes; P pages of `page` tokens; M pages per
    request.

    Tensors (int32 unless noted; bf16 is ml_dtypes.bfloat16):
        q                   BSND (B,S1,N1,512) or TND (T1,N1,512); float16 or bfloat16
        ori_kv              BSND (B,S2,1,512), TND (T2,1,512) or PA_BBND (P,page,1,512); as q
        cmp_kv              the same with S3, T3, its own P and page; its presence selects the mode
        ori_sparse_indices  BSND (B,S1,1,K1) or TND (T1,1,K1): token ids, a negative one ends a list
        cmp_sparse_indices  the same with K2, ids of compressed tokens
        ori_block_table     (B,M) page ids, for PA_BBND; cmp_block_table the same for cmp_kv
        cu_seqlens_q        (B+1) prefix sums of rows, for TND; cu_seqlens_ori_kv and
                            cu_seqlens_cmp_kv likewise of tokens
        seqused_q           (B) rows in use; seqused_ori_kv, seqused_cmp_kv (B) tokens in use
        cmp_residual_kv     (B) original tokens behind the last compressed one
        ori_topk_length     BSND (B,S1,1) or TND (T1,1) lanes in use; cmp_topk_length likewise
        sinks               (N1) float32 logit without a value, required
        metadata            (1024) from sparse_flash_mla_metadata for the same call, required

    Attributes:
        softmax_scale       finite factor of the scores, usually 1 / sqrt(512)
        cmp_ratio           1..128 original tokens per compressed one
        ori_mask_mode       0 all, 3 causal, 4 window around the row's position
        cmp_mask_mode       0 all, 3 causal in units of cmp_ratio
        ori_win_left        tokens before the position, -1 = unlimited; ori_win_right after it
        layout_q            "BSND" or "TND"; layout_kv "BSND", "TND" or "PA_BBND"
        topk_value_mode     1
        return_softmax_lse  whether the second result is computed
    The default masks are 0 in this function and in sparse_flash_mla_metadata, so that two defaulted
    calls agree; published pages name 4 and 3 in one place and 0 in another.

    Ours, not in the published function:
        stream              queue of the call; None: Stream.current()
        out                 contiguous array like q to write; operand attn_out in refusals
        softmax_lse_out     contiguous array for the LSE to write; operand softmax_lse in refusals

    Returns (out, softmax_lse):
        out          shape and dtype of q; rows without a key and rows of no request are 0
        softmax_lse  float32, BSND (B,1,S1,N1) or TND (1,T1,N1), natural log, sink included; the
                     float32 scalar 0 when return_softmax_lse is False
    Arrays that the caller gave come back as such; new ones are DeviceArrays when q is one, else
    NumPy arrays.

    Waiting: with DeviceArrays only, the call queues its work and returns; reading a result waits
    for it. With any NumPy, DLPack or array-interface argument it returns when the work is done.
    Their memory is used in place, strides as they are; do not change it meanwhile.

    Errors: AclParamError, a ValueError with .code 161001 (required array missing) or 161002 (any
    other refusal, a read-only output included), whose text names operand, found and allowed.
    AclDeviceError from this call or, for DeviceArrays, from the next wait: 507015 bad values in
    lengths or block tables, 507018 metadata of another call. TypeError for an argument that is no
    array or no integer, OverflowError for a number that does not fit in 64 bits.

    May be called from many threads at once; the GIL is released while the library works.
    """
    inputs = as_arrays(
        q=q,
        ori_kv=ori_kv,
        cmp_kv=cmp_kv,
        ori_sparse_indices=ori_sparse_indices,
        cmp_sparse_indices=cmp_sparse_indices,
        ori_block_table=ori_block_table,
        cmp_block_table=cmp_block_table,
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_q=seqused_q,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
        ori_topk_length=ori_topk_length,
        cmp_topk_length=cmp_topk_length,
        sinks=sinks,
        metadata=metadata,
    )
    attributes = (
        *real(softmax_scale=softmax_scale),
        *integers(
            cmp_ratio=cmp_ratio,
            ori_mask_mode=ori_mask_mode,
            cmp_mask_mode=cmp_mask_mode,
            ori_win_left=ori_win_left,
            ori_win_right=ori_win_right,
        ),
        c_string("layout_q", layout_q),
        c_string("layout_kv", layout_kv),
        *integers(topk_value_mode=topk_value_mode),
        bool(return_softmax_lse),
    )
    lse_shape = kv_head_first(inputs["q"]) if return_softmax_lse else None
    return attend(_API, inputs, attributes, lse_shape, (out, softmax_lse_out), stream)
