# SPDX-License-Identifier: Apache-2.0
"""A decode step of DeepSeek-V3.2: each new row attends to the 2048 tokens that an indexer chose.

Keys have 512 latent and 64 rotary elements in two paged caches; the latent ones are the values too.
Four requests verify one draft token each, so each has two new rows. Lists name token positions of
the request and end at -1; a row with no more than 2048 tokens before it attends to all of them.
Nothing is planned, and nothing waits for the device until the results are read. Sizes are those of
one of eight processors that share the model's 128 heads.
"""

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import sfmla_ctypes as sfmla
from sample_reference import attend, worst_error
from sfmla_ctypes import DeviceArray

LAYERS, HEADS, LATENT, ROPE, TOPK, PAGE, PAGES_PER_REQUEST = 2, 16, 512, 64, 2048, 128, 48
LENGTHS = np.array([2, 700, 2049, 6000], np.int32)  # the new rows included
ROWS = 2  # per request
BATCH = len(LENGTHS)
SCALE = (128 + ROPE) ** -0.5  # of the heads before the latent projection
rng = np.random.default_rng(4)


def random_bf16(*shape: int, spread: float = 1.0) -> NDArray[ml_dtypes.bfloat16]:
    """Gaussian numbers."""
    return (spread * rng.standard_normal(shape, np.float32)).astype(ml_dtypes.bfloat16)


def choose_tokens() -> NDArray[np.int32]:
    """What an indexer gives: for each row the tokens of highest score, best first, then -1."""
    lists = np.full((BATCH * ROWS, 1, TOPK), -1, np.int32)
    for row, (request, token) in enumerate(np.ndindex(BATCH, ROWS)):
        visible = LENGTHS[request] - ROWS + token + 1
        best = np.argsort(-rng.standard_normal(visible))[:TOPK]
        lists[row, 0, : len(best)] = best
    return lists


def main() -> None:
    """Runs the layers and checks every row, head and layer."""
    tables = rng.permutation(BATCH * PAGES_PER_REQUEST).astype(np.int32).reshape(BATCH, -1)
    pool = (LAYERS, BATCH * PAGES_PER_REQUEST, PAGE, 1)
    latent, rope = random_bf16(*pool, LATENT), random_bf16(*pool, ROPE)
    query = random_bf16(BATCH * ROWS, HEADS, LATENT, spread=0.5)
    query_rope = random_bf16(BATCH * ROWS, HEADS, ROPE, spread=0.5)

    to_device = DeviceArray.from_numpy
    latent_caches, rope_caches = [to_device(a) for a in latent], [to_device(a) for a in rope]
    lists = [choose_tokens() for _ in range(LAYERS)]
    step = {
        "query_rope": to_device(query_rope), "block_table": to_device(tables),
        # Running totals of rows without a leading 0; lengths, not totals, for paged caches.
        "actual_seq_lengths_query": to_device(np.arange(1, BATCH + 1, dtype=np.int32) * ROWS),
        "actual_seq_lengths_kv": to_device(LENGTHS),
        "layout_query": "TND", "layout_kv": "PA_BSND", "sparse_mode": 3,
    }  # fmt: skip
    query_device = to_device(query)
    with sfmla.Stream():
        outputs = [
            sfmla.sparse_flash_attention(
                query_device, latent_caches[layer], latent_caches[layer], to_device(lists[layer]),
                SCALE, key_rope=rope_caches[layer], **step,
            )[0]
            for layer in range(LAYERS)
        ]  # fmt: skip

    error = 0.0
    queries = np.concatenate([query, query_rope], axis=-1)
    for layer in range(LAYERS):
        found = outputs[layer].numpy()
        keys = np.concatenate([latent[layer], rope[layer]], axis=-1)
        for row in range(BATCH * ROWS):
            tokens = keys[tables[row // ROWS]].reshape(-1, LATENT + ROPE)
            chosen = tokens[lists[layer][row, 0][lists[layer][row, 0] >= 0]]
            expected = attend(queries[row], chosen, values=chosen[:, :LATENT], scale=SCALE)
            error = np.maximum(error, worst_error(found[row], expected))
    print(f"{LAYERS} layers, {BATCH * ROWS} rows, largest error of a row and head: {error:.5f}")
    if not error < 0.01:
        raise SystemExit("the result is wrong")


if __name__ == "__main__":
    main()
