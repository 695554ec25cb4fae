# SPDX-License-Identifier: Apache-2.0
"""Programs in the style of the published operator examples, unchanged under both link lines.

Each is linked with the built-in operators and with the vendor package; both must print the same,
and that is compared with the oracle. The inputs come from one formula, written here and in
example_common.h.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sfmla_ctypes
import sfmla_ctypes.reference
from commands import run
from programs.prefix import LIB, PREFIX, VENDOR
from reference.attention import attention
from reference.call import Array, Call
from reference.compare import assert_lse_close, assert_output_close
from reference.schedule import assert_valid
from sfmla_ctypes.schedule import decode_schedule, metadata_arguments

HERE = Path(__file__).parent
BUILT_IN_OPERATORS = (LIB, "opapi_transformer")
VENDOR_OPERATORS = (VENDOR / "lib", "cust_opapi")
STRICT_MEMORY = {"SFMLA_CHECK": "strict"}  # dereferencing device memory faults, as on a card
WIDTH, SCALE = 512, 512**-0.5
WINDOW_OF_128: dict[str, Any] = {"ori_mask_mode": 4, "ori_win_left": 127, "ori_win_right": 0}

pytestmark = [
    pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler"),
    pytest.mark.usefixtures("kernels_may_round_weights"),
]


def build(name: str, operators: tuple[Path, str], program: Path) -> Path:
    """Compiles with the options of the published build script; the program finds its libraries."""
    options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wl,-Bsymbolic"]
    includes = [f"-I{PREFIX / folder}" for folder in ("include", "include/aclnn")]
    folders = [operators[0], LIB]
    paths = [flag for folder in folders for flag in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    libraries = [f"-l{operators[1]}", "-lascendcl", "-lnnopbase"]
    run("c++", *options, *includes, HERE / f"{name}.cpp", *paths, *libraries, "-o", program)
    return program


def output_of(name: str, folder: Path) -> str:
    """What a program prints, the same under both link lines."""
    built_in = run(build(name, BUILT_IN_OPERATORS, folder / "built_in"))
    vendor = run(build(name, VENDOR_OPERATORS, folder / "vendor"), **STRICT_MEMORY)
    assert built_in == vendor
    return built_in


def printed(text: str, name: str) -> Array:
    found = re.findall(rf"^{name}\[(\d+)\] is: (\S+)$", text, re.MULTILINE)
    assert [int(index) for index, _ in found] == list(range(len(found)))
    return np.array([value for _, value in found], np.float32)


def printed_as(text: str, name: str, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Printed numbers in the type they had before, which loses nothing."""
    numbers = printed(text, name)
    narrow = numbers.astype(dtype)
    assert np.array_equal(narrow.astype(np.float32), numbers)
    return narrow.reshape(shape)


def mixed(number: int, index: Array) -> Array:
    """`Mixed` of example_common.h, in the same 32-bit arithmetic."""
    bits = ((index + number * 7919) * 0x9E3779B1) & 0xFFFFFFFF
    bits ^= bits >> 15
    return ((bits * 0x85EBCA77) & 0xFFFFFFFF) >> 8


def elements(number: int, dtype: Any, *shape: int) -> Array:
    index = np.arange(np.prod(shape), dtype=np.uint64)
    values = ((mixed(number, index) >> 16).astype(np.float32) - 128) / 64
    return values.astype(dtype).reshape(shape)


def int32(*values: int) -> Array:
    return np.array(values, np.int32)


def test_csa_tnd_paged(tmp_path: Path) -> None:
    text = output_of("csa_tnd_paged", tmp_path)
    rows, heads, topk = 8, 8, 64
    tokens, request_of_row = int32(17, 50, 128), [0, 0, 0, 1, 2, 2, 2, 2]
    lanes = mixed(5, np.arange(rows * topk, dtype=np.uint64)).reshape(rows, 1, topk)
    lists = (lanes % (tokens[request_of_row] + 4)[:, None, None]).astype(np.int32)
    lists[..., -8:] = -1
    call = Call(
        q=elements(1, np.float16, rows, heads, WIDTH),
        ori_kv=elements(2, np.float16, 51, 32, 1, WIDTH),
        cmp_kv=elements(3, np.float16, 24, 16, 1, WIDTH),
        cmp_sparse_indices=lists,
        ori_block_table=(50 * np.arange(51) % 51).reshape(3, 17),
        cmp_block_table=(5 * np.arange(24) % 24).reshape(3, 8),
        cu_seqlens_q=int32(0, 3, 4, 8),
        seqused_ori_kv=int32(70, 200, 515),
        seqused_cmp_kv=tokens,
        cmp_residual_kv=int32(2, 0, 3),
        sinks=elements(4, np.float32, heads),
        softmax_scale=SCALE,
        cmp_ratio=4,
        cmp_mask_mode=3,
        layout_q="TND",
        layout_kv="PA_BBND",
        **WINDOW_OF_128,
    )
    found = printed_as(text, "attn_out", np.float16, (rows, heads, WIDTH))
    assert_output_close(found, *attention(call))
    # return_softmax_lse was false: the tensor keeps what the program put there.
    assert printed(text, "softmax_lse").tolist() == [7.0] * rows * heads


def test_hca_bsnd(tmp_path: Path) -> None:
    text = output_of("hca_bsnd", tmp_path)
    requests, rows, heads = 2, 4, 8
    call = Call(
        q=elements(1, ml_dtypes.bfloat16, requests, rows, heads, WIDTH),
        ori_kv=elements(2, ml_dtypes.bfloat16, requests, 300, 1, WIDTH),
        cmp_kv=elements(3, ml_dtypes.bfloat16, requests, 2, 1, WIDTH),
        cmp_residual_kv=int32(44, 44),
        sinks=elements(4, np.float32, heads),
        softmax_scale=SCALE,
        cmp_ratio=128,
        cmp_mask_mode=3,
        **WINDOW_OF_128,
    )
    expected, expected_lse = attention(call)
    found = printed_as(text, "attn_out", ml_dtypes.bfloat16, call.q.shape)
    assert_output_close(found, expected, expected_lse)
    assert_lse_close(printed(text, "softmax_lse").reshape(expected_lse.shape), expected_lse)


def records(text: str, step: str, kind: str) -> list[dict[str, int]]:
    """The printed records of a step in the order of their cores, fields by published name."""
    lines = re.findall(rf"^{step} {kind} core (\d+):(.*)$", text, re.MULTILINE)
    assert [int(core) for core, _ in lines] == list(range({"cube": 36, "vector": 72}[kind]))
    return [
        {field: int(value) for field, value in re.findall(r"(\w+) (\d+)", fields)}
        for _, fields in lines
    ]


def fields_of(record: dict[str, int], *names: str) -> tuple[int, ...]:
    return tuple(record[name] for name in names)


def planned_call(requests: int, rows: int, tokens: int, mask: int) -> dict[str, Any]:
    """The attention that a step of metadata_records.cpp is a plan for; a plan reads no numbers."""
    number = np.float16(0)
    return {
        "q": np.broadcast_to(number, (requests, rows, 64, WIDTH)),
        "ori_kv": np.broadcast_to(number, (requests, tokens, 1, WIDTH)),
        "cmp_kv": np.broadcast_to(number, (requests, tokens // 128, 1, WIDTH)),
        "cmp_residual_kv": np.zeros(requests, np.int32),
        "cmp_ratio": 128,
        "cmp_mask_mode": 3,
        **WINDOW_OF_128,
        "ori_mask_mode": mask,
    }


STEPS = {"prefill": (4, 1024, 1024, 4), "decode": (2, 1, 8192, 3)}


def test_metadata_records(tmp_path: Path) -> None:
    text = output_of("metadata_records", tmp_path)
    for step, shape in STEPS.items():
        arguments = planned_call(*shape)
        words = sfmla_ctypes.sparse_flash_mla_metadata(**metadata_arguments(arguments))
        schedule = decode_schedule(words, sfmla_ctypes.reference.Call(**arguments))
        cube, vector = records(text, step, "cube"), records(text, step, "vector")

        found = [value for record in cube + vector for value in record.values()]
        assert found == words[:900].tolist()
        assert_valid(words, Call(**arguments))

        start, end = ("bn2_start", "m_start", "s2_start"), ("bn2_end", "m_end", "s2_end")
        enabled = {core: record for core, record in enumerate(cube) if record["enable"]}
        assert list(enabled) == [work.core for work in schedule.cores]
        for work in schedule.cores:
            assert fields_of(enabled[work.core], *start) == work.start
            assert fields_of(enabled[work.core], *end) == work.end

        merging = {core: record for core, record in enumerate(vector) if record["enable"]}
        assert list(merging) == [merge.vector_core for merge in schedule.merges]
        for merge in schedule.merges:
            record = merging[merge.vector_core]
            assert fields_of(record, "bn2_idx", "m_idx") == (merge.request, merge.row)
            slots = fields_of(record, "workspace_idx", "workspace_num")
            assert slots == (merge.first_slot, merge.slots)
            assert fields_of(record, "m_start", "m_num") == (merge.first_head, merge.heads)
        assert bool(merging) == (step == "decode")
