# SPDX-License-Identifier: Apache-2.0
"""Configures the operator package against the stub toolkit, and reads what the stub recorded."""

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from commands import attempt

ROOT = Path(__file__).parents[2]
STUB_TOOLKIT = Path(__file__).parent / "stub_toolkit"


def configure(build: Path, toolkit: Path | str) -> subprocess.CompletedProcess[str]:
    return attempt(
        "cmake",
        *("-S", ROOT, "-B", build),
        "-DSFMLA_WITH_CANN=ON",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DASCEND_HOME_PATH={toolkit}",
    )


@dataclass(frozen=True)
class Call:
    """A call of a function of the toolkit's CMake package, as the stub has recorded it."""

    function: str
    arguments: tuple[str, ...]

    def after(self, word: str) -> str:
        """The argument behind the keyword `word`."""
        return self.arguments[self.arguments.index(word) + 1]


@dataclass(frozen=True)
class Package:
    build: Path
    calls: tuple[Call, ...]

    def calls_of(self, function: str) -> list[Call]:
        return [call for call in self.calls if call.function == function]

    def compile_commands(self) -> dict[Path, list[list[str]]]:
        """Source file to the commands that compile it, without their output."""
        out: dict[Path, list[list[str]]] = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            output = words.index("-o")
            words = [word for word in words[:output] + words[output + 2 :] if word != "-c"]
            out.setdefault(Path(entry["file"]), []).append(words)
        return out

    def kernel_entries(self) -> list[Path]:
        """The files that the device compiler starts from."""
        base = Path(self.calls_of("npu_op_kernel_library")[0].after("SRC_BASE"))
        return [
            base / call.after("KERNEL_DIR") / call.after("KERNEL_FILE")
            for call in self.calls_of("npu_op_kernel_sources")
        ]
