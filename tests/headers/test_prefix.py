# SPDX-License-Identifier: Apache-2.0
"""The toolkit-shaped prefix: link lines, package files and look-ups of programs for a card."""

import configparser
import ctypes
import os
import shutil
from pathlib import Path

import pytest

from commands import SEARCH_PATH, run
from programs.prefix import LIB, PREFIX, VENDOR

PROGRAM = """
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
int main(void) {
  return aclInit(0) != 0 || aclDestroyTensor(0) != 0 ||
         aclnnSparseFlashMlaMetadata(0, 0, 0, 0) != 161001;
}
"""
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def build_and_run(folder: Path, *flags: str) -> None:
    source = folder / "program.c"
    source.write_text(PROGRAM)
    run("cc", source, *flags, "-o", folder / "program")
    run(folder / "program", LD_LIBRARY_PATH=f"{LIB}:{VENDOR / 'lib'}")


@needs_compiler
@pytest.mark.parametrize(
    "libraries",
    [
        "opapi_transformer ascendcl nnopbase",
        "opapi_math opapi_transformer ascendcl nnopbase c_sec",
        "opapi_math cust_opapi ascendcl nnopbase c_sec",
        "cust_opapi ascendcl nnopbase",
        "ascendcl nnopbase opapi acl_op_compiler",
        "ascendcl runtime nnopbase opapi",
        "acl_rt nnopbase opapi opapi_nn opapi_cv",
    ],
)
def test_link_lines_of_programs_for_a_card(libraries: str, tmp_path: Path) -> None:
    folders = [f"-L{LIB}", f"-L{VENDOR / 'lib'}"]
    names = [f"-l{name}" for name in libraries.split()]
    build_and_run(tmp_path, f"-I{PREFIX / 'include'}", *folders, *names)


@needs_compiler
def test_the_other_include_folders(tmp_path: Path) -> None:
    folders = [f"-I{PREFIX / f'{os.uname().machine}-linux' / 'include'}", f"-I{VENDOR / 'include'}"]
    build_and_run(tmp_path, *folders, f"-L{LIB}", "-lopapi", "-lascendcl", "-lnnopbase")


@needs_compiler
def test_find_package(tmp_path: Path) -> None:
    if shutil.which("cmake", path=SEARCH_PATH) is None:
        pytest.skip("no cmake")
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(program LANGUAGES C)\n"
        "find_package(sfmla 0.1 REQUIRED)\nadd_executable(program program.c)\n"
        "target_link_libraries(program PRIVATE"
        " sfmla::cust_opapi sfmla::ascendcl sfmla::nnopbase)\n"
    )
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, CMAKE_PREFIX_PATH=str(PREFIX))
    run("cmake", "--build", build)
    run(build / "program")


@needs_compiler
def test_pkg_config(tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    flags = run(
        "pkg-config", "--cflags", "--libs", "sfmla", PKG_CONFIG_PATH=str(LIB / "pkgconfig")
    ).split()
    build_and_run(tmp_path, *flags)


def test_set_env() -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    script = f'source "{PREFIX / "set_env.sh"}" && echo "$ASCEND_HOME_PATH:$ASCEND_OPP_PATH"'
    home, opp = run("bash", "-c", script).strip().split(":")
    assert Path(home) == PREFIX
    assert Path(opp) == PREFIX / "opp"


def test_every_soname_is_the_file_name() -> None:
    if shutil.which("readelf") is None:
        pytest.skip("no readelf (binutils)")
    for path in [*LIB.glob("lib*.so"), *(VENDOR / "lib").glob("*.so")]:
        assert f"soname: [{path.name}]" in run("readelf", "-d", path)


def test_adapters_find_the_vendor_library() -> None:
    # The look-up of torch adapters: config.ini, then both functions of an operator and those of
    # tensors on that one handle.
    parser = configparser.ConfigParser()
    parser.read_string("[vendors]\n" + (PREFIX / "opp" / "vendors" / "config.ini").read_text())
    first = parser["vendors"]["load_priority"].split(",")[0]
    library = ctypes.CDLL(
        str(PREFIX / "opp" / "vendors" / first / "op_api" / "lib" / "libcust_opapi.so")
    )
    for operator in ("aclnnSparseFlashMla", "aclnnSparseFlashMlaMetadata"):
        assert library[operator]
        assert library[f"{operator}GetWorkspaceSize"]
    for name in ("aclCreateTensor", "aclDestroyAclOpExecutor", "ReleaseHugeMem", "aclrtMalloc"):
        assert library[name]
    assert library.InitHugeMemThreadLocal(None, False) == 0
    for name in ("PTAGetExecCache", "SetPTAHashKey", "CanUsePTACache"):
        with pytest.raises(AttributeError):
            library[name]
