# SPDX-License-Identifier: Apache-2.0
"""What a CANN build compiles and packs, and that all of it compiles against the stub toolkit.

The stub's headers declare what public documentation says of CANN's; where they are wrong, a real
toolkit will say so, and docs/cann.md lists what never met one.
"""

import json
from pathlib import Path

import pytest
from operator_package import ROOT, Package, configure

from commands import attempt

# Installed paths below opp/vendors/<vendor>, as CANN's manual lays a custom operator package out.
HEADER_FOLDER = "op_api/include/aclnnop"
AICPU_LIBRARY_FOLDER = "op_impl/cpu/aicpu_kernel/impl"
AICPU_CONFIG_FOLDER = "op_impl/cpu/config"


def packed_files(package: Package) -> dict[str, set[str]]:
    """Folder in the package to the names of the files in it."""
    out: dict[str, set[str]] = {}
    for call in package.calls_of("npu_op_package_add"):
        if "FILES" not in call.arguments:
            continue
        names = call.arguments[
            call.arguments.index("FILES") + 1 : call.arguments.index("PACKAGE_PATH")
        ]
        out.setdefault(call.after("PACKAGE_PATH"), set()).update(Path(name).name for name in names)
    return out


def test_package_is_named_as_the_host_library_names_its_vendor_folder(package: Package) -> None:
    (call,) = package.calls_of("npu_op_package")
    assert call.arguments[0] == "sfmla"
    assert call.after("TYPE") == "RUN"
    config = (ROOT / "cmake" / "toolkit" / "config.ini").read_text()
    assert config.strip() == f"load_priority={call.arguments[0]}"


def test_every_library_is_built_and_packed(package: Package) -> None:
    kinds = {call.arguments[0]: call.arguments[1] for call in package.calls_of("npu_op_library")}
    assert kinds == {
        "cust_op_proto": "GRAPH",
        "cust_optiling": "TILING",
        "cust_opapi": "ACLNN",
    }
    packed = [
        name
        for call in package.calls_of("npu_op_package_add")
        if "LIBRARY" in call.arguments
        for name in call.arguments[call.arguments.index("LIBRARY") + 1 :]
    ]
    assert sorted(packed) == sorted([*kinds, "ascendc_kernels"])


def test_package_holds_headers_and_the_ai_cpu_kernel(package: Package) -> None:
    files = packed_files(package)
    assert files == {
        HEADER_FOLDER: {
            "aclnn_sparse_flash_mla.h",
            "aclnn_sparse_flash_mla_metadata.h",
            "aclnn_util.h",
        },
        AICPU_LIBRARY_FOLDER: {"libsfmla_aicpu_kernels.so"},
        AICPU_CONFIG_FOLDER: {"cust_aicpu_kernel.json"},
    }


def test_ai_cpu_configuration_names_the_library_and_the_registered_type(package: Package) -> None:
    folder = ROOT / "cann" / "sparse_flash_mla_metadata"
    operators = json.loads((folder / "cust_aicpu_kernel.json").read_text())
    kernel = (folder / "aicpu_kernel.cpp").read_text()
    assert len(operators) == kernel.count("REGISTER_CPU_KERNEL(")
    for op_type, entry in operators.items():
        assert f'REGISTER_CPU_KERNEL("{op_type}"' in kernel
        assert {entry["opInfo"]["kernelSo"]} == packed_files(package)[AICPU_LIBRARY_FOLDER]


def test_generator_runs_before_kernels_are_named(package: Package) -> None:
    """The manual of npu_op_code_gen asks for this order."""
    names = [call.function for call in package.calls]
    assert names.index("npu_op_code_gen") < names.index("npu_op_kernel_sources")


def test_kernels_are_compiled_for_both_products_without_automatic_flags(package: Package) -> None:
    definition = (ROOT / "cann" / "sparse_flash_mla" / "op_definition.cpp").read_text()
    cache = (package.build / "CMakeCache.txt").read_text()
    assert "ASCEND_COMPUTE_UNIT:STRING=ascend910b;ascend910_93\n" in cache
    for product in ("ascend910b", "ascend910_93"):
        assert f'AddConfig("{product}")' in definition
    (options,) = package.calls_of("npu_op_kernel_options")
    assert "--cce-auto-sync=off" in options.arguments
    assert "-DASCENDC_DUMP=0" in options.arguments


def test_every_kernel_has_an_entry_of_its_operator_type(package: Package) -> None:
    entries = package.kernel_entries()
    assert entries
    for call, entry in zip(package.calls_of("npu_op_kernel_sources"), entries, strict=True):
        # The rule of the toolkit: the entry function is the file's name.
        assert f"void {entry.stem}(" in entry.read_text()
        definition = ROOT / "cann" / entry.stem / "op_definition.cpp"
        assert f"OP_ADD({call.after('OP_TYPE')});" in definition.read_text()


AICPU_SCRIPT = (ROOT / "cann" / "aicpu.cmake").read_text()


def sources_of(ai_cpu: bool) -> list[Path]:
    """Sources in cann/ that the library of the AI CPU, or everything else, is made of."""
    folder = ROOT / "cann"
    return sorted(
        path
        for path in folder.rglob("*.cpp")
        if (f"/{path.relative_to(folder)}\n" in AICPU_SCRIPT) == ai_cpu
    )


def test_host_and_ai_cpu_are_all_there_is() -> None:
    assert [path.name for path in sources_of(ai_cpu=True)] == ["planner.cpp", "aicpu_kernel.cpp"]
    assert sources_of(ai_cpu=False)


@pytest.mark.parametrize("source", sources_of(ai_cpu=False), ids=lambda path: path.stem)
def test_source_is_built_and_compiles(package: Package, source: Path) -> None:
    standard = "-std=c++20" if source.parent.name == "bridge" else "-std=c++17"
    for command in package.compile_commands()[source]:
        assert standard in command
        done = attempt(
            *command, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", folder=package.build
        )
        assert done.returncode == 0, done.stderr[-6000:]


def test_sources_that_meet_the_toolkit_do_not_see_the_host_library(package: Package) -> None:
    """Two worlds with the same names: the bridge's headers are all that they share."""
    for source, commands in package.compile_commands().items():
        if source.parent.name == "bridge" or ROOT / "cann" not in source.parents:
            continue
        for command in commands:
            for layer in ("base", "op_host", "runtime"):
                assert f"-I{package.build}/include_roots/{layer}" not in command


def test_ai_cpu_library(package: Package) -> None:
    """It needs nothing but the AI CPU's own interface and the C library: no source is missing."""
    done = attempt("cmake", "--build", package.build, "--target", "sfmla_aicpu_kernels")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    library = package.build / "cann" / "libsfmla_aicpu_kernels.so"
    symbols = attempt("nm", "--undefined-only", "--demangle", "--dynamic", library)
    assert symbols.returncode == 0, symbols.stderr
    missing = [line.split(maxsplit=1)[1] for line in symbols.stdout.splitlines()]
    assert any(name.startswith("aicpu::") for name in missing)
    assert not [name for name in missing if name.startswith("sfmla::")]


def test_configuring_without_a_toolkit_says_what_is_missing(tmp_path: Path) -> None:
    done = configure(tmp_path, "/nowhere")
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert "ASCEND_HOME_PATH: '/nowhere', must be the root of a CANN toolkit" in words
