# SPDX-License-Identifier: Apache-2.0
"""Each installed public header alone, and the exported symbols against lists and declarations."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sfmla_ctypes

PREFIX = sfmla_ctypes.toolkit_path()
INCLUDE, LIB = PREFIX / "include", PREFIX / "lib64"
ROOT = Path(__file__).parents[2]
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
LISTS = {
    "ascendcl": ROOT / "runtime" / "exports_ascendcl.txt",
    "nnopbase": ROOT / "runtime" / "exports_nnopbase.txt",
    "opapi": ROOT / "aclnn_api" / "exports_opapi.txt",
}
VENDOR_LIBRARY = "../opp/vendors/sfmla/op_api/lib/libcust_opapi.so"
ENTRY_LIBRARIES = {
    VENDOR_LIBRARY: "opapi",
    "libascendcl.so": "ascendcl",
    "libacl_rt.so": "ascendcl",
    "libnnopbase.so": "nnopbase",
    "libopapi.so": "opapi",
    "libopapi_transformer.so": "opapi",
}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}"]
needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("c++") is None, reason="no C and C++ compiler"
)


def compile_text(text: str, compiler: str, *options: str) -> str:
    """Runs the compiler on a source text; its output, after it succeeded."""
    language = "c" if compiler == "cc" else "c++"
    done = subprocess.run(
        [compiler, "-x", language, *options, *WARNINGS, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_compiler
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("compiler", "standard"), [("cc", "c11"), ("c++", "c++17")])
def test_header_alone(header: str, compiler: str, standard: str) -> None:
    text = f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n"
    compile_text(text, compiler, f"-std={standard}", "-fsyntax-only")


def test_all_headers_were_found() -> None:
    assert {
        "acl/acl.h",
        "acl/acl_rt.h",
        "aclnn/acl_meta.h",
        "aclnnop/aclnn_sparse_flash_mla.h",
        "aclnnop/aclnn_sparse_flash_mla_metadata.h",
    } <= set(HEADERS)


def listed(name: str) -> set[str]:
    return set(LISTS[name].read_text().split())


def exported(library: str) -> set[str]:
    """Functions that a shared library defines for others; version names are no functions."""
    table = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIB / library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    entries = [line.split() for line in table.splitlines()]
    return {name.split("@")[0] for _, kind, name in entries if kind in "TtWi"}


needs_nm = pytest.mark.skipif(shutil.which("nm") is None, reason="no nm (binutils)")


@needs_nm
@pytest.mark.parametrize("library", sorted(ENTRY_LIBRARIES))
def test_entry_library_exports_its_list(library: str) -> None:
    assert exported(library) == listed(ENTRY_LIBRARIES[library])


@needs_nm
def test_implementation_library_exports_every_list() -> None:
    names = set().union(*map(listed, LISTS))
    found = exported("libsfmla.so")
    assert {name for name in found if not name.startswith("sfmla_impl_")} == names
    assert {
        name.removeprefix("sfmla_impl_") for name in found if name.startswith("sfmla_impl_")
    } == names


@needs_compiler
def test_every_exported_function_is_declared_and_the_reverse() -> None:
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    text = compile_text(includes, "cc", "-std=c11", "-E", "-P")
    text = re.sub(r"\{[^{}]*\}", ";", re.sub(r"\{[^{}]*\}", ";", text))  # no inline bodies
    names = r"\b([aA]cl[A-Za-z0-9_]+|\w+HugeMem\w*)\s*\((?!\s*\*)"
    declared = set(re.findall(names, text))
    inline = set(re.findall(r"static inline [^;()]*?\b([aA]cl\w+)\s*\(", text))
    assert declared - inline == set().union(*map(listed, LISTS))


def test_lists_are_sorted_and_disjoint() -> None:
    seen: set[str] = set()
    for path in LISTS.values():
        names = path.read_text().split()
        assert names == sorted(set(names))
        assert not seen & set(names)
        seen |= set(names)
