# SPDX-License-Identifier: Apache-2.0
"""What the operators over a window and compressed keys, and their planners, do in the same way."""

from collections.abc import Mapping
from typing import Any

from ._arrays import Array, ArrayLike
from ._attributes import c_string
from ._results import attention_output, is_on_device, plan_output, row_output, statistic
from ._stream import Stream
from ._two_phase import run


def attend(
    api: str,
    inputs: Mapping[str, Array | None],
    attributes: tuple[Any, ...],
    lse_shape: tuple[int, ...] | None,
    outputs: tuple[ArrayLike | None, ArrayLike | None],
    stream: Stream | None,
) -> tuple[Any, Any]:
    """Runs the operator into `outputs`, attention and LSE, or new arrays for them.

    The last attribute says whether the LSE is wanted.
    """
    query = inputs["q"]
    out, lse_out = outputs
    attn_out = attention_output("attn_out", out, query)
    softmax_lse = row_output("softmax_lse", lse_out, lse_shape, is_on_device([query]))
    run(api, inputs, attributes, {"attn_out": attn_out, "softmax_lse": softmax_lse}, stream)
    return attn_out, statistic(softmax_lse, attributes[-1])


def plan(
    api: str,
    inputs: Mapping[str, Array | None],
    numbers: tuple[int, ...],
    layouts: tuple[str, str],
    parts: tuple[bool, bool],
    out: ArrayLike | None,
    stream: Stream | None,
) -> Any:
    """Runs the planner into `out`, or a new array for the words.

    `numbers`, layouts of queries and caches, and which caches there are: its attributes in order.
    """
    layout_q, layout_kv = layouts
    attributes = (
        *numbers,
        c_string("layout_q", layout_q),
        c_string("layout_kv", layout_kv),
        *(bool(part) for part in parts),
    )
    metadata = plan_output(out, inputs.values())
    run(api, inputs, attributes, {"metadata": metadata}, stream)
    return metadata
