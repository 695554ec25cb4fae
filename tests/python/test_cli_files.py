# SPDX-License-Identifier: Apache-2.0
"""The command sfmla and files that cannot be written: refused before work, never with its loss."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from sfmla_ctypes.case_files import save_arrays
from sfmla_ctypes.cases import CaseError, CaseSpec
from sfmla_ctypes.cli import main

SMALL = ["--batch", "1", "--query-tokens", "2", "--kv-tokens", "20", "--heads", "2"]
PROGRAM = "from sfmla_ctypes.cli import main; main()"
# Files end after so many bytes, as on a disk that becomes full.
NO_SPACE = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)); " + PROGRAM


def sfmla(*words: object, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == exit_code, (result.output, result.exception)
    return result


def in_own_process(
    *words: object, exit_code: int, program: str = PROGRAM, stdout: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    target = subprocess.PIPE if stdout is None else os.open(stdout, os.O_WRONLY)
    done = subprocess.run(command, stdout=target, stderr=subprocess.PIPE, text=True, check=False)
    if stdout is not None:
        os.close(target)
    assert done.returncode == exit_code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    path = tmp_path / "case.npz"
    sfmla("case", "v4-flash-swa-decode", "-o", path, *SMALL)
    return path


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["case", "v4-flash-swa-decode", "-o", "FOLDER/a.npz"], "-o"),
        (["run", "CASE", "-o", "FOLDER/a.safetensors"], "-o"),
        (["plan", "CASE", "--plot", "FOLDER/a.png"], "--plot"),
        (["demo", "--plot", "FOLDER/a.png"], "--plot"),
        (["bench", "--plot", "FOLDER/a.png"], "--plot"),
        (["sim", "CASE", "--plot", "FOLDER/a.png"], "--plot"),
        (["sim", "CASE", "--trace", "FOLDER/a.json"], "--trace"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_work(
    case_file: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], option: str
) -> None:
    for name in ("execute", "build_case", "run", "load_with_overrides", "_run_all"):
        module = sys.modules[f"sfmla_ctypes.cli.{words[0]}"]
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("worked"), raising=False)
    # A file is no folder, for root neither.
    named = {"CASE": str(case_file)}
    given = [named.get(word, word.replace("FOLDER", str(case_file))) for word in words]
    sentence = sfmla(*given, exit_code=2).stderr.splitlines()[-1]
    assert f"'{option}'" in sentence
    assert "cannot be written, Not a directory" in sentence


def test_looking_whether_a_file_can_be_written_changes_nothing(
    case_file: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    old.write_bytes(b"kept")
    link = tmp_path / "link.npz"
    link.symlink_to(new)
    for output in (old, new, link):
        sfmla("run", case_file, "-o", output, "--ori-mask-mode", 7, exit_code=2)  # refused later
    assert old.read_bytes() == b"kept"
    assert not new.exists()
    assert link.is_symlink()


@pytest.mark.parametrize("make_link", [None, os.symlink, os.link])
@pytest.mark.parametrize(
    ("command", "option", "suffix"),
    [("run", "--output", ".npz"), ("plan", "--plot", ".png"), ("sim", "--trace", ".json")],
)
def test_the_input_is_not_overwritten(
    case_file: Path, make_link: object, command: str, option: str, suffix: str
) -> None:
    before, output = case_file.read_bytes(), case_file
    if callable(make_link):
        output = case_file.with_name(f"link{suffix}")
        make_link(case_file, output)
    sentence = sfmla(command, case_file, option, output, exit_code=2).stderr
    assert sentence == f"Error: {option}: {output} is the file of CASE, must be another one\n"
    assert case_file.read_bytes() == before


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    both = tmp_path / "both.svg"
    words = ["sim", "v4-flash-swa-decode", "--trace", both, "--plot", both]
    assert f"--plot: {both} is the file of --trace" in sfmla(*words, exit_code=2).stderr


def test_bench_does_not_draw_over_its_base(tmp_path: Path) -> None:
    base = tmp_path / "base.svg"
    base.write_text("{}")
    words = ["bench", "--compare", base, "--plot", base]
    assert "--plot" in sfmla(*words, exit_code=2).stderr
    assert base.read_text() == "{}"


def test_a_roofline_of_nothing_is_refused_before_work(tmp_path: Path) -> None:
    words = ["bench", "--sweep", "--plot", tmp_path / "roof.svg"]
    assert "--workload names at least one" in sfmla(*words, exit_code=2).stderr


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_demo_goes_on_without_a_picture_that_nobody_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    demo = sys.modules["sfmla_ctypes.cli.demo"]
    monkeypatch.setattr(demo, "demo_specs", lambda: {"swa prefill": CaseSpec("swa", (2,), (300,))})
    monkeypatch.chdir(tmp_path)
    (tmp_path / demo.DEFAULT_PICTURE).mkdir()
    done = sfmla("demo", *flags)
    note = "no picture of the attended keys: sfmla_demo.png: cannot be written, Is a directory"
    assert note in (done.stderr if flags else done.stdout)
    assert "ok" in done.stdout.split() or json.loads(done.stdout)[0]["ok"]


def test_results_are_shown_when_the_disk_becomes_full(case_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.npz"
    words = ["run", case_file, "--reference", "-o", output]
    done = in_own_process(*words, exit_code=2, program=NO_SPACE)
    assert "attn_out: ok" in done.stdout
    assert "wrote" not in done.stdout
    assert done.stderr.endswith(f"--output: {output}: cannot be written, File too large\n")


def test_a_schedule_is_shown_when_the_disk_becomes_full(case_file: Path, tmp_path: Path) -> None:
    words = ["plan", case_file, "--json", "--plot", tmp_path / "a.svg"]
    done = in_own_process(*words, exit_code=2, program=NO_SPACE)
    assert json.loads(done.stdout)["cost"] > 0
    assert "Error: --plot: " in done.stderr


def test_safetensors_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"a\.safetensors: cannot be written"):
        save_arrays(tmp_path / "missing" / "a.safetensors", {"q": np.zeros(1, np.float32)})


def test_a_trace_that_cannot_be_written_is_no_fault(case_file: Path) -> None:
    words = ["sim", case_file, "--seeds", 1, "--json", "--trace", "/dev/full"]
    done = in_own_process(*words, exit_code=2)
    assert [run["ok"] for run in json.loads(done.stdout)] == [True]
    assert done.stderr.endswith(
        "Error: --trace: /dev/full: cannot be written, No space left on device\n"
    )


def test_a_full_temporary_folder_is_no_fault(case_file: Path, tmp_path: Path) -> None:
    words = ["sim", case_file, "--seeds", 1, "--trace", tmp_path / "a.json"]
    done = in_own_process(*words, exit_code=2, program=NO_SPACE)
    assert "the temporary trace cannot be written, TMPDIR may be full" in done.stderr
    assert "SFMLA_SIM_TRACE" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["info"],
        ["info", "--json"],
        ["case", "--list"],
        ["plan", "CASE", "--json"],
        ["run", "CASE", "--reference"],
    ],
)
@pytest.mark.parametrize(
    "program", [PROGRAM, "import sys; sys.stdout.reconfigure(write_through=True); " + PROGRAM]
)
def test_full_standard_output_is_a_sentence(
    case_file: Path, words: list[str], program: str
) -> None:
    given = [str(case_file) if word == "CASE" else word for word in words]
    done = in_own_process(*given, exit_code=2, program=program, stdout="/dev/full")
    sentence = "Error: standard output: cannot be written, No space left on device\n"
    assert done.stderr.endswith(sentence)


def test_a_closed_pipe_is_silent() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "case", "--list"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
