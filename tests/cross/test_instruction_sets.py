# SPDX-License-Identifier: Apache-2.0
"""The case matrices and the bit rules on every instruction set, AArch64's under qemu-user, AMX in
software.

The tests of tests/python run on the instruction set that the library picks; here they run in call
servers with each. SFMLA_MATRIX=all runs every case on every set of this processor, not a third of
them, and every rule, on one set in turn. Under qemu the cases of limited size and all rules run,
on two sets in turn. AMX in software gets a sixth of the cases, or half of them.
"""

import operator
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import test_invariance as flash_mla_bits
import test_matrix as flash_mla
import test_sparse_attn_sharedkv as sharedkv
import test_sparse_flash_attention as flash
from operator_calls import FEW_AND_MANY

from cpp_builds import VARIANTS, build
from cross.instruction_sets import (
    Servers,
    all_servers,
    instruction_sets,
    on_each,
    server_of,
)
from reference.cases import MODES
from reference.sparse_attn_sharedkv_cases import MODES as SHARED_KV_MODES

ALL = os.environ.get("SFMLA_MATRIX") == "all"
QEMU_AARCH64 = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu"]
# A processor with all instruction sets.
SVE256 = [*QEMU_AARCH64, "max,sve-max-vq=2"]
# (Query row, head, token) triples that a case may have under qemu. Five cases of six have no more;
# long prompts with many heads are left out.
QEMU_TRIPLES = 100_000

CASES: dict[str, tuple[Callable[[Any], None], Any]] = {
    f"{name}-{case}": (check, case)
    for name, check, cases in (
        ("smla", flash_mla.test_numpy_arrays, flash_mla.CASES),
        ("sas", sharedkv.test_every_row_and_head_against_the_oracle, sharedkv.CASES),
        ("sfa", flash.test_every_row_and_head_against_the_oracle, flash.CASES),
    )
    for case in cases
}


def bit_rules(few: int, many: int) -> list[tuple[Any, ...]]:
    """A row alone has the bits it has among others, with so many heads as have products of their
    own, and with more."""
    heads = (few, many)
    one_by_one = flash_mla_bits.test_bl_34_rows_one_by_one_equal_rows_together
    shared_kv_alone = sharedkv.test_a_request_alone_and_in_a_batch
    return [
        *((one_by_one, mode, count) for mode in MODES for count in heads),
        (flash_mla_bits.test_bl_28_interleaved_rows_as_requests_of_their_own,),
        (flash_mla_bits.test_bl_61_a_request_without_rows_changes_nothing,),
        *((shared_kv_alone, mode, count) for mode in SHARED_KV_MODES for count in heads),
        *((flash.test_rows_one_by_one_equal_rows_together, "bfloat16", count) for count in heads),
        (flash.test_rows_one_by_one_equal_rows_together, "float16", many),
        *((flash.test_a_request_alone_and_in_a_batch, 1, "finite", count) for count in heads),
    ]


BIT_RULES = bit_rules(*FEW_AND_MANY)
FEW_AND_MANY_EMULATED = (4, 16)  # that is slow
SMALL_BIT_RULES = bit_rules(*FEW_AND_MANY_EMULATED)
PROCESSORS = [
    ("plain", ["qemu-x86_64", "-cpu", "Nehalem"], ["generic"]),
    ("plain", ["qemu-x86_64", "-cpu", "Haswell"], ["avx2", "generic"]),
    ("aarch64", [*QEMU_AARCH64, "cortex-a57"], ["neon", "generic"]),
    # SVE of 512, then of 128 bits.
    ("aarch64", [*QEMU_AARCH64, "max"], ["neonbf16", "neon", "generic"]),
    ("aarch64", [*QEMU_AARCH64, "max,sve-max-vq=1"], ["neonbf16", "neon", "generic"]),
    ("aarch64", SVE256, ["sve256bf16", "neonbf16", "sve256", "neon", "generic"]),
    ("aarch64", [*QEMU_AARCH64, "a64fx,sve512=off"], ["sve256", "neon", "generic"]),
]


def triples(name: str) -> int:
    _, case = CASES[name]
    return int(case.heads * sum(map(operator.mul, case.rows, case.tokens)))


SMALL_CASES = [name for name in CASES if triples(name) <= QEMU_TRIPLES]


def call_server(variant: str) -> str:
    """The program of a build, which is made first."""
    return str(build(variant) / "tests" / "sfmla_call_server")


@pytest.fixture(scope="module")
def here() -> Iterator[Servers]:
    with all_servers([call_server("plain")]) as servers:
        yield servers


@pytest.fixture(scope="module")
def aarch64() -> Iterator[Servers]:
    with all_servers([*SVE256, call_server("aarch64")]) as servers:
        yield servers


@pytest.fixture(scope="module")
def amx() -> Iterator[Servers]:
    command = [call_server("amx")]
    if "amxfp16" not in instruction_sets(command):
        pytest.skip("AMX in software needs AVX512-BF16")
    # Its products of bfloat16 are those of amxbf16.
    server = server_of(command, "amxfp16")
    yield {"amxfp16": server}
    server.close()


on_amx = pytest.mark.skipif("amx" not in VARIANTS, reason="SFMLA_TEST_VARIANTS")
on_aarch64 = pytest.mark.skipif("aarch64" not in VARIANTS, reason="SFMLA_TEST_VARIANTS")


def in_turn(servers: Servers, number: int, count: int) -> Servers:
    """The `count` servers of test `number`."""
    isas = list(servers)
    if not ALL:
        isas = [isas[i % len(isas)] for i in range(number * count, (number + 1) * count)]
    return {isa: servers[isa] for isa in isas}


@pytest.mark.parametrize(("number", "name"), list(enumerate(list(CASES)[:: 1 if ALL else 3])))
def test_matrix_on_this_processor(here: Servers, number: int, name: str) -> None:
    on_each(in_turn(here, number, 1), *CASES[name])


@pytest.mark.parametrize("number", range(len(BIT_RULES)))
def test_bits_on_this_processor(here: Servers, number: int) -> None:
    on_each(in_turn(here, number, 1), *BIT_RULES[number])


@on_amx
@pytest.mark.parametrize("name", list(CASES)[:: 2 if ALL else 6])
def test_matrix_with_amx_in_software(amx: Servers, name: str) -> None:
    on_each(amx, *CASES[name])


@on_amx
@pytest.mark.parametrize("number", range(len(SMALL_BIT_RULES)))
def test_bits_with_amx_in_software(amx: Servers, number: int) -> None:
    on_each(amx, *SMALL_BIT_RULES[number])


@on_amx
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_weights_with_amx_in_software(amx: Servers, dtype: str) -> None:
    small_weights = flash.test_what_small_weights_leave_beside_a_token_of_nearly_all_weight
    on_each(amx, small_weights, dtype, 4)


@on_aarch64
@pytest.mark.parametrize(("number", "name"), list(enumerate(SMALL_CASES)))
def test_matrix_on_aarch64(aarch64: Servers, number: int, name: str) -> None:
    on_each(in_turn(aarch64, number, 2), *CASES[name])


@on_aarch64
@pytest.mark.parametrize("number", range(len(SMALL_BIT_RULES)))
def test_bits_on_aarch64(aarch64: Servers, number: int) -> None:
    on_each(in_turn(aarch64, number, 2), *SMALL_BIT_RULES[number])


@on_aarch64
def test_the_number_of_threads_changes_no_bit_on_aarch64() -> None:
    digests = []
    for threads in (1, 7):
        server = server_of([*SVE256, call_server("aarch64")], threads=threads)
        with server.serves():
            digests.append(sharedkv.digests(FEW_AND_MANY_EMULATED))
        server.close()
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("variant", "emulator", "expected"), PROCESSORS, ids=[cpu[-1] for _, cpu, _ in PROCESSORS]
)
def test_other_processors(variant: str, emulator: list[str], expected: list[str]) -> None:
    """Each has the kernels it can run, and nothing else needs instructions that it lacks."""
    if variant not in VARIANTS or shutil.which(emulator[0]) is None:
        pytest.skip(f"no build {variant} or no {emulator[0]}")
    if variant == "plain" and platform.machine() != "x86_64":
        pytest.skip("for x86-64")
    command = [*emulator, call_server(variant)]
    assert instruction_sets(command) == expected
    server = server_of(command)  # which picks the best
    for name in SMALL_CASES[::40]:
        on_each({expected[0]: server}, *CASES[name])
    server.close()
