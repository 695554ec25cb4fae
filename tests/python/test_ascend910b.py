# SPDX-License-Identifier: Apache-2.0
"""The emulated device: the Ascend C kernel through the same calls as on the CPU.

What the emulator itself checks is tested in tests/unit/sim, the kernel over seeds and plans in
tests/kernels; here is the whole path. ``SFMLA_SIM_SEEDS`` asks for more schedules than two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ascend910b_worker import CASES

from reference.attention import attention
from reference.cases import DTYPES, build
from reference.compare import UNIT_ROUNDOFF, assert_lse_close, half_ulp, score_error

WORKER = Path(__file__).with_name("ascend910b_worker.py")
SEEDS = range(int(os.environ.get("SFMLA_SIM_SEEDS", "2")))
CORES = (1, 2, 5, 24)
Outputs = dict[str, np.ndarray]


def on_device(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"SFMLA_DEVICE": "ascend910b"} | environment
    return subprocess.run(
        [sys.executable, *command], env=variables, capture_output=True, text=True, check=False
    )


def run(folder: Path, cores: int, seed: int) -> Outputs:
    file = folder / f"{cores}-{seed}.npz"
    indices = [str(index) for index in range(len(CASES))]
    done = on_device(
        WORKER, str(file), *indices, SFMLA_SIM_CORES=str(cores), SFMLA_SIM_SEED=str(seed)
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(np.load(file))


@pytest.fixture(scope="module")
def program_order(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """On 24 cores, every instruction as early as its flags allow."""
    return run(tmp_path_factory.mktemp("order"), 24, 0)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[str(case) for case in CASES])
def test_numbers(program_order: Outputs, index: int) -> None:
    call = build(CASES[index])
    expected, expected_lse = attention(call)
    found = program_order[f"out{index}"].view(DTYPES[CASES[index].dtype]).astype(np.float64)
    assert_lse_close(program_order[f"lse{index}"], expected_lse)
    assert not np.isnan(found).any()
    assert (found[~expected.any(axis=-1)] == 0).all()
    # The kernel rounds probabilities to the type of q before the second product: an error of at
    # most the unit roundoff of the largest value there is.
    dtype = CASES[index].dtype
    caches = [cache for cache in (call.ori_kv, call.cmp_kv) if cache is not None]
    largest = max(float(np.nanmax(np.abs(cache.astype(np.float64)))) for cache in caches)
    row_error = UNIT_ROUNDOFF[dtype] * largest + score_error(expected_lse).reshape(
        expected.shape[:-1]
    ) * np.abs(expected).max(axis=-1)
    assert (np.abs(found - expected) <= half_ulp(expected, dtype) + row_error[..., None]).all()


@pytest.mark.parametrize("cores", CORES)
def test_bits_over_cores_and_seeds(program_order: Outputs, tmp_path: Path, cores: int) -> None:
    for seed in SEEDS:
        found = run(tmp_path, cores, seed)
        assert found.keys() == program_order.keys()
        for name, bits in found.items():
            assert np.array_equal(bits, program_order[name]), (name, cores, seed)


def test_device_tells_its_name_and_cores() -> None:
    ask = "from sfmla_ctypes import Device; print(Device().name, *Device().cores)"
    assert on_device("-c", ask).stdout == "Ascend910B2 24 48\n"
    assert on_device("-c", ask, SFMLA_SIM_CORES="5").stdout == "Ascend910B2 5 10\n"


def test_rules_of_the_product_refuse() -> None:
    command = f"import sys; sys.path[:0] = {[str(WORKER.parents[1]), str(WORKER.parent)]}\n" + (
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
from ascend910b_worker import CASES
from operator_calls import attend, plan
from reference.cases import build
import numpy as np
import sfmla_ctypes

good = build(CASES[0])
bits = attend(good)[0].tobytes()
bad = build(CASES[0])
bad.ori_block_table[2, :] = 1 << 20
for call, metadata in ((bad, None), (good, plan(build(CASES[3])))):
    try:
        attend(call, metadata)
    except sfmla_ctypes.AclError as error:
        print(error.code, error)
    assert attend(good)[0].tobytes() == bits
"""


def test_faults_reach_the_caller_and_the_next_call_works() -> None:
    tests = str(Path(__file__).parents[1])
    done = on_device("-c", FAULTS.format(tests=tests))
    assert done.returncode == 0, done.stderr[-3000:]
    page, plan = done.stdout.splitlines()
    assert page.startswith("507015 ")
    # Core, pipe, instruction, place in the kernel, what was wrong.
    assert "aclnnSparseFlashMla: AIC" in page
    assert " MTE2 DataCopy at key_loader.h:" in page
    assert "the tensor has 0" in page
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
