# SPDX-License-Identifier: Apache-2.0
"""Memory that host and device share: pinned arrays, and device arrays in SFMLA_CHECK=strict."""

import gc
import os
import subprocess
import sys
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from operator_calls import arguments_of, attend, poisoned_outputs
from small_call import SMALL, SMALL_PLAN

import sfmla_ctypes as sfmla
from reference.compare import assert_same_bits
from sfmla_ctypes import pinned_empty
from sfmla_ctypes._context import ensure_context
from sfmla_ctypes._host_memory import host_memory
from sfmla_ctypes._library import ffi, lib


def pinned(array: Any) -> Any:
    copy = pinned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def location_of(array: Any) -> int:
    ensure_context()
    attributes = ffi.new("aclrtPtrAttributes *")
    address = ffi.cast("void *", array.__array_interface__["data"][0])
    assert lib.aclrtPointerGetAttributes(address, attributes) == 0
    return int(attributes.location.type)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [7, (2, 3), [4, 1, 2], ()], ids=str)
def test_pinned_arrays_are_numpy_arrays(shape: Any, dtype: Any) -> None:
    array = pinned_empty(shape, dtype)
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype) == (np.empty(shape).shape, dtype)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert location_of(array) == lib.ACL_MEM_LOCATION_TYPE_HOST
    array[...] = 3
    assert (array == 3).all()


def test_pinned_array_without_elements() -> None:
    assert pinned_empty((0, 3), np.float32).shape == (0, 3)
    with pytest.raises(ValueError, match="extents from 0 on"):
        pinned_empty((-1, 3), np.float32)


def test_pinned_extents_are_what_numpy_takes_for_an_integer() -> None:
    assert pinned_empty(np.int64(3), np.float32).shape == (3,)
    assert pinned_empty((np.int32(2), 3), np.float32).shape == (2, 3)


def test_pinned_memory_that_the_machine_does_not_have() -> None:
    with pytest.raises(sfmla.AclMemoryError) as error:
        pinned_empty(1 << 46, np.uint8)  # 64 TiB
    assert error.value.code == 207001


MAKERS = (pinned_empty, sfmla.DeviceArray.empty, sfmla.DeviceArray.zeros)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("shape", "extents"),
    [
        (3, (3,)),
        (np.int64(3), (3,)),
        (np.array([2, 3]), (2, 3)),
        ([2, np.int32(3)], (2, 3)),
        ((), ()),
        ((2, 0), (2, 0)),
        (0, (0,)),
    ],
)
def test_shapes_are_what_numpy_takes(make: Any, shape: Any, extents: tuple[int, ...]) -> None:
    assert make(shape, np.float32).shape == extents


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "shape",
    [-1, (-1, 0), (-2, -3), (3, -1), (2**62, 4), 2**63, 2**70, (2**61, 2), (2**61, 0), (0, 2**64)],
)
def test_shapes_that_no_array_has_are_refused(make: Any, shape: Any) -> None:
    extents = shape if isinstance(shape, tuple) else (shape,)
    with pytest.raises(sfmla.AclParamError) as error:
        make(shape, np.float32)
    assert error.value.text.startswith(f"shape: {extents} of float32, must have extents from 0 on")
    with pytest.raises(TypeError):
        make((2.5,), np.float32)


def test_pinned_memory_goes_with_its_last_view() -> None:
    array = pinned_empty((4, 4), np.float32)
    view = array[1:, ::2]
    address = array.__array_interface__["data"][0]
    assert array.base is not None
    memory = weakref.ref(array.base if array.base.base is None else array)
    del array
    gc.collect()
    assert location_of(view) == lib.ACL_MEM_LOCATION_TYPE_HOST
    del view
    gc.collect()
    assert memory() is None
    attributes = ffi.new("aclrtPtrAttributes *")
    assert lib.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes) == 0
    assert attributes.location.type == lib.ACL_MEM_LOCATION_TYPE_UNREGISTERED


def test_pinned_arrays_hold_what_the_device_knows() -> None:
    with pytest.raises(sfmla.AclParamError, match="dtype object, must be one of") as caught:
        pinned_empty(4, object)
    assert caught.value.code == 161002
    with pytest.raises(sfmla.AclMemoryError):
        pinned_empty(2**60, np.int8)


def test_pinned_operands_are_used_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    out, lse = map(pinned, poisoned_outputs(SMALL))
    arguments = {
        name: pinned(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments_of(SMALL).items()
    }
    arguments["metadata"] = pinned(SMALL_PLAN)
    registered: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(host_memory, "_ranges", Recorder(registered))
        found = sfmla.sparse_flash_mla(**arguments, out=out, softmax_lse_out=lse)
    assert registered == []
    assert found[0] is out
    assert found[1] is lse
    expected = attend(SMALL)
    assert_same_bits(out, expected[0])
    assert_same_bits(lse, expected[1])


class Recorder(dict[int, Any]):
    """Ranges of host memory that says what was put in."""

    def __init__(self, registered: list[Any]) -> None:
        super().__init__()
        self._registered = registered

    def __setitem__(self, begin: int, value: Any) -> None:
        self._registered.append(begin)
        super().__setitem__(begin, value)


STRICT = """
import numpy as np
import sfmla_ctypes as sfmla
from sfmla_ctypes import DeviceArray, Stream

array = DeviceArray.from_numpy(np.arange(12, dtype="f4").reshape(3, 4))
want = np.arange(12).reshape(3, 4)

def refuses(function):
    try:
        function()
    except BufferError as error:
        assert "array: device memory" in str(error) and "copy=True" in str(error), error
    else:
        raise AssertionError("not refused")

refuses(lambda: np.from_dlpack(array))
refuses(array.__dlpack__)
assert (np.asarray(array) == want).all()
assert (np.asarray(array[1:, ::2]) == want[1:, ::2]).all()
assert (array.numpy().T == want.T).all()

class Copying:
    def __dlpack_device__(self):
        return array.__dlpack_device__()
    def __dlpack__(self, **options):
        return array.__dlpack__(**options | {"copy": True})

assert (np.from_dlpack(Copying()) == want).all()

pinned = sfmla.pinned_empty(4, "f4")
pinned[:] = 1
with Stream().capture() as graph:
    array[0].copy_from(pinned)
    zeros = DeviceArray.zeros(4, "f4")
pinned[:] = 2
graph.replay()
assert (array.numpy()[0] == 2).all()
assert (np.from_dlpack(pinned) == 2).all()
assert (zeros.numpy() == 0).all()
"""


def run_with_check(program: str, level: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=os.environ | {"SFMLA_CHECK": level},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_strict_memory_is_not_shared_with_the_host() -> None:
    run_with_check(STRICT, "strict")


CHANGED_LATER = """
import os, sys
import numpy as np
from sfmla_ctypes import DeviceArray

before, after = sys.argv[1:]
os.environ["SFMLA_CHECK"] = before
array = DeviceArray.zeros(4, "f4")
os.environ["SFMLA_CHECK"] = after

def answer():
    try:
        return str(np.from_dlpack(array).sum())
    except BufferError:
        return "refused"

print(answer(), flush=True)
if os.fork() == 0:
    os.environ.pop("SFMLA_CHECK")
    print(answer(), flush=True)
    os._exit(0)
assert os.wait()[1] == 0
"""


@pytest.mark.parametrize(
    ("before", "after", "answer"), [("strict", "on", "refused"), ("on", "strict", "0.0")]
)
def test_dlpack_agrees_with_the_library_which_reads_its_settings_once(
    before: str, after: str, answer: str
) -> None:
    assert run_with_check(CHANGED_LATER, "off", before, after).split() == [answer, answer]


def test_dlpack_copies_on_request() -> None:
    array = sfmla.DeviceArray.zeros(8, np.float32)
    view = np.from_dlpack(array)
    capsule_of_copy = array.__dlpack__(copy=True, max_version=(1, 0))
    array.copy_from(np.ones(8, np.float32))
    array.numpy()

    class Producer:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self, **_: Any) -> Any:
            return capsule_of_copy

    assert view.sum() == 8
    assert np.from_dlpack(Producer()).sum() == 0
