# SPDX-License-Identifier: Apache-2.0
"""The gate from arrays to aclTensor: what C sees is the array itself."""

import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import sfmla_ctypes as sfmla
from sfmla_ctypes._arrays import as_array, as_output, create_tensor
from sfmla_ctypes._context import ensure_context
from sfmla_ctypes._dlpack import _type_field, export_array, import_array
from sfmla_ctypes._host_memory import HostMemory, host_memory, merge_spans, owned_span
from sfmla_ctypes._layout import byte_span, layout_of
from sfmla_ctypes._library import ffi, lib

BASE = np.arange(2 * 3 * 4 * 8, dtype=np.float16).reshape(2, 3, 4, 8)


def raw_address(tensor: Any) -> int:
    address = ffi.new("void **")
    assert lib.aclGetRawTensorAddr(tensor, address) == 0
    return int(ffi.cast("uintptr_t", address[0]))


def integers_of(getter: str, tensor: Any) -> list[int]:
    values, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
    assert getattr(lib, getter)(tensor, values, count) == 0
    return list(values[0][0 : count[0]])


VIEWS = {
    "whole": BASE,
    "offset": BASE[1, 1:],
    "rows with gaps": BASE[:, :, ::2],
    "innermost step": BASE[..., ::3],
    "transposed": BASE.transpose(2, 0, 3, 1),
    "reversed": BASE[::-1, :, 1:, ::-1],
    "broadcast": np.broadcast_to(BASE[:1], (5, 3, 4, 8)),
    "bfloat16": BASE.astype(ml_dtypes.bfloat16)[:, 1:],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("on_device", [False, True])
def test_tensor_describes_the_view_itself(name: str, on_device: bool) -> None:
    view = VIEWS[name]
    device = sfmla.DeviceArray.from_numpy(view)
    tensor = create_tensor("q", device if on_device else view)
    offset = ffi.new("int64_t *")
    assert lib.aclGetViewOffset(tensor, offset) == 0
    first = raw_address(tensor) + offset[0] * view.itemsize
    expected = device.address if on_device else view.__array_interface__["data"][0]
    assert first == expected
    assert integers_of("aclGetViewShape", tensor) == list(view.shape)
    assert [s * view.itemsize for s in integers_of("aclGetViewStrides", tensor)] == list(
        view.strides
    )


def test_storage_spans_the_view_only() -> None:
    tensor = create_tensor("q", BASE[1:, :, :2, ::-1])
    layout = layout_of("q", BASE[1:, :, :2, ::-1])
    assert integers_of("aclGetStorageShape", tensor) == [2 * 4 * 8 + 2 * 8]
    assert layout.offset == 7
    assert layout.end - layout.begin == (2 * 4 * 8 + 2 * 8) * 2


@pytest.mark.parametrize(
    ("dtype", "code"),
    [("f2", 1), (ml_dtypes.bfloat16, 27), ("f4", 0), ("i4", 3), ("i8", 9), ("f8", 11), ("?", 12)],
)
def test_dtype_codes(dtype: Any, code: int) -> None:
    found = ffi.new("aclDataType *")
    assert lib.aclGetDataType(create_tensor("q", np.zeros(3, dtype)), found) == 0
    assert found[0] == code


def test_empty_array_keeps_its_shape_and_has_no_data() -> None:
    tensor = create_tensor("q", np.zeros((4, 0, 8), np.float16))
    assert integers_of("aclGetViewShape", tensor) == [4, 0, 8]
    assert integers_of("aclGetViewStrides", tensor) == [0, 8, 1]
    assert raw_address(tensor) == 0


def test_strides_that_are_not_whole_elements_are_refused() -> None:
    records = np.zeros(4, np.dtype([("key", "f4"), ("tag", "u1")]))
    with pytest.raises(sfmla.AclParamError, match=r"q: strides .* multiples of 4") as caught:
        create_tensor("q", records["key"])
    assert caught.value.code == 161002


@pytest.mark.parametrize("dtype", [">f4", "U3", "M8[s]", "O"])
def test_dtype_without_a_code_is_refused(dtype: str) -> None:
    with pytest.raises(sfmla.AclParamError, match=r"sinks: dtype .* must be one of float32"):
        create_tensor("sinks", np.zeros(3, dtype))


@pytest.mark.parametrize("value", [[1.0], 3.0, "text"])
def test_what_is_no_array_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=f"sinks: {type(value).__name__}, must be"):
        as_array("sinks", value)


def with_type(array: NDArray[Any], bits: int) -> Any:
    """A capsule of the array that claims elements of so many bits."""
    capsule = export_array(array)
    _type_field(capsule)[1] = bits
    return capsule


class Producer:
    """A package that offers DLPack and nothing else."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return export_array(self.array, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class OldProducer(Producer):
    """Knows only the first version of the protocol."""

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        return export_array(self.array, stream=stream)


@pytest.mark.parametrize("kind", [Producer, OldProducer])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, ml_dtypes.bfloat16])
def test_dlpack_shares_memory_and_strides(kind: type[Producer], dtype: Any) -> None:
    source = BASE.astype(dtype)[:, 1:, ::2]
    array = as_array("q", kind(source))
    assert isinstance(array, np.ndarray)
    assert array.dtype == source.dtype
    assert array.strides == source.strides
    assert np.shares_memory(array, source)
    assert np.array_equal(array, source)


@pytest.mark.parametrize("device", [(1, 0), (3, 0), (11, 1)])
def test_dlpack_of_host_memory_of_any_kind_is_taken(device: tuple[int, int]) -> None:
    assert np.shares_memory(as_array("q", Producer(BASE, device)), BASE)


class Gives:
    """Answers any object as its capsule."""

    def __init__(self, capsule: Any, device: Any = (1, 0)) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_: Any) -> Any:
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule

    def __dlpack_device__(self) -> Any:
        return self.device


class NoDevice:
    def __dlpack__(self, **_: Any) -> Any:
        return export_array(BASE)


def used_capsule(**options: Any) -> Any:
    capsule = export_array(BASE, **options)
    as_array("q", Gives(capsule))
    return capsule


CAPSULES = "must be a capsule named 'dltensor' or 'dltensor_versioned', used once"
NO_VIEW = {
    "another device": (
        Producer(BASE, device=(2, 0)),
        "DLPack device (2, 0), must be host memory, a device type of 1 (CPU), 3 (CUDA host), "
        "11 (ROCm host)",
    ),
    "a device that is none": (
        Gives(export_array(BASE), device="cpu"),
        "__dlpack_device__ gave 'cpu', must be two integers",
    ),
    "a used capsule": (
        Gives(used_capsule()),
        f"__dlpack__ gave a capsule named 'used_dltensor', {CAPSULES}",
    ),
    "a used capsule of version 1": (
        Gives(used_capsule(max_version=(1, 0))),
        f"__dlpack__ gave a capsule named 'used_dltensor_versioned', {CAPSULES}",
    ),
    "no capsule": (Gives([1.0]), f"__dlpack__ gave an object of type list, {CAPSULES}"),
    "None": (Gives(None), f"__dlpack__ gave an object of type NoneType, {CAPSULES}"),
    "its own refusal": (Gives(BufferError("needs a gradient")), "needs a gradient"),
    "its own type error": (Gives(TypeError("a sparse tensor")), "a sparse tensor"),
    "a type that NumPy has not": (
        Gives(with_type(BASE, bits=4)),
        "Unsupported dtype in DLTensor.",
    ),
    "no device": (
        NoDevice(),
        "NoDevice, must be a NumPy array, a DeviceArray or an object with __array_interface__, or "
        "with __dlpack__ and __dlpack_device__",
    ),
}


@pytest.mark.parametrize("take", [as_array, as_output])
@pytest.mark.parametrize("name", NO_VIEW)
def test_an_array_that_cannot_be_viewed_is_a_type_error(name: str, take: Any) -> None:
    value, text = NO_VIEW[name]
    with pytest.raises(TypeError) as caught:
        take("cmp_kv", value)
    assert str(caught.value) == f"cmp_kv: {text}"


def test_an_error_of_the_call_that_wrote_the_values_stays_one() -> None:
    error = sfmla.AclDeviceError(507015, "aclrtSynchronizeStream", "seqused_q: -1")
    with pytest.raises(sfmla.AclDeviceError, match="seqused_q: -1"):
        as_array("q", Gives(error))


class InterfaceOnly:
    """An object with NumPy's array interface and nothing else."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


def test_array_interface_shares_memory() -> None:
    array = as_array("q", InterfaceOnly(BASE))
    assert isinstance(array, np.ndarray)
    assert np.shares_memory(array, BASE)


def plan_into(out: Any) -> Any:
    return sfmla.sparse_flash_mla_metadata(
        8, 1, 512, batch_size=1, max_seqlen_q=1, max_seqlen_ori_kv=9, has_cmp_kv=False, out=out
    )


def itself(array: NDArray[Any]) -> NDArray[Any]:
    return array


KINDS = [itself, InterfaceOnly, Producer, OldProducer]


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_of_any_kind_is_written_in_place(kind: Callable[[NDArray[Any]], Any]) -> None:
    words = np.zeros(1024, np.int32)
    found = plan_into(kind(words))
    assert words.any()
    assert np.shares_memory(found, words)


exports_read_only = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy exports no read-only arrays"
)


@pytest.mark.parametrize(
    "kind", [itself, InterfaceOnly, pytest.param(Producer, marks=exports_read_only)]
)
def test_a_read_only_output_of_any_kind_is_refused(kind: Callable[[NDArray[Any]], Any]) -> None:
    words = np.zeros(1024, np.int32)
    words.flags.writeable = False
    sentence = "metadata: the array is read-only, must be writable"
    with pytest.raises(sfmla.AclParamError) as caught:
        plan_into(kind(words))
    assert (caught.value.code, caught.value.text) == (161002, sentence)
    assert not words.any()


@exports_read_only
def test_a_read_only_bfloat16_output_is_refused() -> None:
    """Its capsule is rewritten on the way in, which must not lose the flag."""
    out = np.zeros(3, ml_dtypes.bfloat16)
    out.flags.writeable = False
    with pytest.raises(sfmla.AclParamError, match="attn_out: the array is read-only"):
        as_output("attn_out", Producer(out))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_device_array_leaves_through_dlpack(dtype: Any) -> None:
    source = BASE.astype(dtype)
    device = sfmla.DeviceArray.from_numpy(source)
    array, _ = import_array(device[:, 1:])
    address = device.address
    del device
    assert array.__array_interface__["data"][0] == address + source.strides[1]
    assert np.array_equal(array, source[:, 1:])


def test_spans_merge_where_they_overlap() -> None:
    assert merge_spans([(40, 50), (0, 10), (5, 20), (20, 30), (7, 8), (3, 3)]) == [
        (0, 20),
        (20, 30),
        (40, 50),
    ]


def location_type(array: NDArray[Any]) -> int:
    attributes = ffi.new("aclrtPtrAttributes *")
    pointer = ffi.cast("void *", array.__array_interface__["data"][0])
    assert lib.aclrtPointerGetAttributes(pointer, attributes) == 0
    return int(attributes.location.type)


def test_memory_is_registered_inside_the_block_only() -> None:
    ensure_context()
    memory, array = HostMemory(), np.zeros(1000)
    with memory.registered([array[100:200], array[10:20]]):
        assert location_type(array[999:]) == lib.ACL_MEM_LOCATION_TYPE_HOST
        with memory.registered([array[500:]]):
            pass
        assert location_type(array) == lib.ACL_MEM_LOCATION_TYPE_HOST
    assert location_type(array) == lib.ACL_MEM_LOCATION_TYPE_UNREGISTERED


def test_view_of_device_memory_is_left_alone() -> None:
    device = sfmla.DeviceArray.from_numpy(np.arange(6))
    view = np.from_dlpack(device)
    with HostMemory().registered([view]):
        assert location_type(view) == lib.ACL_MEM_LOCATION_TYPE_DEVICE
    assert np.array_equal(view, np.arange(6))


def test_views_of_one_array_do_not_wait_for_each_other() -> None:
    ensure_context()
    memory, array = HostMemory(), np.zeros(1000)
    with memory.registered([array[:600]]), memory.registered([array[400:]]):
        assert location_type(array) == lib.ACL_MEM_LOCATION_TYPE_HOST


def test_registered_memory_can_be_copied_to_the_device() -> None:
    ensure_context()
    array = np.arange(1000.0)
    with host_memory.registered([array[:600]]):
        assert np.array_equal(sfmla.DeviceArray.from_numpy(array[400:]).numpy(), array[400:])


def foreign_view(array: NDArray[Any], key: slice) -> NDArray[Any]:
    """As from another package: NumPy does not know that it shares memory with `array`."""
    return np.frombuffer(array.data[key], array.dtype)


def test_partial_overlap_waits_for_the_other_thread() -> None:
    memory, array = HostMemory(), np.zeros(1000)
    events: list[str] = []

    def overlap() -> None:
        ensure_context()
        with memory.registered([foreign_view(array, slice(400, 1000))]):
            events.append("second")

    ensure_context()
    with memory.registered([foreign_view(array, slice(0, 600))]):
        thread = threading.Thread(target=overlap)
        thread.start()
        thread.join(0.1)
        events.append("first")
    thread.join()
    assert events == ["first", "second"]


def test_view_beyond_its_base_is_covered() -> None:
    array = np.zeros(8)
    wide = np.lib.stride_tricks.as_strided(array[:2], (8,), (8,))
    assert owned_span(wide[4:]) == byte_span(array)
