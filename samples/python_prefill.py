# SPDX-License-Identifier: Apache-2.0
"""A prompt of 100 tokens through a layer with a heavily compressed cache (HCA), NumPy in and out.

Each row sees the 128 newest original tokens and every compressed token (128 original ones each)
that lies before it. The prompt follows 1000 tokens that are cached already.
"""

import numpy as np

import sfmla_ctypes as sfmla
from sample_reference import SCALE, attend, worst_error

HEADS, RATIO, CACHED, ROWS = 64, 128, 1000, 100
TOKENS = CACHED + ROWS


def main() -> None:
    """Runs the layer and checks every row and head."""
    rng = np.random.default_rng(2)
    q = rng.standard_normal((1, ROWS, HEADS, 512), np.float32).astype(np.float16)
    ori_kv = rng.standard_normal((1, TOKENS, 1, 512), np.float32).astype(np.float16)
    cmp_kv = rng.standard_normal((1, TOKENS // RATIO, 1, 512), np.float32).astype(np.float16)
    sinks = rng.standard_normal(HEADS, np.float32)
    rules = {
        "cmp_ratio": RATIO, "ori_mask_mode": 4, "cmp_mask_mode": 3, "ori_win_left": 127,
        "ori_win_right": 0, "layout_q": "BSND", "layout_kv": "BSND",
        "cmp_residual_kv": np.array([TOKENS % RATIO], np.int32),
    }  # fmt: skip

    plan = sfmla.sparse_flash_mla_metadata(
        HEADS, 1, 512, batch_size=1, max_seqlen_q=ROWS, max_seqlen_ori_kv=TOKENS,
        max_seqlen_cmp_kv=TOKENS // RATIO, **rules,
    )  # fmt: skip
    attn_out, softmax_lse = sfmla.sparse_flash_mla(
        q, ori_kv=ori_kv, cmp_kv=cmp_kv, sinks=sinks, metadata=plan, softmax_scale=SCALE,
        return_softmax_lse=True, **rules,
    )  # fmt: skip

    error = 0.0
    for row in range(ROWS):
        end = CACHED + row + 1
        keys = np.concatenate([ori_kv[0, end - 128 : end, 0], cmp_kv[0, : end // RATIO, 0]])
        error = np.maximum(error, worst_error(attn_out[0, row], attend(q[0, row], keys, sinks)))
    print(f"attn_out {attn_out.shape}, softmax_lse {softmax_lse.shape}")
    print(f"largest error of a row and head: {error:.5f}")
    if not error < 0.002:
        raise SystemExit("the result is wrong")


if __name__ == "__main__":
    main()
