# SPDX-License-Identifier: Apache-2.0
"""SparseFlashAttention: attention over listed keys of 512 + 64 elements, V1 and V2."""

from typing import Any

from ._arrays import ArrayLike, as_arrays
from ._attributes import c_string, integers, real
from ._results import attention_output, is_on_device, kv_head_first, row_output, statistic
from ._stream import Stream
from ._two_phase import run

_UNLIMITED = 2**63 - 1


def sparse_flash_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike | None,
    sparse_indices: ArrayLike,
    scale_value: float,
    *,
    block_table: ArrayLike | None = None,
    actual_seq_lengths_query: ArrayLike | None = None,
    actual_seq_lengths_kv: ArrayLike | None = None,
    query_rope: ArrayLike | None = None,
    key_rope: ArrayLike | None = None,
    sinks: ArrayLike | None = None,
    sparse_block_size: int = 1,
    layout_query: str = "BSND",
    layout_kv: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _UNLIMITED,
    next_tokens: int = _UNLIMITED,
    attention_mode: int = 2,
    return_softmax_lse: bool = False,
    stream: Stream | None = None,
    out: ArrayLike | None = None,
    softmax_max_out: ArrayLike | None = None,
    softmax_sum_out: ArrayLike | None = None,
) -> tuple[Any, Any, Any]:
    """Attention output of every query row, and on request its softmax statistics.

    Each row attends to the blocks of `sparse_block_size` tokens that its list names and its
    position allows. Scores are taken over `query` and `query_rope` (512 + 64 elements), the result
    over the 512 elements of `value`. The headers aclnnop/aclnn_sparse_flash_attention.h and
    aclnnop/aclnn_sparse_flash_attention_v2.h say which tokens count and give every rule of shape,
    type and range, with its source; the library alone checks them. Nothing is planned before.

    Letters: B requests; S1, S2 query rows and tokens per request; T1, T2 the same packed; N1 query
    heads; K list lanes; P pages of `page` tokens; M pages per request.

    Tensors (int32 unless noted; bf16 is ml_dtypes.bfloat16):
        query                     BSND (B,S1,N1,512) or TND (T1,N1,512); float16 or bfloat16
        key                       BSND (B,S2,1,512), TND (T2,1,512) or PA_BSND (P,page,1,512)
        value                     as key; None: key
        sparse_indices            BSND (B,S1,1,K) or TND (T1,1,K): ids of blocks of the request, a
                                  negative one ends a list, one past the position is skipped
        block_table               (B,M) page ids, for PA_BSND
        actual_seq_lengths_query  (B): rows of each request for BSND, where None means S1; for TND
                                  running totals without a leading 0, required
        actual_seq_lengths_kv     (B): tokens of each request for BSND, where None means S2, and for
                                  PA_BSND, required; for TND running totals, required
        query_rope                query with 64 elements, required; key_rope: key with 64, required
        sinks                     (N1) float32 logit without a value; None: without

    Attributes:
        scale_value         finite factor of the scores, usually 1 / sqrt(192) or 1 / sqrt(576)
        sparse_block_size   1, 2, 4 .. 128 tokens, whatever `page` is
        layout_query        "BSND" or "TND"
        layout_kv           "PA_BSND", or as layout_query
        sparse_mode         0 all tokens, 3 causal
        pre_tokens, next_tokens   2**63 - 1
        attention_mode      2; published C definitions name 0 as their default
        return_softmax_lse  whether the statistics are computed

    Ours, not in the published function:
        stream                             queue of the call; None: Stream.current()
        out                                contiguous array like query to write; operand
                                           attention_out in refusals
        softmax_max_out, softmax_sum_out   contiguous arrays for the statistics to write

    Returns (out, softmax_max, softmax_sum):
        out          shape and dtype of query; rows without a key and rows of no request are 0
        softmax_max  float32, BSND (B,1,S1,N1) or TND (1,T1,N1): the largest scaled score or sink
        softmax_sum  alike: sum of exp(score - softmax_max) over keys and sink
    softmax_max + ln(softmax_sum) is the LSE that partial results over shards of the keys are merged
    by; rows without a key have 0 and 0, with sinks their sink and 1, rows of no request and rows
    before the first token 0 and 0. Both are the float32 scalar 0 when return_softmax_lse is False.
    Arrays that the caller gave come back as such; new ones are DeviceArrays when query is one, else
    NumPy arrays.

    With `sinks` aclnnSparseFlashAttentionV2 runs, else aclnnSparseFlashAttention.

    Waiting, errors and threads: as sparse_flash_mla, but that no code is 507018.
    """
    version = {} if sinks is None else {"sinks": sinks}
    inputs = as_arrays(
        query=query,
        key=key,
        value=value,
        sparse_indices=sparse_indices,
        block_table=block_table,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        query_rope=query_rope,
        key_rope=key_rope,
        **version,
    )
    attributes = (
        *real(scale_value=scale_value),
        *integers(sparse_block_size=sparse_block_size),
        c_string("layout_query", layout_query),
        c_string("layout_kv", layout_kv),
        *integers(
            sparse_mode=sparse_mode,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            attention_mode=attention_mode,
        ),
        bool(return_softmax_lse),
    )
    queries = inputs["query"]
    on_device = is_on_device([queries])
    shape = kv_head_first(queries) if return_softmax_lse else None
    outputs = {
        "attention_out": attention_output("attention_out", out, queries),
        "softmax_max": row_output("softmax_max", softmax_max_out, shape, on_device),
        "softmax_sum": row_output("softmax_sum", softmax_sum_out, shape, on_device),
    }
    api = "aclnnSparseFlashAttention" if sinks is None else "aclnnSparseFlashAttentionV2"
    run(api, inputs, attributes, outputs, stream)
    return (
        outputs["attention_out"],
        statistic(outputs["softmax_max"], return_softmax_lse),
        statistic(outputs["softmax_sum"], return_softmax_lse),
    )
