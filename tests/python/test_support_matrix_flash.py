# SPDX-License-Identifier: Apache-2.0
"""README's support matrix of SparseFlashAttention; the other tests have those of its sisters."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_support_matrix import PRODUCTS, accept_all, check_column, is_accepted, table

import sfmla_ctypes as sfmla

PAIRS = (("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BSND"), ("TND", "PA_BSND"))


def call(
    *, heads: int = 64, lanes: int = 8, page: int = 128, tokens: int = 256, gap: int = 0,
    layout_query: str = "TND", layout_kv: str = "PA_BSND", dtype: Any = np.float16, **changes: Any,
) -> dict[str, Any]:  # fmt: skip
    """Arguments of a call that every product accepts, with changes."""
    rows = (2,) if layout_query == "TND" else (1, 2)
    axes = {"BSND": (1, tokens), "TND": (tokens,), "PA_BSND": (4, page)}[layout_kv]
    key = np.zeros((*axes, 1, 512 + gap), dtype)[..., :512]
    arguments: dict[str, Any] = {
        "query": np.zeros((*rows, heads, 512), dtype), "key": key, "value": key,
        "sparse_indices": np.zeros((*rows, 1, lanes), np.int32), "scale_value": 576**-0.5,
        "query_rope": np.zeros((*rows, heads, 64), dtype),
        "key_rope": np.zeros((*axes, 1, 64 + gap), dtype)[..., :64],
        "layout_query": layout_query, "layout_kv": layout_kv,
        "actual_seq_lengths_query": np.array([2], np.int32),
        "actual_seq_lengths_kv": np.array([min(tokens, 4 * page)], np.int32),
    }  # fmt: skip
    if layout_kv == "PA_BSND":
        arguments["block_table"] = np.zeros((1, 4), np.int32)
    return arguments | changes


def accepted(**changes: Any) -> bool:
    return is_accepted(call(**changes), sfmla.sparse_flash_attention)


def all_accepted(*calls: dict[str, Any]) -> str:
    return accept_all(*calls, operator=sfmla.sparse_flash_attention)


def block_sizes() -> str:
    sizes = [size for size in range(1, 257) if accepted(sparse_block_size=size)]
    return {1: "1", 8: "1, 2, 4 .. 128"}[len(sizes)]


def page_tokens() -> str:
    if accepted(page=8):
        return "1"
    assert accepted(page=16)
    assert not accepted(page=24)
    if not accepted(page=64, sparse_block_size=64):  # blocks of one token fit into any page
        return "16"
    assert not accepted(page=32, sparse_block_size=64)
    return "16 and sparse_block_size"


def without_rows(layout: str, *row_axes: int) -> dict[str, Any]:
    return call(
        layout_query=layout,
        query=np.zeros((*row_axes, 64, 512), np.float16),
        query_rope=np.zeros((*row_axes, 64, 64), np.float16),
        sparse_indices=np.zeros((*row_axes, 1, 8), np.int32),
        actual_seq_lengths_query=np.array([0], np.int32),
    )


def measured_row(text: str) -> str:
    """The cell of a row for the rules of this process."""
    sinks = np.zeros(64, np.float32)
    packed: dict[str, Any] = {"layout_kv": "TND"}
    answers = {
        "float16, bfloat16; sparse_mode 0, 3; any number of lanes": lambda: all_accepted(
            *(call(dtype=dtype, sparse_mode=mode, lanes=lanes)
              for dtype in (np.float16, ml_dtypes.bfloat16)
              for mode in (0, 3) for lanes in (1, 700))),
        "layouts BSND/BSND, TND/TND, BSND/PA_BSND, TND/PA_BSND": lambda: all_accepted(
            *(call(layout_query=query, layout_kv=kv) for query, kv in PAIRS)),
        "query heads 1..128 that are no power of two": lambda: all_accepted(
            call(heads=3), call(heads=127)),
        "sparse_block_size": block_sizes,
        "sinks (V2) without pages": lambda: all_accepted(call(sinks=sinks, **packed)),
        "sinks (V2) with pages": lambda: all_accepted(call(sinks=sinks)),
        "return_softmax_lse without pages": lambda: all_accepted(
            call(return_softmax_lse=True, **packed)),
        "return_softmax_lse with pages": lambda: all_accepted(call(return_softmax_lse=True)),
        "a value that is not the key": lambda: all_accepted(
            call(value=np.zeros((4, 128, 1, 512), np.float16))),
        "caches with gaps": lambda: all_accepted(call(gap=16), call(gap=16, **packed)),
        "caches without any token": lambda: all_accepted(call(tokens=0, **packed)),
        "no query rows in TND": lambda: all_accepted(without_rows("TND", 0)),
        "no query rows in BSND": lambda: all_accepted(without_rows("BSND", 1, 0)),
        "tokens per page, up to 1024, a multiple of": page_tokens,
    }  # fmt: skip
    return answers[text]()


@pytest.mark.parametrize("product", PRODUCTS)
def test_support_matrix(product: str) -> None:
    check_column(__file__, "flash-matrix", product)


if __name__ == "__main__":
    print(json.dumps({text: measured_row(text) for text in table("flash-matrix")}))
