# SPDX-License-Identifier: Apache-2.0
"""The command sfmla: every sub-command once, and a sentence instead of a traceback."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from sfmla_ctypes import AclDeviceError, toolkit_path
from sfmla_ctypes.bench import probes
from sfmla_ctypes.bench.probes import BenchError, instruction_set
from sfmla_ctypes.case_files import ATTRIBUTE_TYPES, load_case, save_arrays
from sfmla_ctypes.cases import CaseError, CaseSpec
from sfmla_ctypes.cli import main
from sfmla_ctypes.cli.info import SETTINGS
from sfmla_ctypes.cli.output import print_table
from sfmla_ctypes.operators import OPERATORS
from sfmla_ctypes.plots import PlotError

SMALL = ["--batch", "2", "--query-tokens", "3", "--kv-tokens", "90,300", "--heads", "8"]


def sfmla(*words: object, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == exit_code, (result.output, result.exception)
    return result


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    path = tmp_path / "case.npz"
    sfmla("case", "v4-flash-csa-decode", "-o", path, *SMALL, "--topk", 20, "--page-tokens", 32)
    return path


def test_demo_verifies_four_modes_twice(tmp_path: Path) -> None:
    picture = tmp_path / "keys.png"
    lines = json.loads(sfmla("demo", "--json", "--plot", picture).stdout)
    names = [(line["mode"], line["phase"]) for line in lines]
    assert names == [(m, p) for p in ("decode", "prefill") for m in ("SWA", "CSA", "HCA", "SFA")]
    assert all(line["ok"] for line in lines)
    keys = [line["keys_per_row"] for line in lines[:4]]
    assert keys == [[128, 128], [640, 640], [191, 192], [2048, 2048]]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_says_where_it_writes_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = sys.modules["sfmla_ctypes.cli.demo"]
    monkeypatch.setattr(demo, "demo_specs", lambda: {"swa prefill": CaseSpec("swa", (2,), (300,))})
    monkeypatch.chdir(tmp_path)
    picture = tmp_path / "sfmla_demo.png"
    assert f"wrote a picture of the attended keys: {picture}" in sfmla("demo").stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_prints_a_table_and_fails_on_a_wrong_number(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = sys.modules["sfmla_ctypes.cli.demo"]
    honest = demo.execute

    def dishonest(operator: Any, arguments: dict[str, Any], *limits: float) -> Any:
        result = honest(operator, arguments, *limits)
        if arguments["cmp_ratio"] == 128:
            result.outputs["attn_out"][3, 5, 100] *= 1.5
        return result

    small = {f"{mode} decode": CaseSpec(mode, (2, 2), (300, 300)) for mode in ("swa", "hca")}
    monkeypatch.setattr(demo, "demo_specs", lambda: small)
    monkeypatch.setattr(demo, "execute", dishonest)
    done = sfmla("demo", "--no-plot", exit_code=1)
    steps = [f"{name}: {step}" for name in small for step in ("running", "reference rows")]
    assert done.stderr.splitlines() == ["building the cases", *steps]  # without a terminal
    table = done.stdout.splitlines()
    verdicts = [line.split()[-1] for line in table if "rows of" in line]
    assert verdicts == ["ok", "WRONG"]


def test_case_writes_what_the_options_say(case_file: Path) -> None:
    arguments = load_case(case_file)
    assert arguments["q"].shape == (6, 8, 512)
    assert arguments["seqused_ori_kv"].tolist() == [90, 300]
    assert arguments["cmp_sparse_indices"].shape == (6, 1, 20)
    assert arguments["ori_kv"].shape[1] == 32


def test_case_lists_names() -> None:
    names = json.loads(sfmla("case", "--list", "--json").stdout)
    assert names["v4-pro-hca-decode"]["heads"] == 128
    assert "v4-flash-csa-decode" in sfmla("case", "--list").stdout


def test_run_writes_and_compares(case_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.safetensors"
    report = json.loads(sfmla("run", case_file, "-o", output, "--reference", "--json").stdout)
    assert report["mode"] == "CSA"
    # Windows of 88, 89, 90 and 128; compressed keys 20 of 22 and more.
    assert report["attended_keys"] == 88 + 89 + 90 + 3 * 128 + 6 * 20
    assert [verdict["output"] for verdict in report["verdicts"]] == ["attn_out", "softmax_lse"]
    assert all(verdict["judged"] == 48 for verdict in report["verdicts"])
    from safetensors.numpy import load_file

    outputs = load_file(output)
    assert outputs["attn_out"].shape == (6, 8, 512)
    assert outputs["softmax_lse"].shape == (1, 6, 8)


def test_run_options_override_attributes(case_file: Path) -> None:
    words = ["--ori-mask-mode", 3, "--no-return-softmax-lse", "--softmax-scale", 0]
    report = json.loads(sfmla("run", case_file, *words, "--reference", "--json").stdout)
    assert report["attended_keys"] == 88 + 89 + 90 + 298 + 299 + 300 + 6 * 20
    assert [verdict["output"] for verdict in report["verdicts"]] == ["attn_out"]


@pytest.mark.parametrize("operator", [None, "sparse_attn_sharedkv"])
def test_run_and_plan_take_names(operator: str | None) -> None:
    words = ["v4-flash-swa-decode", "--json", *(["--operator", operator] if operator else [])]
    report = json.loads(sfmla("run", *words, "--ori-win-left", 99).stdout)
    assert report["operator"] == (operator or "sparse_flash_mla")
    assert report["attended_keys"] == 4 * 2 * 100
    assert report["is_emulated"] is False
    assert json.loads(sfmla("plan", *words).stdout)["cost"] > 0
    assert "schedule of v4-flash-swa-decode" in sfmla("plan", *words[:1]).stdout


def test_an_operator_that_a_name_does_not_have_is_refused() -> None:
    words = ["run", "v4-flash-swa-decode", "--operator", "sparse_flash_attention"]
    assert "sparse_flash_attention with mode swa, must be" in sfmla(*words, exit_code=2).stderr


@pytest.mark.parametrize("command", ["run", "plan", "sim"])
@pytest.mark.parametrize("name", ["v4-flash-none-decode", "case.npy", "case"])
def test_what_is_neither_a_name_nor_a_file_is_refused(command: str, name: str) -> None:
    allowed = "must be a name that `sfmla case --list` shows or a file that ends in .npz or .safe"
    assert f"CASE: '{name}' is unknown, {allowed}" in sfmla(command, name, exit_code=2).stderr


@pytest.mark.parametrize(
    ("name", "operator", "outputs"),
    [
        ("v4-flash-csa-decode", "sparse_attn_sharedkv", ["attn_out", "softmax_lse"]),
        (
            "v3.2-sfa-decode",
            "sparse_flash_attention",
            ["attention_out", "softmax_max", "softmax_sum"],
        ),
    ],
)
def test_run_finds_the_other_operators(
    tmp_path: Path, name: str, operator: str, outputs: list[str]
) -> None:
    path, output = tmp_path / "case.npz", tmp_path / "out.npz"
    written = sfmla("case", name, "-o", path, *SMALL, "--topk", 20, "--operator", operator)
    assert "layout_kv" in written.stdout
    report = json.loads(sfmla("run", path, "-o", output, "--reference", "--json").stdout)
    assert report["operator"] == operator
    assert report["attended_keys"] > 0
    assert [verdict["output"] for verdict in report["verdicts"]] == outputs
    with np.load(output) as saved:
        assert list(saved) == outputs


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("query", "query: missing, must be (B, S1, N1, 512) or (T1, N1, 512)"),
        ("key", "key: NULL, must be a tensor"),
        ("sparse_indices", "sparse_indices: NULL, must be a tensor"),
        ("block_table", "block_table: absent, must be given with layout_kv PA_BSND"),
    ],
)
def test_missing_arrays_of_sparse_flash_attention(tmp_path: Path, name: str, sentence: str) -> None:
    path = tmp_path / "case.npz"
    sfmla("case", "v3.2-sfa-decode", "-o", path, *SMALL)
    arguments = load_case(path)
    del arguments[name]
    save_arrays(path, arguments)
    assert sentence in sfmla("run", path, exit_code=2).stderr


def test_an_operator_without_these_arguments_is_refused(case_file: Path) -> None:
    words = ["run", case_file, "--operator", "sparse_flash_attention"]
    error = sfmla(*words, exit_code=2).stderr
    assert "no argument of sparse_flash_attention, the arguments are query, key" in error


def test_run_fails_when_the_reference_differs(
    case_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = OPERATORS["sparse_flash_mla"]

    def dishonest(**arguments: Any) -> Any:
        attn_out, *others = honest.reference(**arguments)
        attn_out[4, 3] *= 1.1
        return attn_out, *others

    monkeypatch.setitem(OPERATORS, honest.name, replace(honest, reference=dishonest))
    text = sfmla("run", case_file, "--reference", exit_code=1).stdout
    assert "attn_out: WRONG, 1 of 48 rows and heads beyond tolerance" in text
    assert "at (4, 3)" in text


def test_metadata_of_another_call_is_refused(case_file: Path, tmp_path: Path) -> None:
    arguments = load_case(case_file)
    planned = OPERATORS["sparse_flash_mla"].with_metadata(arguments)
    save_arrays(tmp_path / "planned.npz", planned)
    sfmla("run", tmp_path / "planned.npz", "--reference")
    error = sfmla("run", tmp_path / "planned.npz", "--ori-win-left", 63, exit_code=2).stderr
    assert "507018" in error
    assert "metadata" in error


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--layout-q", "SBND"], "layout_q"),
        (["--cmp-ratio", "0"], "cmp_ratio"),
        (["--cmp-ratio", str(2**64)], "cmp_ratio"),
        (["--ori-mask-mode", "7"], "ori_mask_mode"),
        (["--softmax-scale", "nan"], "softmax_scale"),
        (["-o", "out.npy"], "suffix '.npy'"),
    ],
)
def test_refusals_are_one_sentence(case_file: Path, words: list[str], sentence: str) -> None:
    lines = sfmla("run", case_file, *words, exit_code=2).stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert sentence in lines[0]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("q", None, "q: missing"),
        ("q", np.zeros((6, 8, 512)), "q: "),
        ("q", np.zeros((6, 8, 511), np.float16), "511"),
        ("q", np.zeros((6, 8, 512), np.int8), "q: "),
        ("q", np.zeros((6, 200, 512), np.float16), "200"),
        ("ori_kv", None, "ori_kv"),
        ("ori_kv", np.zeros((4, 4), np.float16), "ori_kv"),
        ("sinks", np.zeros(7, np.float32), "sinks"),
        ("cu_seqlens_q", None, "cu_seqlens_q"),
        ("cu_seqlens_q", np.zeros((), np.int32), "cu_seqlens_q"),
        ("cu_seqlens_q", np.array([0, 9, 6], np.int32), "cu_seqlens_q"),
        ("ori_block_table", np.full((2, 10), 999, np.int32), "ori_block_table"),
    ],
)
def test_bad_arrays_are_refused(
    case_file: Path, name: str, value: np.ndarray | None, sentence: str
) -> None:
    arguments = load_case(case_file) | {name: value}
    save_arrays(case_file, {key: value for key, value in arguments.items() if value is not None})
    error = sfmla("run", case_file, exit_code=2).stderr
    assert error.startswith("Error: ")
    assert sentence in error


def test_plan_of_a_case_without_queries_is_refused(case_file: Path) -> None:
    arguments = load_case(case_file)
    del arguments["q"]
    save_arrays(case_file, arguments)
    assert "q: missing" in sfmla("plan", case_file, exit_code=2).stderr


def test_plan_adds_up(case_file: Path, tmp_path: Path) -> None:
    words = ["plan", case_file, "--cores", 4, "--plot", tmp_path / "plan.png"]
    schedule = json.loads(sfmla(*words, "--json").stdout)
    assert 1 <= len(schedule["cores"]) <= 4
    assert sum(work["cost"] for work in schedule["cores"]) == schedule["cost"]
    assert (tmp_path / "plan.png").stat().st_size > 0
    assert "balance" in sfmla(*words).stdout


def test_plan_of_sparse_attn_sharedkv(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    words = [*SMALL, "--operator", "sparse_attn_sharedkv"]
    sfmla("case", "v4-flash-csa-decode", "-o", path, *words)
    schedule = json.loads(sfmla("plan", path, "--cores", 3, "--json").stdout)
    assert 1 <= len(schedule["cores"]) <= 3
    assert sum(work["rows"] for work in schedule["cores"]) == 6
    assert schedule["merges"] == []


def test_plan_of_an_operator_that_is_not_planned(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    sfmla("case", "v3.2-sfa-decode", "-o", path, *SMALL)
    sentence = "sparse_flash_attention is not planned, must be sparse_flash_mla or sparse_attn"
    assert sentence in sfmla("plan", path, exit_code=2).stderr


def test_plan_reads_a_case_that_has_metadata(case_file: Path) -> None:
    metadata = np.zeros(1024, np.int32)
    metadata[0:9] = [1, 0, 0, 0, 2, 0, 0, 0, 0]
    save_arrays(case_file, load_case(case_file) | {"metadata": metadata})
    assert len(json.loads(sfmla("plan", case_file, "--json").stdout)["cores"]) == 1


def test_info_names_the_device_and_the_prefix() -> None:
    facts = json.loads(sfmla("info", "--json").stdout)
    assert facts["device"] == "HostCPU"
    assert facts["processors"] >= 1
    assert facts["memory_total_bytes"] >= facts["memory_free_bytes"]
    assert sfmla("info", "--prefix").stdout.strip() == str(toolkit_path())
    assert "HostCPU" in sfmla("info").stdout


def test_info_names_the_instruction_set_of_the_kernels() -> None:
    assert json.loads(sfmla("info", "--json").stdout)["instruction_set"] == instruction_set()
    program = "from sfmla_ctypes.cli import main; main()"
    command = [sys.executable, "-c", program, "info", "--json"]
    environment = {**os.environ, "SFMLA_ISA": "generic"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout)["instruction_set"] == "generic"


@pytest.mark.parametrize(
    ("name", "value"), [("SFMLA_NUM_THREADS", "many"), ("SFMLA_ISA", "abacus")]
)
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_bad_setting_is_one_sentence(name: str, value: str, flags: list[str]) -> None:
    program = "from sfmla_ctypes.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", program, "info", *flags],
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.startswith(f"Error: environment variable {name}: '{value}', must be ")
    assert found.stderr.count("\n") == 1


def test_info_lists_variables_that_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFMLA_THREADS", "2")
    monkeypatch.setenv("SFMLA_OTHER_WORDS", "x")
    lines = sfmla("info").stdout.splitlines()
    misspelt = "SFMLA_THREADS: no variable of the library, ignored; did you mean SFMLA_NUM_THREADS?"
    assert misspelt in lines
    assert "SFMLA_OTHER_WORDS: no variable of the library, ignored" in lines
    facts = json.loads(sfmla("info", "--json").stdout)
    assert {"SFMLA_OTHER_WORDS", "SFMLA_THREADS"} <= set(facts["unknown_settings"])
    assert not set(facts["unknown_settings"]) & set(facts["settings"])


def test_info_knows_the_variables_of_the_library() -> None:
    """Those that the library's own sentences name, found in its file."""
    library = (toolkit_path() / "lib64" / "libsfmla.so").read_bytes()
    assert [name for name in SETTINGS if name.encode() not in library] == []


@pytest.mark.parametrize("command", ["run", "plan"])
def test_help_shows_attributes_by_operator(command: str) -> None:
    groups: dict[str, str] = {}
    for line in sfmla(command, "--help").stdout.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line
        elif line.startswith("  --"):
            groups[line.split()[0]] = heading
    assert groups["--operator"] == "Options:"
    assert groups["--layout-kv"] == "Attributes of all operators:"
    assert groups["--cmp-ratio"] == "Attributes of sparse_flash_mla and sparse_attn_sharedkv:"
    assert groups["--sparse-mode"] == "Attributes of sparse_flash_attention:"
    options = {f"--{name.replace('_', '-')}" for name in ATTRIBUTE_TYPES}
    assert {name for name, group in groups.items() if group.startswith("Attributes")} == options


def test_a_narrow_terminal_breaks_no_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # counts as a terminal
    monkeypatch.setenv("COLUMNS", "30")
    columns = ("workload", "threads", "extra MiB", "workspace MiB")
    print_table("t", columns, [("decode-CSA-128h", "1", "123.45", "67.8")])
    words = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).split()
    assert {*" ".join(columns).split(), "decode-CSA-128h", "123.45", "67.8"} <= set(words)


REFUSALS = (
    AclDeviceError(507018, "aclrtSynchronizeStream", "seqused_q: -1"),
    BenchError("the probes cannot be loaded"),
    CaseError("q: missing"),
    PlotError("pictures need matplotlib"),
    OverflowError("cmp_ratio: too large"),
    MemoryError("Unable to allocate 9 TiB"),
    MemoryError(),
)


@pytest.mark.parametrize("error", REFUSALS, ids=repr)
@pytest.mark.parametrize("name", main.commands)
def test_a_refusal_anywhere_in_a_command_is_one_sentence(
    name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    command = main.commands[name]
    monkeypatch.setattr(command, "callback", refuse)
    needed = ["x.npz" for part in command.params if part.required]
    lines = sfmla(name, *needed, exit_code=2).stderr.splitlines()
    sentence = str(error) or "memory: not enough of it for this call"
    assert lines == [f"Error: {sentence}"]


def test_an_error_that_is_no_refusal_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(main.commands["info"], "callback", fail)
    assert isinstance(sfmla("info", exit_code=1).exception, KeyError)


@pytest.mark.parametrize("words", [["info"], ["run", "CASE", "--reference"]])
def test_probes_that_cannot_be_loaded_are_one_sentence(
    words: list[str], case_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "toolkit_path", lambda: case_file)
    probes._open.cache_clear()
    words = [str(case_file) if word == "CASE" else word for word in words]
    *steps, line = sfmla(*words, exit_code=2).stderr.splitlines()
    assert steps == (["reference rows"] if "--reference" in words else [])
    assert line.startswith("Error: the probes ")
    assert " cannot be loaded: " in line


def test_every_command_and_option_has_help() -> None:
    for name, command in main.commands.items():
        assert sfmla(name, "--help").stdout
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)
