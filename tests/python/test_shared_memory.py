# SPDX-License-Identifier: Apache-2.0
"""Every output of every operator has memory of its own: one element in common with any other
operand is refused, places next to it or between its rows are not."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from operator_calls import arguments_of

import sfmla_ctypes
from reference import call, cases, sparse_attn_sharedkv_cases, sparse_flash_attention_cases
from reference.call import Array
from sfmla_ctypes import (
    sparse_attn_sharedkv,
    sparse_attn_sharedkv_metadata,
    sparse_flash_attention,
    sparse_flash_mla,
    sparse_flash_mla_metadata,
)

STATISTICS = {"softmax_max_out": "softmax_max", "softmax_sum_out": "softmax_sum"}


class Outputs(NamedTuple):
    """By argument: the array to write and the name of the operand."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    arrays: Mapping[str, Array]
    names: Mapping[str, str]


def attention_outputs(
    function: Callable[..., Any], arguments: dict[str, Any], lse_shape: tuple[int, ...]
) -> Outputs:
    arrays = {
        "out": np.zeros_like(arguments["q"]),
        "softmax_lse_out": np.zeros(lse_shape, np.float32),
    }
    names = {"out": "attn_out", "softmax_lse_out": "softmax_lse"}
    return Outputs(function, arguments, arrays, names)


def planner_outputs(function: Callable[..., Any], arguments: dict[str, Any]) -> Outputs:
    return Outputs(function, arguments, {"out": np.zeros(1024, np.int32)}, {"out": "metadata"})


def calls() -> Iterator[Outputs]:
    mla = cases.build(cases.Case("csa", ("TND", "PA_BBND"), rows=(2, 1), tokens=(300, 40)))
    planning = call.planning_arguments(mla)
    yield planner_outputs(sparse_flash_mla_metadata, planning)
    arguments = arguments_of(mla) | {"metadata": sparse_flash_mla_metadata(**planning)}
    yield attention_outputs(sparse_flash_mla, arguments, (1, *mla.q.shape[:-1]))

    older = sparse_attn_sharedkv_cases
    shared = older.build(older.SharedKvCase("scfa", rows=(2, 1), tokens=(300, 40)))
    planning = older.planning_arguments(shared)
    yield planner_outputs(sparse_attn_sharedkv_metadata, planning)
    arguments = arguments_of(shared) | {"metadata": sparse_attn_sharedkv_metadata(**planning)}
    yield attention_outputs(sparse_attn_sharedkv, arguments, (*shared.q.shape[:-1], 1))

    flash = sparse_flash_attention_cases
    for sinks in ("none", "finite"):
        built = flash.build(flash.SparseFlashCase(rows=(2, 1), tokens=(300, 40), sinks=sinks))
        arrays = {"out": np.zeros_like(built.query)} | {
            name: np.zeros((1, *built.query.shape[:-1]), np.float32) for name in STATISTICS
        }
        names = {"out": "attention_out"} | STATISTICS
        yield Outputs(sparse_flash_attention, arguments_of(built), arrays, names)


CALLS = list(calls())


def adjacent(first: Array, second: Array, shared_bytes: int) -> tuple[Array, Array]:
    """The second array behind a copy of the first, `shared_bytes` of which it shares."""
    begin = first.nbytes - shared_bytes
    memory = np.zeros(begin + second.nbytes + shared_bytes, np.uint8)
    copy = memory[: first.nbytes].view(first.dtype).reshape(first.shape)
    copy[...] = first
    output = memory[begin : begin + second.nbytes].view(second.dtype).reshape(second.shape)
    return copy, output


@pytest.mark.parametrize("case", CALLS, ids=lambda case: str(case.function.__name__))
def test_an_output_that_shares_an_element_is_refused(case: Outputs) -> None:
    inputs = {name: x for name, x in case.arguments.items() if isinstance(x, np.ndarray)}
    tried = 0
    for name, array in case.arrays.items():
        for other, shared in {**inputs, **case.arrays}.items():
            if other == name or shared.size == 0:
                continue
            arguments = {**case.arguments, **case.arrays}
            arguments[other], arguments[name] = adjacent(shared, array, 4)
            with pytest.raises(sfmla_ctypes.AclParamError) as error:
                case.function(**arguments)
            first, second = (case.names.get(n, n) for n in (name, other))
            if other in case.arrays and list(case.arrays).index(other) < list(case.arrays).index(
                name
            ):
                first, second = second, first
            sentence = f"{first}: shares memory with {second}, must have memory of its own"
            assert (error.value.text, error.value.code) == (sentence, 161002)
            arguments[other], arguments[name] = adjacent(shared, array, 0)
            case.function(**arguments)
            tried += 1
    assert tried == len(case.arrays) * (len(inputs) + len(case.arrays) - 1)


def test_all_operators_are_tried() -> None:
    operators = {
        function
        for name, function in inspect.getmembers(sfmla_ctypes, inspect.isfunction)
        if name.startswith("sparse_")
    }
    assert {case.function for case in CALLS} == operators


def test_an_output_may_lie_between_the_rows_of_a_cache() -> None:
    """Rows of 1088 elements: 512 of key, 64 of rope, and 512 that hold the output."""
    flash = sparse_flash_attention_cases
    built = flash.build(
        flash.SparseFlashCase(("TND", "TND"), rows=(1,), tokens=(3,), heads=1, value="none")
    )
    pool = np.zeros((3, 1, 1088), built.key.dtype)
    pool[..., :512], pool[..., 512:576] = built.key, built.key_rope
    arguments = arguments_of(built) | {"key": pool[..., :512], "key_rope": pool[..., 512:576]}
    expected, *_ = sparse_flash_attention(**arguments_of(built))
    out, *_ = sparse_flash_attention(**arguments | {"out": pool[1:2, :, 576:]})
    assert (out == expected).all()
    with pytest.raises(sfmla_ctypes.AclParamError, match="shares memory with key_rope"):
        sparse_flash_attention(**arguments | {"out": pool[1:2, :, 575:1087]})
