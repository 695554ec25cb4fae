# SPDX-License-Identifier: Apache-2.0
"""Arguments that Python, NumPy or cffi would refuse in words of their own: every refusal names the
argument, what was found and what is allowed."""

import copy
import multiprocessing.reduction
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from small_call import SMALL, small_arguments

import sfmla_ctypes as sfmla
from sfmla_ctypes import Device, DeviceArray, Event, Graph, Stream, pinned_empty
from sfmla_ctypes._arrays import as_array


def attend(**changes: Any) -> Any:
    return sfmla.sparse_flash_mla(**small_arguments(**changes))


def plan(**changes: Any) -> Any:
    return sfmla.sparse_flash_mla_metadata(
        **{"num_heads_q": 1, "num_heads_kv": 1, "head_dim": 512, **changes}
    )


def captured() -> Graph:
    with Stream().capture() as graph:
        pass
    return graph


SINGLE: dict[str, Callable[[], Any]] = {
    "DeviceArray": lambda: DeviceArray.from_numpy(np.arange(12.0)),
    "DeviceArray of a part": lambda: DeviceArray.from_numpy(np.arange(12.0))[3:],
    "DeviceMemory": lambda: DeviceArray.from_numpy(np.arange(12.0)).memory,
    "Stream": Stream,
    "StreamState": lambda: Stream.current().state,
    "Event": Event,
    "Graph": captured,
    "_PinnedMemory": lambda: memory_of(pinned_empty(3, np.float32)),
}


def memory_of(array: Any) -> Any:
    while isinstance(array, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(
    "function",
    [copy.copy, copy.deepcopy, pickle.dumps, multiprocessing.reduction.ForkingPickler.dumps],
)
def test_what_holds_a_handle_is_neither_copied_nor_pickled(
    name: str, function: Callable[[Any], Any]
) -> None:
    original = SINGLE[name]()
    for found in (original, [original], {"inside": (original,)}):
        if function is copy.copy and found is not original:
            continue  # copies the container only
        with pytest.raises(TypeError) as caught:
            function(found)
        kind = name.split()[0]
        assert str(caught.value).startswith(f"{kind}: neither copied nor pickled, must be ")


def test_a_refused_copy_leaves_the_array_as_it_was() -> None:
    array = DeviceArray.from_numpy(np.arange(12.0))
    with pytest.raises(TypeError, match=r"numpy\(\) or viewed with \[\.\.\.\]"):
        copy.copy(array)
    view, on_host = array[...], array.numpy()
    array.copy_from(np.zeros(12))
    assert not view.numpy().any()
    assert np.array_equal(on_host, np.arange(12.0))


def test_what_holds_no_handle_is_copied_and_pickled() -> None:
    device = Device(0)
    assert copy.copy(device).id == pickle.loads(pickle.dumps(device)).id == 0
    pinned = pinned_empty((2, 3), np.float32)
    pinned[...] = 5
    for found in (copy.copy(pinned), copy.deepcopy(pinned), pickle.loads(pickle.dumps(pinned))):
        pinned[...] = 6
        assert (found == 5).all()
        pinned[...] = 5


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (10**400, "a number of 1329 bits"),
        (-(10**5000), "a number of 16610 bits"),
        (Fraction(10**400, 3), "a number of 1328 bits"),
    ],
    ids=["10**400", "-10**5000", "fraction"],
)
def test_a_real_number_beyond_double(value: Any, found: str) -> None:
    with pytest.raises(OverflowError) as caught:
        attend(softmax_scale=value)
    assert str(caught.value) == f"softmax_scale: {found}, must fit in a double"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (2**63, "9223372036854775808"),
        (-(2**63) - 1, "-9223372036854775809"),
        (10**5000, "a number of 16610 bits"),
    ],
    ids=["2**63", "-2**63-1", "10**5000"],
)
def test_integers_beyond_64_bits(value: int, found: str) -> None:
    for function, name in (
        (attend, "cmp_ratio"),
        (attend, "ori_win_left"),
        (attend, "topk_value_mode"),
        (plan, "num_heads_q"),
        (plan, "max_seqlen_q"),
        (plan, "max_seqlen_ori_kv"),
    ):
        with pytest.raises(OverflowError) as caught:
            function(**{name: value})
        assert str(caught.value) == f"{name}: {found}, must fit in 64 bits"


TEXTS: dict[str, Callable[[str], Any]] = {
    "layout_q": lambda text: attend(layout_q=text),
    "layout_kv": lambda text: plan(layout_kv=text),
    "layout_query": lambda text: sfmla.sparse_flash_attention(
        SMALL.q, SMALL.ori_kv, None, np.zeros((1, 2, 1, 1), np.int32), 1.0, layout_query=text
    ),
    "name": lambda text: Stream().capture(text).__enter__(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_c_cannot_have(name: str) -> None:
    with pytest.raises(sfmla.AclParamError) as caught:
        TEXTS[name]("\ud800")
    assert caught.value.text == f"{name}: '\\ud800', must be text without lone surrogates"
    with pytest.raises(sfmla.AclParamError) as caught:
        TEXTS[name]("BSND\0")
    assert caught.value.text == f"{name}: 'BSND\\x00', must be text without NUL"


class Raises:
    """Claims an interface and fails to give it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    @property
    def __array_interface__(self) -> Any:
        raise self._error


class Says:
    def __init__(self, interface: Any) -> None:
        self.__array_interface__ = interface


GOOD = np.zeros(3, np.float32).__array_interface__
BROKEN: dict[str, Any] = {
    "raises": Raises(KeyError("shape")),
    "raises, not to be called": Raises(RuntimeError("gone\nfor good")),
    "no keys": Says({}),
    "shape of text": Says({**GOOD, "shape": "abc"}),
    "negative shape": Says({**GOOD, "shape": (-3,)}),
    "no such type": Says({**GOOD, "typestr": "!!"}),
    "data of text": Says({**GOOD, "data": "abc"}),
    "strides of another rank": Says({**GOOD, "strides": (4, 4)}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_descriptions_name_the_operand(name: str) -> None:
    value = BROKEN[name]
    with pytest.raises(TypeError) as caught:
        as_array("sinks", value)
    start = f"sinks: {type(value).__name__} without a valid description ("
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith("), must be an array")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_descriptions_cannot_be_copied_to_the_device(name: str) -> None:
    array = DeviceArray.zeros(3, np.float32)
    with pytest.raises(TypeError, match=r"^array: \w+ without a valid description"):
        DeviceArray.from_numpy(BROKEN[name])
    with pytest.raises(TypeError, match=r"^copy_from: \w+ without a valid description"):
        array.copy_from(BROKEN[name])
    assert not array.numpy().any()


def test_an_error_of_the_device_is_not_taken_for_a_broken_description() -> None:
    graph_array = DeviceArray.zeros(3, np.float32)
    with Stream().capture():
        DeviceArray.zeros(3, np.float32)
        inside = DeviceArray.zeros(3, np.float32)
        with pytest.raises(sfmla.AclRuntimeError) as caught:
            np.asarray(inside)
        with pytest.raises(sfmla.AclRuntimeError) as again:
            graph_array.copy_from(inside)
    assert caught.value.code == again.value.code == 107027
