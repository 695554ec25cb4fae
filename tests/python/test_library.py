# SPDX-License-Identifier: Apache-2.0
"""The library in the package, and the declarations generated from its headers."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from cffi import FFI

from sfmla_ctypes import _library, toolkit_path
from sfmla_ctypes._cdef import CDEF

GENERATOR = Path(__file__).parents[2] / "tools" / "gen_cdef.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_cdef", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_toolkit_has_the_shape_of_a_toolkit() -> None:
    assert (toolkit_path() / "lib64" / "libsfmla.so").is_file()
    assert (toolkit_path() / "include" / "aclnnop" / "aclnn_sparse_flash_mla.h").is_file()


def test_library_exports_every_declared_function() -> None:
    functions = re.findall(r"(\w+)\([^()]*\);", CDEF.replace("\n", " "))
    assert "aclnnSparseFlashMla" in functions
    missing = [name for name in functions if not hasattr(_library.lib, name)]
    assert missing == []


def test_declarations_are_those_of_the_installed_headers(generator: ModuleType) -> None:
    assert generator.declarations([toolkit_path() / "include"]) == CDEF


def test_missing_library_names_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_library, "toolkit_path", lambda: tmp_path)
    with pytest.raises(ImportError, match=re.escape(f"{tmp_path}/lib64/libsfmla.so")):
        _library._open(FFI())


HEADER = """
#ifndef EXAMPLE_H_
#define EXAMPLE_H_
#include <stdint.h>
#include "other.h"
#ifdef __cplusplus
extern "C" {
#else
#define SEEN_BY_C 1  // a comment with "quotes
#endif
#if defined(__cplusplus) || VERSION >= 3
constexpr int kOnlyCpp = 1;
#elif !defined(VERSION)
#define CODE (0x10U)
#endif
/* two
   lines */
ACLNN_API int Run(const other* value,
                  _Bool flag);
enum Kind { A = 0, B ACL_DEPRECATED_MESSAGE("use A (now)") = 1 };
#ifdef __cplusplus
}
#endif
#endif
"""


def write_headers(folder: Path, text: str) -> None:
    (folder / "example.h").write_text(text)
    (folder / "other.h").write_text("typedef struct other other;\n")


def test_generator_reads_a_header_as_c(generator: ModuleType, tmp_path: Path) -> None:
    write_headers(tmp_path, HEADER)
    assert generator.declarations([tmp_path]).splitlines() == [
        "typedef struct other other;",
        "#define SEEN_BY_C 1",
        "#define CODE 0x10",
        "int Run(const other* value,",
        "_Bool flag);",
        "enum Kind { A = 0, B = 1 };",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("#include_next <stdint.h>", "#include_next is not understood"),
        ('#include "absent.h"', "absent.h not found"),
        ("#if SIZE / 2", "cannot evaluate"),
        ("#error wrong", "#error wrong"),
    ],
)
def test_generator_refuses_what_it_does_not_understand(
    generator: ModuleType, tmp_path: Path, line: str, reason: str
) -> None:
    write_headers(tmp_path, f"int first;\n{line}\n")
    with pytest.raises(ValueError, match=rf"example\.h:2: .*{re.escape(reason)}"):
        generator.declarations([tmp_path])


def test_no_finalizer_looks_a_name_up_for_the_first_time() -> None:
    """It may run inside of such a look-up, whose lock it would wait for forever."""
    program = """
from sfmla_ctypes._library import ffi, lib
assert {"aclrtFree", "aclrtDestroyEvent", "ACL_ERROR_RT_STREAM_CAPTURED"} <= set(vars(lib))
from sfmla_ctypes import DeviceArray, Event, Stream, pinned_empty
with ffi._lock:  # as inside of a look-up; a lock that one thread cannot take twice
    lib.aclrtFree, lib.aclrtFreeHost, lib.aclrtDestroyEvent, lib.aclmdlRIDestroy
    ffi.new("int32_t *")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
