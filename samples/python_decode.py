# SPDX-License-Identifier: Apache-2.0
"""Decoding with a compressed cache and selected keys (CSA), everything in device memory.

Four requests of different length add one row each per step. A step plans once; all layers use the
plan. Nothing waits for the device until the results are read. Sizes are those of a model with 64
heads, a window of 128 tokens, compression by 4 and 512 selected keys.
"""

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import sfmla_ctypes as sfmla
from sample_reference import SCALE, attend, worst_error
from sfmla_ctypes import DeviceArray

LAYERS, STEPS, HEADS, TOPK, RATIO, PAGE, PAGES_PER_REQUEST = 2, 3, 64, 512, 4, 128, 32
FIRST_LENGTHS = np.array([1, 126, 1000, 4000], np.int32)
BATCH = len(FIRST_LENGTHS)
RULES = {  # what planning and attention must agree on
    "cmp_ratio": RATIO, "ori_mask_mode": 4, "cmp_mask_mode": 3, "ori_win_left": 127,
    "ori_win_right": 0, "layout_q": "TND", "layout_kv": "PA_BBND",
}  # fmt: skip
rng = np.random.default_rng(1)


def random_bf16(*shape: int) -> NDArray[ml_dtypes.bfloat16]:
    """Gaussian numbers; scores then spread around 1."""
    return rng.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16)


def select_keys(visible: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each request up to 512 of its visible compressed tokens, then -1."""
    lanes = np.full((BATCH, 1, TOPK), -1, np.int32)
    for row, count in enumerate(visible):
        chosen = rng.permutation(count)[:TOPK]
        lanes[row, 0, : len(chosen)] = chosen
    return lanes


def main() -> None:
    """Runs the steps and checks every request, head and layer of the last one."""
    tables = rng.permutation(BATCH * PAGES_PER_REQUEST).astype(np.int32).reshape(BATCH, -1)
    ori = random_bf16(LAYERS, BATCH * PAGES_PER_REQUEST, PAGE, 1, 512)
    cmp = random_bf16(LAYERS, BATCH * PAGES_PER_REQUEST, PAGE, 1, 512)
    q, sinks = random_bf16(BATCH, HEADS, 512), rng.standard_normal(HEADS, np.float32)

    to_device = DeviceArray.from_numpy
    ori_caches, cmp_caches = [to_device(a) for a in ori], [to_device(a) for a in cmp]
    q_device, sinks_device, table = to_device(q), to_device(sinks), to_device(tables)
    query_rows = to_device(np.arange(BATCH + 1, dtype=np.int32))
    with sfmla.Stream():
        for step in range(STEPS):
            lengths = FIRST_LENGTHS + np.int32(step)  # the row of this step included
            selected = select_keys(lengths // RATIO)
            tensors = {
                "cu_seqlens_q": query_rows, "seqused_ori_kv": to_device(lengths),
                "seqused_cmp_kv": to_device(lengths // RATIO),
                "cmp_residual_kv": to_device(lengths % RATIO),
            }  # fmt: skip
            plan = sfmla.sparse_flash_mla_metadata(
                HEADS, 1, 512, batch_size=BATCH, cmp_topk=TOPK, **tensors, **RULES
            )
            outputs = [
                sfmla.sparse_flash_mla(
                    q_device, ori_kv=ori_caches[layer], cmp_kv=cmp_caches[layer],
                    cmp_sparse_indices=to_device(selected), ori_block_table=table,
                    cmp_block_table=table, sinks=sinks_device, metadata=plan, softmax_scale=SCALE,
                    **tensors, **RULES,
                )[0]
                for layer in range(LAYERS)
            ]  # fmt: skip

    error = 0.0
    for layer in range(LAYERS):
        found = outputs[layer].numpy()
        for request in range(BATCH):
            tokens, lanes = lengths[request], selected[request, 0]
            window = ori[layer][tables[request]].reshape(-1, 512)[max(tokens - 128, 0) : tokens]
            chosen = cmp[layer][tables[request]].reshape(-1, 512)[lanes[lanes >= 0]]
            expected = attend(q[request], np.concatenate([window, chosen]), sinks)
            error = np.maximum(error, worst_error(found[request], expected))
    print(f"{STEPS} steps of {LAYERS} layers, largest error of a row and head: {error:.5f}")
    if not error < 0.01:
        raise SystemExit("the result is wrong")


if __name__ == "__main__":
    main()
