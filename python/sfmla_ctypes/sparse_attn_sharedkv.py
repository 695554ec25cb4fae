# SPDX-License-Identifier: Apache-2.0
"""SparseAttnSharedkv: a window and compressed keys, by original lengths alone."""

from typing import Any

from ._arrays import Array, ArrayLike, as_arrays
from ._attributes import c_string, integers, real
from ._shared_kv import attend
from ._stream import Stream

_API = "aclnnSparseAttnSharedkv"


def sparse_attn_sharedkv(
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
    seqused_kv: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    metadata: ArrayLike | None = None,
    softmax_scale: float = 1.0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 4,
    cmp_mask_mode: int = 3,
    ori_win_left: int = 127,
    ori_win_right: int = 0,
    layout_q: str = "BSND",
    layout_kv: str = "PA_ND",
    return_softmax_lse: bool = False,
    ori_kv_stride: int = 0,
    cmp_kv_stride: int = 0,
    stream: Stream | None = None,
    out: ArrayLike | None = None,
    softmax_lse_out: ArrayLike | None = None,
) -> tuple[Any, Any]:
    """Attention output of every query row, and on request its log-sum-exp.

    The older name of what `sparse_flash_mla` does, for engines that call it: each row of `q`
    attends to a window of `ori_kv`, and with `cmp_kv` also to the compressed tokens whose
    `cmp_ratio` original ones are all at or before its position: to all of them, or to those that
    `cmp_sparse_indices` lists. One length per request, in original tokens, says both. A call gives
    the bits of the `sparse_flash_mla` call that it corresponds to. Every rule of shape, type and
    range, with its source: header aclnnop/aclnn_sparse_attn_sharedkv.h; the library alone checks
    them.

    Letters: B requests; S1, S2, S3 query, original and compressed tokens per request; T1, T2, T3
    the same packed; N1 query heads; K list lanes; P pages of `page` tokens; M pages per request.

    Tensors (int32 unless noted; bf16 is ml_dtypes.bfloat16):
        q                   BSND (B,S1,N1,512) or TND (T1,N1,512); float16 or bfloat16
        ori_kv              PA_ND (P,page,1,512), BSND (B,S2,1,512) or TND (T2,1,512); as q
        cmp_kv              the same with S3, T3, its own P and page
        ori_sparse_indices  must be absent
        cmp_sparse_indices  BSND (B,S1,1,K) or TND (T1,1,K): ids of compressed tokens, a negative
                            one ends a list
        ori_block_table     (B,M) page ids, for PA_ND; cmp_block_table the same for cmp_kv
        cu_seqlens_q        (B+1) prefix sums of rows, for TND; cu_seqlens_ori_kv and
                            cu_seqlens_cmp_kv likewise of tokens
        seqused_q           (B) rows in use; seqused_kv (B) original tokens in use, for PA_ND
        sinks               (N1) float32 logit without a value, required
        metadata            (1024), required: from sparse_attn_sharedkv_metadata for the same call,
                            or any words that no planner of ours wrote, zeros included. It is a
                            hint: numbers do not depend on it

    Attributes:
        softmax_scale       finite factor of the scores, usually 1 / sqrt(512)
        cmp_ratio           1..128 original tokens per compressed one, usually 4 or 128
        ori_mask_mode       4; cmp_mask_mode 3
        ori_win_left        tokens before the position; ori_win_right tokens after it
        layout_q            "BSND" or "TND"; layout_kv "PA_ND", "BSND" or "TND"
        return_softmax_lse  whether the second result is computed

    Ours, not in the published function:
        ori_kv_stride       PA_ND: elements from one page to the next, 0 = as the array has them;
                            cmp_kv_stride the same for cmp_kv. Published in C only
        stream              queue of the call; None: Stream.current()
        out                 contiguous array like q to write; operand attn_out in refusals
        softmax_lse_out     contiguous array for the LSE to write; operand softmax_lse in refusals

    Returns (out, softmax_lse):
        out          shape and dtype of q; rows before the first token (more rows than tokens) and
                     rows of no request are 0
        softmax_lse  float32, BSND (B,S1,N1,1) or TND (T1,N1,1), natural log, sink included; the
                     float32 scalar 0 when return_softmax_lse is False
    Arrays that the caller gave come back as such; new ones are DeviceArrays when q is one, else
    NumPy arrays.

    Waiting, errors and threads: as sparse_flash_mla; metadata, out and softmax_lse_out have the
    refusals of a required array too. 507018 only for words that sparse_attn_sharedkv_metadata wrote
    for another call.
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
        seqused_kv=seqused_kv,
        sinks=sinks,
        metadata=metadata,
    )
    attributes = (
        *real(softmax_scale=softmax_scale),
        *integers(
            cmp_ratio=cmp_ratio,
            ori_mask_mode=ori_mask_mode,
            cmp_mask_mode=cmp_mask_mode,
            ori_kv_stride=ori_kv_stride,
            cmp_kv_stride=cmp_kv_stride,
            ori_win_left=ori_win_left,
            ori_win_right=ori_win_right,
        ),
        c_string("layout_q", layout_q),
        c_string("layout_kv", layout_kv),
        bool(return_softmax_lse),
    )
    lse_shape = _lse_shape(inputs["q"], return_softmax_lse)
    return attend(_API, inputs, attributes, lse_shape, (out, softmax_lse_out), stream)


def _lse_shape(query: Array | None, is_wanted: bool) -> tuple[int, ...]:
    """Without the flag an empty array: the operator's second output is not optional."""
    return (*query.shape[:-1], 1) if query is not None and is_wanted else (0,)
