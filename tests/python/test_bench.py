# SPDX-License-Identifier: Apache-2.0
"""``sfmla bench``: what it computes from times, and one tiny run. No time decides a test."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_samples import report_of, samples
from click.testing import CliRunner, Result

from reference.compare import ROUNDED_WEIGHTS
from sfmla_ctypes import DeviceArray, toolkit_path
from sfmla_ctypes.bench import campaign, peer_numpy, peer_slabs, workloads
from sfmla_ctypes.bench.checking import OWN_LIMIT, PEER_LIMIT, checked_error
from sfmla_ctypes.bench.compare import compare, load_base
from sfmla_ctypes.bench.engine_peer import PeerEngine
from sfmla_ctypes.bench.engine_sfmla import SfmlaEngine
from sfmla_ctypes.bench.probes import BenchError, fma_peak, instruction_set
from sfmla_ctypes.bench.results import speedup_of, summarize
from sfmla_ctypes.bench.roofline import MARKERS, roof, save_roofline
from sfmla_ctypes.bench.sweeps import AXES, Axis, find_cliffs, summarize_sweep
from sfmla_ctypes.bench.workloads import WORKLOADS, Shape, Workload
from sfmla_ctypes.cli import main
from sfmla_ctypes.plots import PlotError
from sfmla_ctypes.reference import sparse_flash_mla as reference_attention

TINY = Shape(2, 3, 300, heads=4, topk=20, cmp_ratio=4, page_tokens=32)
WINDOW = Shape(1, 5, 140, heads=2)
SHARED = replace(TINY, operator="sparse_attn_sharedkv")
FLASH = Shape(2, 3, 300, heads=4, topk=40, page_tokens=32, operator="sparse_flash_attention")


def bench(*words: object, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["bench", *map(str, words)])
    assert result.exit_code == exit_code, (result.output, result.exception)
    return result


# Calls that are measured.


def test_work_counts_attended_keys_and_each_row_once() -> None:
    work = workloads.measure_work(WINDOW, workloads.build(WINDOW, "bfloat16"))
    assert work.flop == 5 * 128 * 2 * 4 * 512
    assert work.kv_bytes == (128 + 4) * 1024  # windows of neighbours overlap
    assert work.moved_bytes == work.kv_bytes + 2 * 5 * 2 * 512 * 2


def test_work_of_the_other_operators() -> None:
    work = workloads.measure_work(SHARED, workloads.build(SHARED, "bfloat16"))
    assert work == workloads.measure_work(TINY, workloads.build(TINY, "bfloat16"))
    arguments = workloads.build(FLASH, "bfloat16")
    assert arguments["value"] is arguments["key"]
    work = workloads.measure_work(FLASH, arguments)
    assert work.flop == 6 * 40 * 4 * 2 * (576 + 512)
    listed = [np.unique(arguments["sparse_indices"][i : i + 3]).size for i in (0, 3)]
    assert work.kv_bytes == sum(listed) * 576 * 2


def test_gaps_and_wide_tables_are_as_wide_as_they_say() -> None:
    plain = workloads.build(TINY, "float16")
    shape = replace(TINY, table_factor=3, page_stride_factor=2)
    spread = workloads.build(shape, "float16")
    assert spread["ori_kv"].shape == plain["ori_kv"].shape
    assert spread["ori_kv"].strides[0] == 2 * plain["ori_kv"].strides[0]
    assert spread["ori_block_table"].shape[1] == 3 * plain["ori_block_table"].shape[1]
    # Loading checks rows against the reference.
    assert SfmlaEngine().load(shape, "float16").work.flop == 6 * (128 + 20) * 4 * 4 * 512


def test_an_array_that_serves_twice_is_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[Any] = []
    from_numpy = DeviceArray.from_numpy

    def recorded(array: Any) -> DeviceArray:
        copied.append(array)
        return from_numpy(array)

    monkeypatch.setattr(DeviceArray, "from_numpy", recorded)
    SfmlaEngine().load(FLASH, "bfloat16")  # the key is the value
    assert len(copied) == len({id(array) for array in copied}) == 9


@pytest.mark.parametrize(
    "shape", [TINY, WINDOW, Shape(2, 2, 700, heads=1, cmp_ratio=128), SHARED, FLASH]
)
def test_a_row_alone_answers_as_in_its_call(shape: Shape) -> None:
    arguments = workloads.build(shape, "bfloat16")
    reference = workloads.operator_of(shape).reference
    whole = reference(**arguments)[0]
    for row in range(len(whole)):
        alone = reference(**workloads.only_row(shape, arguments, row))[0]
        np.testing.assert_array_equal(alone[0], whole[row])


def test_a_long_context_keeps_only_the_pages_of_windows() -> None:
    arguments = workloads.build(Shape(2, 1, 1 << 20, heads=1, cmp_ratio=128), "bfloat16")
    assert arguments["ori_kv"].shape == (1 + 2 * 1, 128, 1, 512)
    assert arguments["cmp_kv"].shape[0] == 1 + 2 * 64


def test_a_wrong_row_is_not_timed() -> None:
    arguments = workloads.build(WINDOW, "bfloat16")
    found = reference_attention(**arguments)[0].astype(arguments["q"].dtype)
    assert checked_error("x", WINDOW, arguments, found, OWN_LIMIT["bfloat16"]) > 0
    found[4, 1, 7] = np.nan  # in the last of the rows that are looked at
    with pytest.raises(BenchError, match=r"^x: largest relative error nan, must be at most"):
        checked_error("x", WINDOW, arguments, found, OWN_LIMIT["bfloat16"])


# Peers.


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("shape", [TINY, WINDOW, FLASH])
@pytest.mark.parametrize("cut", [peer_slabs.gathered, peer_slabs.shared])
@pytest.mark.parametrize("tokens", [1, 2, 16])
def test_every_cut_gives_the_answer(shape: Shape, dtype: str, cut: Any, tokens: int) -> None:
    arguments = workloads.build(shape, dtype)
    inputs = peer_slabs.peer_inputs(shape, arguments)
    peer = peer_numpy.NumpyPeer(inputs)
    for slab in cut(inputs, tokens):
        for bind in peer.tasks().values():
            bind(slab)()
    checked_error("numpy", shape, arguments, peer.output(), PEER_LIMIT[dtype])


@pytest.mark.parametrize("shape", [TINY, FLASH])
def test_torch_gives_the_answer(shape: Shape) -> None:
    pytest.importorskip("torch", reason="the peer PyTorch is not installed")
    from sfmla_ctypes.bench.peer_torch import TorchPeer

    loaded = PeerEngine(TorchPeer, TorchPeer.describe).load(shape, "bfloat16")
    products = {name.split()[0] for name in loaded.candidates}
    assert products & {"torch-sdpa-float32", "torch-matmul-float32"}


def test_lists_over_a_long_prefix_are_not_shared() -> None:
    long = Shape(1, 16, 16384, heads=1, topk=64, cmp_ratio=4)
    inputs = peer_slabs.peer_inputs(long, workloads.build(long, "bfloat16"))
    assert not peer_slabs.is_worth_sharing(inputs, 16)
    inputs = peer_slabs.peer_inputs(WINDOW, workloads.build(WINDOW, "bfloat16"))
    assert peer_slabs.is_worth_sharing(inputs, 5)
    assert not peer_slabs.is_worth_sharing(inputs, 6)  # more than a request has


def test_only_the_torch_worker_imports_torch() -> None:
    code = "import sys, sfmla_ctypes.bench.worker as w, sfmla_ctypes.cli; w.make_engine('numpy'); "
    code += "print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# From rounds to results.


def test_results_are_medians_of_ratios() -> None:
    own = samples("sfmla", [20.0, 10.0, 40.0])
    peers = [
        samples("slow-float32 gathered 1", [40.0, 40.0, 80.0]),
        samples("fast", [10.0, 20.0, 60.0]),
    ]
    result = summarize("w", own, peers, 0.6, 1.4)
    assert result.seconds == 20
    assert result.fraction_of_peak == pytest.approx(1000 / 20 / 100)
    assert result.gflop_per_second == pytest.approx(50e-9)
    assert [peer.name for peer in result.peers] == ["fast", "slow-float32 gathered 1"]
    assert result.best_peer is result.peers[0]
    assert result.peers[0].ratio == pytest.approx(1.5)  # of 0.5, 2 and 1.5
    assert result.precise_peer is result.peers[1]
    assert result.peers[1].ratio == pytest.approx(2.0)


def test_two_threads_count_wall_time_and_two_peaks() -> None:
    result = summarize("w", samples("sfmla", [10.0], threads=2), [], None, None)
    assert result.seconds == 20
    assert result.fraction_of_peak == pytest.approx(1000 / 20 / 200)
    assert result.best_peer is None
    assert result.precise_peer is None


def test_speedup_pairs_rounds() -> None:
    one, two = samples("a", [10.0, 30.0, 20.0]), samples("a", [5.0, 10.0, 16.0], threads=2)
    assert speedup_of("w", one, two, 0, None).ratio == pytest.approx(2.0)


# Sweeps.


@pytest.mark.parametrize(
    ("fractions", "seconds", "expected"),
    [
        ([0.7, 0.3, 0.7], [1, 2, 1], [False, True, False]),
        ([0.7, 0.4, 0.7], [1, 2, 1], [False, False, False]),
        ([0.2, 0.4, 0.8], [1, 1, 1], [False, False, False]),  # a floor of time
        ([0.2, 0.6, 0.8], [2, 1, 1], [True, False, False]),  # less work, twice the time
        ([0.8, 0.8, 0.3], [1, 1, 3], [False, False, True]),
        ([0.8], [1], [False]),
    ],
)
def test_cliffs(fractions: list[float], seconds: list[float], expected: list[bool]) -> None:
    assert find_cliffs(fractions, seconds) == expected


def test_points_are_compared_with_the_plain_one() -> None:
    found = {1: samples("a", [10.0, 20.0]), 2: samples("a", [11.0, 22.0])}
    sweep = summarize_sweep(Axis("table_factor", "CSA", (1, 2), plain=1), found)
    assert [point.time_ratio for point in sweep.points] == [1.0, pytest.approx(1.1)]
    sweep = summarize_sweep(Axis("heads", "CSA", (1, 2)), found)
    assert [point.time_ratio for point in sweep.points] == [None, None]


def test_axes_name_sizes_and_ascend() -> None:
    for axis in AXES:
        assert len(axis.shapes()) == len(axis.values)
        assert list(axis.values) == sorted(axis.values)
        assert axis.plain is None or axis.plain in axis.values


# Comparison with an earlier run.


def test_compare_finds_what_became_slower(tmp_path: Path) -> None:
    base = report_of(summarize("a", samples("s", [10.0]), [], None, None))
    path = tmp_path / "base.json"
    path.write_text(json.dumps(base.as_dict()))
    now = report_of(
        summarize("a", samples("s", [12.0]), [], None, None),
        summarize("b", samples("s", [12.0]), [], None, None),
    )
    changes = compare(load_base(path), now)
    assert [change.is_regression for change in changes] == [True, False]
    assert changes[0].change == pytest.approx(10 / 12 - 1)
    assert changes[1].change is None
    with pytest.raises(BenchError, match=r"^base: dtype bfloat16, must be float16 as in this run"):
        compare(load_base(path), replace(now, dtype="float16"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("{", "cannot be read as JSON"), ("[]", "schema None"), ('{"schema": 0}', "schema 0, must")],
)
def test_a_base_that_is_none_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(text)
    assert sentence in bench("--compare", path, exit_code=2).stderr


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"results": None}, "results: missing"),
        ({"dtype": None}, "dtype: missing"),
        ({"results": {}}, "results: {}, must be a list"),
        ({"instruction_set": 3}, "instruction_set: 3, must be a string"),
        ({"results": [7]}, "results[0]: 7, must be an object"),
        ({"results": [{"workload": "a"}]}, "results[0].threads: missing"),
        ({"results": [{"workload": []}]}, "results[0].workload: [], must be a string"),
    ],
)
def test_a_damaged_base_is_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: dict[str, Any], sentence: str
) -> None:
    command = sys.modules["sfmla_ctypes.cli.bench"]
    monkeypatch.setattr(command, "run", lambda *_: pytest.fail("measured"))
    path = tmp_path / "base.json"
    base = report_of().as_dict() | damage
    path.write_text(json.dumps({key: value for key, value in base.items() if value is not None}))
    assert f"{path}: {sentence}" in bench("--compare", path, exit_code=2).stderr


def test_a_base_without_a_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    row = summarize("a", samples("s", [10.0]), [], None, None)
    path.write_text(json.dumps(report_of(replace(row, fraction_of_peak=float("nan"))).as_dict()))
    with pytest.raises(BenchError, match=r"results\[0\].fraction_of_peak: nan, must be a number"):
        load_base(path)


# The picture.


def test_the_roof_is_the_lower_of_two() -> None:
    found = roof(report_of(), 2, np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(found, [20.0, 200.0, 200.0])


def test_every_workload_has_a_marker() -> None:
    assert len(WORKLOADS) <= len(set(MARKERS))


def test_the_roofline_is_saved(tmp_path: Path) -> None:
    own = summarize("w", samples("s", [1.0]), [], None, None)
    save_roofline(report_of(own, replace(own, threads=2)), tmp_path / "roof.svg")
    drawn = (tmp_path / "roof.svg").read_text()
    assert "roofs: float32 FMA peak" in drawn
    assert "hollow" not in drawn
    loud = summarize("w", samples("s", [1.0], 2, other_cores=1.0), [], None, None)
    save_roofline(report_of(loud), tmp_path / "loud.svg")
    assert "hollow: others disturbed" in (tmp_path / "loud.svg").read_text()
    with pytest.raises(PlotError, match="no workload was measured"):
        save_roofline(report_of(), tmp_path / "roof.svg")


# One tiny run.


@pytest.fixture
def tiny_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "decode-CSA", Workload(TINY, 0.7, {1: 1.7, 2: 2.0}, 1.85))
    monkeypatch.setattr(campaign, "AXES", (Axis("table_factor", "CSA", (1, 2), plain=1),))
    monkeypatch.setattr("sfmla_ctypes.bench.sweeps.BASES", {"CSA": TINY})
    monkeypatch.setattr(campaign, "PEERS", ("numpy",))


@pytest.mark.usefixtures("tiny_workloads")
def test_a_run_fills_the_schema(tmp_path: Path) -> None:
    picture = tmp_path / "roof.png"
    words = ["--workload", "decode-CSA", "--rounds", 1, "--sweep", "--json", "--plot", picture]
    result = CliRunner().invoke(main, ["bench", *map(str, words)])
    assert result.exit_code in (0, 1), (result.output, result.exception)  # 1: a cliff, by noise
    found = json.loads(result.stdout)
    assert set(found) == {*report_of().as_dict(), "changes"}
    rows = [(row["workload"], row["threads"]) for row in found["results"]]
    assert rows == [("decode-CSA", 1), ("decode-CSA", 2)]
    row = found["results"][0]
    assert row["flop"] == 6 * (128 + 20) * 4 * 4 * 512
    assert row["target_fraction"] == 0.7
    assert row["peers"][0]["name"].startswith("numpy-float32 ")
    assert row["fraction_of_peak"] > 0
    speedups = [(one["busy_processes"], one["target"]) for one in found["speedups"]]
    assert speedups == [(0, 1.85), (1, 1.2)]
    assert [point["value"] for point in found["sweeps"][0]["points"]] == [1, 2]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("tiny_workloads")
def test_a_run_prints_tables() -> None:
    words = ["--workload", "decode-CSA", "--threads", 1, "--rounds", 1, "--no-peers"]
    text = bench(*words).stdout
    assert "FMA peak of one core" in text
    assert "peers: not measured" in text
    assert "decode-CSA" in text


def test_a_wrong_instruction_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFMLA_ISA", "abacus")
    words = ["--workload", "decode-SWA", "--threads", 1, "--rounds", 1, "--no-peers"]
    assert "abacus" in bench(*words, exit_code=2).stderr


def test_the_probe_counts_operations() -> None:
    assert fma_peak() > 1e8  # a slow emulator does more


FACTS = """
import json
from sfmla_ctypes.bench.probes import BenchError, fma_peak, instruction_set, rounds_weights
try:
    fma_peak()
except BenchError as error:
    raise SystemExit(str(error))
rounded = [dtype for dtype in ("bfloat16", "float16") if rounds_weights(dtype)]
print(json.dumps([instruction_set(), rounded]))
"""


def facts_with(isa: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FACTS],
        env=os.environ | {"SFMLA_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_library_says_which_weights_each_instruction_set_rounds() -> None:
    """The limits of all comparisons follow the list of the tests, those of users the library."""
    refusal = facts_with("neon").stderr or facts_with("avx2").stderr  # of another processor
    found = re.search(r"must be one of (.*) on this processor", refusal)
    assert found, refusal
    for isa in found[1].split(", "):
        name, rounded = json.loads(facts_with(isa).stdout)
        assert (name, set(rounded)) == (isa, ROUNDED_WEIGHTS.get(isa, set()))


def test_the_phases_of_a_row_are_measured_on_each_instruction_set() -> None:
    program = toolkit_path() / "bin" / "sfmla_kernel_bench"
    done = subprocess.run([program, "3", "70"], capture_output=True, text=True, check=True)
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")][2:]
    assert {instruction_set(), "generic"} <= {row[0].strip() for row in rows}
    for row in rows:
        fractions, shares = [float(cell) for cell in row[2:5]], [float(cell) for cell in row[5:]]
        assert min(fractions) > 0
        assert sum(shares) == pytest.approx(100, abs=0.5)
    for flag in ("-h", "--help"):
        asked = subprocess.run([program, flag], capture_output=True, text=True, check=True)
        assert asked.stdout.startswith("usage: sfmla_kernel_bench [heads [keys]]\n")
    wrong = subprocess.run([program, "none"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr == "heads: 'none', must be an integer in [1, 1048576]\n"


def test_every_workload_says_what_is_expected() -> None:
    for workload in WORKLOADS.values():
        assert workload.peak_fraction is not None or workload.speedup is not None
        assert (workload.peer_ratios is not None) == (workload.peak_fraction is not None)
