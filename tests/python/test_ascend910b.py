# SPDX-License-Identifier: Apache-2.0
"""The emulated device: the Ascend C kernel through the same calls as on the CPU.

What the emulator itself checks is tested in tests/unit/sim, the kernel over seeds and plans in
tests/kernels; here is the whole path, for chosen calls. ``SFMLA_SIM_SEEDS`` asks for more schedules
than two. test_ascend910b_matrix.py has every pair of settings.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ascend910b_cases import CHOSEN
from ascend910b_runs import Outputs, assert_right, assert_same, on_device, run

SEEDS = range(int(os.environ.get("SFMLA_SIM_SEEDS", "2")))
CORES = (1, 2, 5, 24)
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def program_order(tmp_path_factory: pytest.TempPathFactory) -> list[Outputs]:
    """On 24 cores, every instruction as early as its flags allow."""
    return run(CHOSEN, tmp_path_factory.mktemp("order"), 24, 0)


@pytest.mark.parametrize("index", range(len(CHOSEN)), ids=[str(case) for case in CHOSEN])
def test_numbers(program_order: list[Outputs], index: int) -> None:
    assert_right(CHOSEN[index], program_order[index])


@pytest.mark.parametrize("cores", CORES)
def test_bits_over_cores_and_seeds(
    program_order: list[Outputs], tmp_path: Path, cores: int
) -> None:
    for seed in SEEDS:
        found = run(CHOSEN, tmp_path, cores, seed)
        for case, bits, expected in zip(CHOSEN, found, program_order, strict=True):
            assert_same(case, bits, expected)


def test_device_tells_its_name_and_cores() -> None:
    ask = "from sfmla_ctypes import Device; print(Device().name, *Device().cores)"
    assert on_device("-c", ask).stdout == "Ascend910B2 24 48\n"
    assert on_device("-c", ask, SFMLA_SIM_CORES="5").stdout == "Ascend910B2 5 10\n"


def test_rules_of_the_product_refuse() -> None:
    command = f"import sys; sys.path[:0] = {[str(TESTS), str(TESTS / 'python')]}\n" + (
        "from operator_calls import attend\n"
        "from reference.cases import Case, build\n"
        "attend(build(Case(heads=12)))\n"
    )
    done = on_device("-c", command)
    assert "AclParamError" in done.stderr
    assert "must be a power of two" in done.stderr


FAULTS = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/python"]
from ascend910b_cases import CHOSEN
from operator_calls import attend, plan
import sfmla_ctypes

good = CHOSEN[0].call()
bits = attend(good)[0].tobytes()
bad = CHOSEN[0].call()
bad.ori_block_table[2, :] = 1 << 20
for call, metadata in ((bad, None), (good, plan(CHOSEN[3].call()))):
    try:
        attend(call, metadata)
    except sfmla_ctypes.AclError as error:
        print(error.code, error)
    assert attend(good)[0].tobytes() == bits
"""


def test_faults_reach_the_caller_and_the_next_call_works() -> None:
    done = on_device("-c", FAULTS.format(tests=str(TESTS)))
    assert done.returncode == 0, done.stderr[-3000:]
    page, plan = done.stdout.splitlines()
    assert page.startswith("507015 ")
    # Core, pipe, instruction, place in the kernel, what was wrong.
    assert "aclnnSparseFlashMla: AIC" in page
    assert " S ascendc_assert at key_loader.h:" in page
    assert "ori_block_table[2, 4]: page 1048576, must be in [0, " in page
    assert plan.startswith("507018 ")
    assert "metadata: was built for" in plan


OTHERS = """
import sfmla_ctypes, numpy as np
q = np.zeros((1, 4, 512), np.float16)
try:
    sfmla_ctypes.sparse_attn_sharedkv(
        q[None], ori_kv=q[None, :, :1], sinks=np.zeros(4, np.float32), softmax_scale=1.0,
        metadata=np.zeros(1024, np.int32), ori_mask_mode=4, ori_win_left=127, ori_win_right=0,
        layout_q="BSND", layout_kv="BSND")
except sfmla_ctypes.AclError as error:
    print(error.code, error)
try:
    sfmla_ctypes.sparse_flash_attention(
        q, q[:, :1], q[:, :1], np.zeros((1, 1, 1), np.int32), 1.0, query_rope=q[..., :64].copy(),
        key_rope=q[:, :1, :64].copy(), actual_seq_lengths_query=np.ones(1, np.int32),
        actual_seq_lengths_kv=np.ones(1, np.int32), layout_query="TND", layout_kv="TND")
except sfmla_ctypes.AclError as error:
    print(error.code, error)
"""


def test_operators_without_a_kernel_are_refused_in_phase_one() -> None:
    done = on_device("-c", OTHERS)
    assert done.returncode == 0, done.stderr[-3000:]
    refusals = done.stdout.splitlines()
    assert len(refusals) == 2
    for refusal, name in zip(refusals, ("SparseAttnSharedkv", "SparseFlashAttention"), strict=True):
        assert refusal.startswith("561003 ")
        assert "the device Ascend910B2 has no kernel of it, SFMLA_DEVICE must be cpu" in refusal
        assert f"aclnn{name}" in refusal


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SFMLA_RULES", "cpu"),
        ("SFMLA_SIM_CORES", "37"),
        ("SFMLA_SIM_SEED", "-1"),
        ("SFMLA_SIM_CHECKS", "maybe"),
        ("SFMLA_DEVICE", "ascend310"),
    ],
)
def test_settings_that_mean_nothing_are_refused(variable: str, value: str) -> None:
    ask = "import sfmla_ctypes; sfmla_ctypes.Device().memory_info()"
    done = on_device("-c", ask, **{variable: value})
    assert done.returncode != 0
    assert f"environment variable {variable}: '{value}', must be" in done.stderr
