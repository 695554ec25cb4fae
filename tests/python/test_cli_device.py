# SPDX-License-Identifier: Apache-2.0
"""The command sfmla on the emulated device. Every command is a process of its own, because the
library reads its settings once."""

import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sfmla_ctypes import AclDeviceError, Device
from sfmla_ctypes.case_files import load_case, save_arrays
from sfmla_ctypes.cli import main
from sfmla_ctypes.plots import busy_times

SMALL = ["--batch", "2", "--query-tokens", "2", "--kv-tokens", "90,700", "--heads", "16"]
PROGRAM = "from sfmla_ctypes.cli import main; main()"


def sfmla(*words: object, exit_code: int = 0, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if exit_code != 2 else done.stderr


@pytest.fixture(scope="module")
def case_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("case") / "case.npz"
    sfmla("case", "v4-flash-csa-decode", "-o", path, *SMALL, "--topk", 20, "--page-tokens", 32)
    return path


def test_demo_verifies_three_modes_on_the_emulated_device() -> None:
    lines = json.loads(sfmla("demo", "--device", "ascend910b", "--json", "--no-plot"))
    assert all(line["is_emulated"] for line in lines)
    names = [(line["mode"], line["phase"]) for line in lines]
    assert names == [(m, p) for p in ("decode", "prefill") for m in ("SWA", "CSA", "HCA")]
    assert all(line["ok"] for line in lines)


def test_run_takes_the_device_from_option_or_variable(case_file: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / name for name in ("option.npz", "variable.npz", "cpu.npz")]
    words = ["run", case_file, "--reference", "-o"]
    assert "GFLOP/s (of the emulator)" in sfmla(*words, outputs[0], "--device", "ascend910b")
    sfmla(*words, outputs[1], SFMLA_DEVICE="ascend910b")
    sfmla(*words, outputs[2], "--device", "cpu", SFMLA_DEVICE="ascend910b")
    option, variable, cpu = (np.load(path)["attn_out"] for path in outputs)
    assert np.array_equal(option, variable)
    # The kernels differ in the order of sums.
    assert not np.array_equal(option, cpu)


def test_info_names_device_cores_and_rules() -> None:
    words = ["info", "--device", "ascend910b", "--json"]
    facts = json.loads(sfmla(*words, SFMLA_SIM_CORES="5"))
    assert [facts[name] for name in ("device", "rules", "cube_cores", "vector_cores")] == [
        "Ascend910B2",
        "ascend910b",
        5,
        10,
    ]
    assert facts["settings"]["SFMLA_SIM_CORES"] == "5"
    assert json.loads(sfmla("info", "--json", SFMLA_RULES="ascend950"))["rules"] == "ascend950"


def test_a_device_that_came_too_late_is_refused() -> None:
    assert Device().name == "HostCPU"
    before = os.environ.get("SFMLA_DEVICE")
    found = CliRunner().invoke(main, ["info", "--device", "ascend910b"])
    assert found.exit_code == 2
    assert "--device: ascend910b, but this process already runs on HostCPU" in found.stderr
    assert os.environ.get("SFMLA_DEVICE") == before


def test_sim_runs_a_file_over_seeds_and_traces(case_file: Path, tmp_path: Path) -> None:
    trace, picture = tmp_path / "trace.json", tmp_path / "trace.svg"
    words = [case_file, "--seeds", 3, "--cores", 2, "--trace", trace, "--plot", picture]
    runs = json.loads(sfmla("sim", *words, "--json"))
    assert [run["seed"] for run in runs] == [0, 1, 2]
    for run in runs:
        assert run["ok"]
        assert run["fault"] is None
        assert run["same_bits"]
        assert [verdict["output"] for verdict in run["verdicts"]] == ["attn_out", "softmax_lse"]
        # 2 requests, 2 rows, 16 heads.
        assert all(verdict["judged"] == 64 for verdict in run["verdicts"])
    events = json.loads(trace.read_text())
    assert_is_trace_event_format(events)
    assert_pipes_overlap(events)
    assert_busy_times(events)
    drawn = picture.read_text()
    # Of ten pipes, the first two cores' all work; matplotlib notes texts as comments.
    assert all(f"<!-- AIC0 {pipe} -->" in drawn for pipe in ("MTE2", "MTE1", "M", "FIX"))
    assert all(f"<!-- AIV{n} {pipe} -->" in drawn for n in (0, 1) for pipe in ("MTE2", "V", "MTE3"))


def assert_is_trace_event_format(trace: dict[str, Any]) -> None:
    """The JSON object format of the public document "Trace Event Format", which Perfetto imports.

    Perfetto drops slices of a track that overlap without being nested; a pipe does one thing at a
    time, so slices do not overlap at all. And it merges tracks: of thread 0, of a thread with the
    number of its process, and of the same thread in two processes.
    """
    assert trace["displayTimeUnit"] in ("ms", "ns")
    labelled, slices = set(), []
    for event in trace["traceEvents"]:
        assert type(event["name"]) is str
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert type(event["args"]) is dict
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert type(event["args"]["name"]) is str
            labelled.add((event["name"], event["pid"], event["tid"]))
        else:
            assert event["ph"] == "X"
            assert type(event["ts"]) is int
            assert type(event["dur"]) is int
            assert event["dur"] >= 0
            track = event["pid"], event["tid"]
            slices.append((track, event["ts"], event["ts"] + event["dur"]))
    assert {pid for (pid, _), _, _ in slices} <= {
        pid for name, pid, _ in labelled if name == "process_name"
    }
    assert all(("thread_name", *track) in labelled for track, _, _ in slices)
    tracks = {(pid, tid) for _, pid, tid in labelled}
    assert all(pid > 0 and tid > 0 and pid != tid for pid, tid in tracks)
    assert len({tid for _, tid in tracks}) == len(tracks)
    slices.sort()
    for (track, _, end), (next_track, begin, _) in itertools.pairwise(slices):
        assert begin >= end or track != next_track


def assert_busy_times(trace: dict[str, Any]) -> None:
    """They are the sums of the slices, whose tracks the format numbers by core and pipe."""
    ticks: dict[str, int] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == 1:
            name = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")[event["tid"] - 11]
            ticks[name] = ticks.get(name, 0) + event["dur"]
    for (core, pipe), times in busy_times(trace).items():
        assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(times))
        if core == "AIC0":
            assert sum(end - begin for begin, end in times) == ticks[pipe]


def assert_pipes_overlap(trace: dict[str, Any]) -> None:
    """Cube, vector and copy pipes work in the same tick, and copies beside products of one core."""
    names = {
        (event["pid"], event.get("tid") if event["name"] == "thread_name" else None): event["args"]
        for event in trace["traceEvents"]
        if event["ph"] == "M"
    }
    cores = {pid: label["name"] for (pid, tid), label in names.items() if tid is None}
    assert sorted(cores.values()) == ["AIC0", "AIC1", "AIV0", "AIV1", "AIV2", "AIV3"]
    busy: dict[tuple[str, str], set[int]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] != "X":
            continue
        track = cores[event["pid"]], names[event["pid"], event["tid"]]["name"]
        assert ":" in event["args"]["site"]
        busy.setdefault(track, set()).update(range(event["ts"], event["ts"] + event["dur"]))
    groups = [(f"AIC{n}", (f"AIV{2 * n}", f"AIV{2 * n + 1}")) for n in range(2)]
    assert any(busy[cube, "M"] & busy[cube, "MTE1"] for cube, _ in groups)
    assert any(busy[cube, "M"] & busy[vector, "MTE2"] for cube, pair in groups for vector in pair)
    assert any(busy[cube, "M"] & busy[vector, "V"] for cube, pair in groups for vector in pair)


@pytest.mark.parametrize("mode", ["swa", "ori-sparse"])
def test_sim_takes_a_name_and_prints_a_table(mode: str) -> None:
    words = [f"v4-flash-{mode}-decode", *SMALL, "--seeds", 2, "--no-checks"]
    lines = [line.split() for line in sfmla("sim", *words).splitlines()]
    rows = [words for words in lines if words and words[0] in ("0", "1")]
    assert [(row[1], row[2], row[4]) for row in rows] == [("none", "ok", "same")] * 2


def test_sim_shows_faults_and_fails(case_file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.npz"
    arguments = load_case(case_file)
    arguments["ori_block_table"][:] = 1 << 20
    save_arrays(bad, arguments)
    runs = json.loads(sfmla("sim", bad, "--seeds", 2, "--json", exit_code=1))
    assert [run["ok"] for run in runs] == [False, False]
    assert all("ascendc_assert at key_loader.h:" in run["fault"] for run in runs)
    picture = tmp_path / "none.svg"
    found = sfmla("sim", bad, "--seeds", 1, "--plot", picture, exit_code=1)
    assert "\nseed 0: aclnnSparseFlashMla: " in found
    assert "wrote" not in found
    assert not picture.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["absent.npz"], "absent.npz: no such file"),
        (["v4-flash-swa-decode", "--heads", "12"], "must be a power of two"),
        (["v4-flash-ori-cmp-sparse-decode"], "given together with cmp_kv, must be used alone"),
        (["v3.2-sfa-decode"], "sparse_flash_attention has no kernel for emulated cores, must be"),
        (
            ["v4-flash-swa-decode", "--operator", "sparse_attn_sharedkv"],
            "sparse_attn_sharedkv has no kernel for emulated cores, must be sparse_flash_mla\n",
        ),
        (["v4-flash-swa-decode", "--cores", "37"], "37 is not in the range 1<=x<=36"),
        (["v4-flash-swa-decode", "--plot", "trace.txt"], "suffix '.txt', must be one of"),
    ],
)
def test_sim_refuses(words: list[str], sentence: str) -> None:
    assert sentence in sfmla("sim", *words, exit_code=2)


def test_run_refuses_an_operator_without_an_emulated_kernel() -> None:
    words = ["run", "v3.2-sfa-decode", "--device", "ascend910b"]
    assert "sparse_flash_attention has no kernel for emulated" in sfmla(*words, exit_code=2)


def test_sim_refuses_sizes_for_a_file(case_file: Path) -> None:
    assert "--heads: given with the file" in sfmla("sim", case_file, "--heads", 8, exit_code=2)


def test_sim_fails_on_bits_that_depend_on_the_seed(
    case_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = sys.modules["sfmla_ctypes.cli.sim"]
    honest = sim._in_own_process

    def dishonest(operator: str, arguments: Any, settings: dict[str, str]) -> Any:
        outputs, fault = honest(operator, arguments, settings)
        if settings["SFMLA_SIM_SEED"] == "1":
            outputs["attn_out"].view(np.uint16)[0, 0, 0] ^= 1
        if settings["SFMLA_SIM_SEED"] == "2":
            outputs["attn_out"][0, 0, 0] += 1
        return outputs, fault

    monkeypatch.setattr(sim, "_in_own_process", dishonest)
    found = CliRunner().invoke(main, ["sim", str(case_file), "--seeds", "3", "--json"])
    assert found.exit_code == 1
    runs = json.loads(found.stdout)
    assert [run["same_bits"] for run in runs] == [True, False, False]
    assert [run["verdicts"][0]["ok"] for run in runs] == [True, True, False]


def test_faults_cross_processes_whole() -> None:
    error = AclDeviceError(507015, "aclrtSynchronizeStream", "a sentence", "a report")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args) == (type(error), error.args)
