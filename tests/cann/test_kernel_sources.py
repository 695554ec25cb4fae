# SPDX-License-Identifier: Apache-2.0
"""Device sources are what CANN's compiler takes: they include nothing of the emulator but
kernel_operator.h, and use no API that docs/emulator.md does not list."""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from operator_package import ROOT, Package

from commands import SEARCH_PATH, attempt

# Headers of the C++ library that hold types and constants only.
LIBRARY_HEADERS = {"cstdint", "type_traits"}
API_HEADER = "kernel_operator.h"
API_SECTION = "## The API subset"
# Words of the kernel language.
LANGUAGE = {"__aicore__", "__global__", "__gm__", "__CCE_AICORE__", "GM_ADDR"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>]+>|"[^"]+")', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")


def code_of(path: Path) -> str:
    return COMMENT.sub("", path.read_text())


def includes_of(path: Path) -> Iterator[str]:
    for match in INCLUDE.finditer(code_of(path)):
        yield match.group(1)[1:-1]


def device_sources(package: Package) -> list[Path]:
    """The entries and all headers of ours that they reach."""
    found: list[Path] = []
    waiting = package.kernel_entries()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.append(path)
        waiting += [ROOT / name for name in includes_of(path) if (ROOT / name).is_file()]
    return sorted(found)


def listed_rows() -> list[list[str]]:
    """The cells of the table in the section about the API, without its head."""
    text = (ROOT / "docs" / "emulator.md").read_text().split(API_SECTION, maxsplit=1)[1]
    lines = text.split("\n## ", maxsplit=1)[0].splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"
    ]
    return rows[2:]


def listed_names() -> set[str]:
    return {name for row in listed_rows() for name in IDENTIFIER.findall(row[0])}


def names_declared(headers: Iterable[Path], pattern: str) -> set[str]:
    return {name for path in headers for name in re.findall(pattern, code_of(path), re.MULTILINE)}


def emulator_macros() -> set[str]:
    macros = names_declared((ROOT / "sim" / "ascendc").glob("*.h"), r"^[ \t]*#define[ \t]+(\w+)")
    assert macros > LANGUAGE | {"TILING_KEY_IS"}
    return macros


def parameter_types() -> set[str]:
    """Structures and enumerations that parameters are made of: the list has the functions."""
    headers = [ROOT / "sim" / "ascendc" / name for name in ("parameters.h", "types.h")]
    types = names_declared(headers, r"^(?:struct|enum class|enum|using) (\w+)")
    assert types > {"MmadParams", "HardEvent", "RoundMode"}
    return types


def used_names(code: str, macros: set[str]) -> set[str]:
    qualified = set(re.findall(r"\bAscendC::(\w+)", code))
    return qualified | (macros & set(IDENTIFIER.findall(code)))


def test_device_sources_reach_all_that_they_include(package: Package) -> None:
    sources = device_sources(package)
    assert len(sources) > len(package.kernel_entries())
    for path in sources:
        for name in includes_of(path):
            ours = name.startswith("op_kernel/") and (ROOT / name) in sources
            assert ours or name == API_HEADER or name in LIBRARY_HEADERS, (
                f"{path.relative_to(ROOT)} includes {name}"
            )


def test_device_sources_name_nothing_of_the_emulator(package: Package) -> None:
    for path in device_sources(package):
        code = code_of(path)
        found = re.findall(r"\bsim::\w+|\bSFMLA_SIM_\w+|using namespace AscendC\b", code)
        assert not found, f"{path.relative_to(ROOT)}: {found}"


def test_every_listed_api_says_which_page_it_comes_from() -> None:
    rows = listed_rows()
    assert len(rows) > 20
    for row in rows:
        assert len(row) == 4, row
        assert row[0], row
        assert row[3], row


def test_device_sources_use_listed_api_only(package: Package) -> None:
    allowed = listed_names() | parameter_types() | LANGUAGE
    macros = emulator_macros()
    unlisted = {
        str(path.relative_to(ROOT)): sorted(used_names(code_of(path), macros) - allowed)
        for path in device_sources(package)
    }
    assert not {path: names for path, names in unlisted.items() if names}


def test_scan_sees_names_and_macros() -> None:
    code = """
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
        AscendC::DataCopy(a, b, 8);  // AscendC::Ignored
        /* AscendC::Ignored */ AscendC::PipeBarrier<PIPE_V>();
    """
    assert used_names(COMMENT.sub("", code), {"KERNEL_TASK_TYPE_DEFAULT", "GM_ADDR"}) == {
        "KERNEL_TASK_TYPE_DEFAULT",
        "DataCopy",
        "PipeBarrier",
    }


def test_device_sources_are_cpp17(package: Package) -> None:
    """CANN's compiler takes C++17; the emulator's headers, which are C++20, do not count."""
    compiler = shutil.which("clang++", path=SEARCH_PATH)
    if compiler is None:
        pytest.skip("clang++ is missing: apt install clang")
    for entry in package.kernel_entries():
        done = attempt(
            compiler,
            *("-std=c++20", "-fsyntax-only", "-Wpre-c++20-compat"),
            *("-I", package.build / "include_roots" / "op_kernel"),
            *("-isystem", ROOT, "-isystem", ROOT / "sim" / "include"),
            entry,
        )
        assert done.returncode == 0, done.stderr[-6000:]
        assert "-Wpre-c++20-compat" not in done.stderr, done.stderr[-6000:]
