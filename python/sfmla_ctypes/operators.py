# SPDX-License-Identifier: Apache-2.0
"""What commands and measurements need to know of each operator: one row of a table per operator.

``operator_of`` finds the row for the arguments in a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import (
    reference,
    schedule,
    schedule_sharedkv,
    sparse_attn_sharedkv,
    sparse_attn_sharedkv_metadata,
    sparse_flash_attention,
    sparse_flash_mla,
    sparse_flash_mla_metadata,
)
from .case_arrays import HEAD_DIM, ROPE_DIM, Arguments
from .cases import FLASH_ATTENTION, FLASH_MLA, SHARED_KV, CaseError
from .judge import Verdict, judge_attn_out, judge_softmax, judge_softmax_lse, log_sum_exp
from .schedule import Schedule

Array = NDArray[Any]
Outputs = Mapping[str, Array]

BYTES_PER_ELEMENT = 2


@dataclass(frozen=True)
class Planner:
    """The function that plans, its arguments for a call, and the reader of what it answers."""

    function: Callable[..., Any]
    arguments: Callable[[Mapping[str, Any]], Arguments]
    decode: Callable[[NDArray[np.int32], Any], Schedule]


@dataclass(frozen=True)
class Operator:
    """An operator of the package.

    ``outputs`` are its results: the attention first, then what ``return_softmax_lse`` asks for, and
    the argument that each is written to. ``reference`` gives them in float64 and in that order, and
    last the sizes of scores that ``judge`` needs; ``statistic_shape`` tells the shape of all
    outputs but the first from that of the query and whether it is packed.
    """

    name: str  # of the function in sfmla_ctypes
    query: str
    layout: str  # the argument that names the layout of the query
    function: Callable[..., tuple[Any, ...]]
    planner: Planner | None
    call: type[Any]  # the dataclass of its arguments, one of reference.AnyCall
    reference: Callable[..., tuple[Array, ...]]
    judge: Callable[..., list[Verdict]]  # outputs, what the reference gives, rounds_weights=False
    outputs: Mapping[str, str]
    statistic_shape: Callable[[tuple[int, ...], bool], tuple[int, ...]]
    flop_per_key_and_head: int
    bytes_per_key: int
    has_emulated_kernel: bool  # for the device ascend910b

    @property
    def attribute_types(self) -> dict[str, type]:
        """Attributes by name; the other arguments are arrays."""
        scalars = (bool, int, float, str)
        found = [(field.name, field.default) for field in fields(self.call)]
        return {name: type(value) for name, value in found if isinstance(value, scalars)}

    @property
    def array_names(self) -> list[str]:
        names = [field.name for field in fields(self.call)]
        return [name for name in names if name not in self.attribute_types]

    def with_metadata(self, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments with ``metadata``: the caller's own, else planned by the library.

        An operator that is not planned leaves them as they are.
        """
        if self.planner is None:
            return dict(arguments)
        planned = self.planner.arguments(arguments)  # refuses what nothing can be planned for
        if arguments.get("metadata") is not None:
            return dict(arguments)
        return {**arguments, "metadata": self.planner.function(**planned)}

    def poisoned_outputs(self, arguments: Mapping[str, Any]) -> dict[str, Array]:
        """Arrays full of NaN for the results that a call asks for, by name.

        Raises CaseError when the query is missing or has no head axis.
        """
        query = arguments.get(self.query)
        if query is None or query.ndim < 3:
            found = "missing" if query is None else f"rank {query.ndim}"
            allowed = "(B, S1, N1, 512) or (T1, N1, 512)"
            raise CaseError(f"{self.query}: {found}, must be {allowed}")
        attention, *statistics = self.outputs
        made = {attention: _poisoned(query.shape, query.dtype)}
        if arguments.get("return_softmax_lse"):
            is_packed = arguments.get(self.layout, "BSND") == "TND"
            shape = self.statistic_shape(query.shape, is_packed)
            made |= {name: _poisoned(shape, np.dtype(np.float32)) for name in statistics}
        return made

    def run(self, arguments: Mapping[str, Any], outputs: Outputs) -> None:
        """One call that writes ``outputs``."""
        given = {self.outputs[name]: array for name, array in outputs.items()}
        self.function(**{**arguments, **given})

    def gflop(self, keys: int, heads: int) -> float:
        """Arithmetic on so many attended keys, in 10^9 operations."""
        return keys * heads * self.flop_per_key_and_head / 1e9


def operator_of(arguments: Iterable[str], name: str | None = None) -> Operator:
    """The operator of that name; without one the first that has all these arguments.

    Raises CaseError for an argument that it, or every operator, does not have.
    """
    names = set(arguments)
    candidates = list(OPERATORS.values()) if name is None else [OPERATORS[name]]
    unknown = {operator.name: _unknown(operator, names) for operator in candidates}
    best = min(candidates, key=lambda operator: len(unknown[operator.name]))
    if unknown[best.name]:
        foreign = ", ".join(unknown[best.name])
        allowed = ", ".join((*best.array_names, *best.attribute_types))
        raise CaseError(f"{foreign}: no argument of {best.name}, the arguments are {allowed}")
    return best


def _unknown(operator: Operator, names: set[str]) -> list[str]:
    return sorted(names - {*operator.array_names, *operator.attribute_types})


def _poisoned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """All bits set, which is NaN in every floating-point type."""
    return np.full(math.prod(shape) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(shape)


def _kv_head_first(query: tuple[int, ...], is_packed: bool) -> tuple[int, ...]:
    *row_axes, heads, _ = query
    return (1, *row_axes, heads) if is_packed else (row_axes[0], 1, *row_axes[1:], heads)


def _as_query(query: tuple[int, ...], _is_packed: bool) -> tuple[int, ...]:
    return (*query[:-1], 1)


def _judge_lse(
    found: Outputs, expected: tuple[Array, ...], rounds_weights: bool = False
) -> list[Verdict]:
    attention, lse, sizes = expected
    attn_out = found["attn_out"]
    verdicts = [judge_attn_out(attn_out, attention, lse, "attn_out", rounds_weights, sizes)]
    if "softmax_lse" in found:
        verdicts.append(judge_softmax_lse(found["softmax_lse"], lse, sizes))
    return verdicts


def _judge_statistics(
    found: Outputs, expected: tuple[Array, ...], rounds_weights: bool = False
) -> list[Verdict]:
    attention, largest, total, sizes = expected
    lse = log_sum_exp(largest, total)
    attention_out = found["attention_out"]
    verdicts = [
        judge_attn_out(attention_out, attention, lse, "attention_out", rounds_weights, sizes)
    ]
    if "softmax_max" in found:
        statistics = (found["softmax_max"], found["softmax_sum"])
        verdicts += judge_softmax(statistics, (largest, total), sizes)
    return verdicts


def _with_score_sizes(
    function: Callable[..., tuple[Array, ...]], query: str
) -> Callable[..., tuple[Array, ...]]:
    """The reference, whose answer ends with the sizes of its scores."""

    def answer(**arguments: Any) -> tuple[Array, ...]:
        sizes = np.zeros(arguments[query].shape[:-1])
        return (*function(**arguments, sizes=sizes), sizes)

    return answer


def _flash_attention(**arguments: Any) -> tuple[Any, ...]:
    """Missing arrays are the library's to refuse."""
    positional: Arguments = dict.fromkeys(("query", "key", "value", "sparse_indices"))
    return sparse_flash_attention(**{**positional, "scale_value": 1.0, **arguments})


_FLASH_MLA = Operator(
    name=FLASH_MLA,
    query="q",
    layout="layout_q",
    function=sparse_flash_mla,
    planner=Planner(
        sparse_flash_mla_metadata, schedule.metadata_arguments, schedule.decode_schedule
    ),
    call=reference.Call,
    reference=_with_score_sizes(reference.sparse_flash_mla, "q"),
    judge=_judge_lse,
    outputs={"attn_out": "out", "softmax_lse": "softmax_lse_out"},
    statistic_shape=_kv_head_first,
    flop_per_key_and_head=4 * HEAD_DIM,  # multiply and add, for score and for weighted sum
    bytes_per_key=HEAD_DIM * BYTES_PER_ELEMENT,
    has_emulated_kernel=True,
)
_SHARED_KV = replace(
    _FLASH_MLA,
    name=SHARED_KV,
    function=sparse_attn_sharedkv,
    planner=Planner(
        sparse_attn_sharedkv_metadata,
        schedule_sharedkv.metadata_arguments,
        schedule_sharedkv.decode_schedule,
    ),
    call=reference.SharedKvCall,
    reference=_with_score_sizes(reference.sparse_attn_sharedkv, "q"),
    statistic_shape=_as_query,
    has_emulated_kernel=False,
)
_FLASH_ATTENTION = Operator(
    name=FLASH_ATTENTION,
    query="query",
    layout="layout_query",
    function=_flash_attention,
    planner=None,
    call=reference.FlashCall,
    reference=_with_score_sizes(reference.sparse_flash_attention, "query"),
    judge=_judge_statistics,
    outputs={
        "attention_out": "out",
        "softmax_max": "softmax_max_out",
        "softmax_sum": "softmax_sum_out",
    },
    statistic_shape=_kv_head_first,
    flop_per_key_and_head=2 * (HEAD_DIM + ROPE_DIM + HEAD_DIM),
    bytes_per_key=(HEAD_DIM + ROPE_DIM) * BYTES_PER_ELEMENT,
    has_emulated_kernel=False,
)
OPERATORS: Mapping[str, Operator] = {
    operator.name: operator for operator in (_FLASH_MLA, _SHARED_KV, _FLASH_ATTENTION)
}
