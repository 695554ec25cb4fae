# SPDX-License-Identifier: Apache-2.0
"""SparseFlashMlaMetadata: plans a step of SparseFlashMla over the cores of the device."""

from typing import Any

from ._arrays import ArrayLike, as_arrays
from ._attributes import integers
from ._shared_kv import plan
from ._stream import Stream

_API = "aclnnSparseFlashMlaMetadata"


def sparse_flash_mla_metadata(
    num_heads_q: int,
    num_heads_kv: int,
    head_dim: int,
    *,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_ori_kv: ArrayLike | None = None,
    cu_seqlens_cmp_kv: ArrayLike | None = None,
    seqused_q: ArrayLike | None = None,
    seqused_ori_kv: ArrayLike | None = None,
    seqused_cmp_kv: ArrayLike | None = None,
    cmp_residual_kv: ArrayLike | None = None,
    ori_topk_length: ArrayLike | None = None,
    cmp_topk_length: ArrayLike | None = None,
    batch_size: int = 0,
    max_seqlen_q: int = 0,
    max_seqlen_ori_kv: int = 0,
    max_seqlen_cmp_kv: int = 0,
    ori_topk: int = 0,
    cmp_topk: int = 0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 0,
    cmp_mask_mode: int = 0,
    ori_win_left: int = -1,
    ori_win_right: int = -1,
    layout_q: str = "BSND",
    layout_kv: str = "BSND",
    has_ori_kv: bool = True,
    has_cmp_kv: bool = True,
    stream: Stream | None = None,
    out: ArrayLike | None = None,
) -> Any:
    """The plan of one step: 1024 int32 words that every `sparse_flash_mla` of the step takes.

    Run once per step and kind of layer (window only, CSA, HCA), share among all layers of the kind.
    The words hold which core does what and a digest of the call; `sparse_flash_mla` refuses words
    of another call (507018) and says what differs. Rules, with their source: header
    aclnnop/aclnn_sparse_flash_mla_metadata.h. Format of the words: docs/metadata_format.md.

    Tensors, int32, any strides (B requests, S1 and T1 query rows per request and in total):
        cu_seqlens_q, cu_seqlens_ori_kv, cu_seqlens_cmp_kv   (B+1) prefix sums, for TND
        seqused_q, seqused_ori_kv, seqused_cmp_kv            (B) rows and tokens in use
        cmp_residual_kv                                      (B) tokens behind the last compressed
        ori_topk_length, cmp_topk_length                     BSND (B,S1,1) or TND (T1,1) used lanes

    Attributes:
        num_heads_q, num_heads_kv, head_dim   1..128, 1, 512
        batch_size                            B, 0 = taken from the tensors
        max_seqlen_q, _ori_kv, _cmp_kv        rows, tokens: the length where no tensor gives it
        ori_topk, cmp_topk                    lanes of the index lists, 0 = no list
        cmp_ratio, masks, windows, layouts    as in sparse_flash_mla, same defaults
        has_ori_kv, has_cmp_kv                taken as given: window-only callers pass
                                              has_cmp_kv=False

    Ours, not in the published function:
        stream   queue of the call; None: Stream.current()
        out      (1024,) int32 array to write; operand metadata in refusals

    Returns (1024,) int32: `out`, or a new array: a DeviceArray when arrays are given and all are
    DeviceArrays, without a host wait; else a NumPy array, ready. Uses the core limits of
    Device.set_core_limits.

    Errors: AclParamError (ValueError), .code 161002, text with operand, found and allowed.
    AclDeviceError 507018 for bad values in length tensors, from this call or, for DeviceArrays,
    from the next wait. TypeError for an argument that is no array or no integer,
    OverflowError for an integer that does not fit in 64 bits.
    """
    inputs = as_arrays(
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_q=seqused_q,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
        ori_topk_length=ori_topk_length,
        cmp_topk_length=cmp_topk_length,
    )
    layouts, parts = (layout_q, layout_kv), (has_ori_kv, has_cmp_kv)
    numbers = integers(
        num_heads_q=num_heads_q,
        num_heads_kv=num_heads_kv,
        head_dim=head_dim,
        batch_size=batch_size,
        max_seqlen_q=max_seqlen_q,
        max_seqlen_ori_kv=max_seqlen_ori_kv,
        max_seqlen_cmp_kv=max_seqlen_cmp_kv,
        ori_topk=ori_topk,
        cmp_topk=cmp_topk,
        cmp_ratio=cmp_ratio,
        ori_mask_mode=ori_mask_mode,
        cmp_mask_mode=cmp_mask_mode,
        ori_win_left=ori_win_left,
        ori_win_right=ori_win_right,
    )
    return plan(_API, inputs, numbers, layouts, parts, out, stream)
