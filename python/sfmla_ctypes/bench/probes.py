# SPDX-License-Identifier: Apache-2.0
"""What the machine can do: the ceilings that rates are compared with.

The probes are a shared library of their own beside the main one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cffi import FFI

from .. import toolkit_path

DECLARATIONS = """
double SfmlaFmaPeak(void);
double SfmlaReadRate(void);
const char *SfmlaInstructionSet(void);
const char *SfmlaKernelsRefusal(void);
int SfmlaRoundsBfloat16Weights(void);
"""


class BenchError(RuntimeError):
    """A measurement that cannot be made or compared; the text is one sentence."""


def fma_peak() -> float:
    """FLOP per second of one core that does nothing but multiply-adds, about now."""
    _check_kernels()
    return float(_open()[1].SfmlaFmaPeak())


def read_rate() -> float:
    """Bytes per second that one core reads from memory beyond the caches."""
    return float(_open()[1].SfmlaReadRate())


def instruction_set() -> str:
    """The instruction set of the kernels, a value of SFMLA_ISA. BenchError for a wrong value."""
    _check_kernels()
    ffi, probes = _open()
    return str(ffi.string(probes.SfmlaInstructionSet()).decode())


def rounds_weights(dtype: str) -> bool:
    """Whether the kernels round weights to the type of the values, ``dtype``, before using them."""
    return dtype == "bfloat16" and bool(_open()[1].SfmlaRoundsBfloat16Weights())


def _check_kernels() -> None:
    ffi, probes = _open()
    refusal = str(ffi.string(probes.SfmlaKernelsRefusal()).decode())
    if refusal:
        raise BenchError(refusal)


@cache
def _open() -> tuple[Any, Any]:
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    path = toolkit_path() / "lib64" / "libsfmla_bench.so"
    try:
        return ffi, ffi.dlopen(str(path))
    except OSError as error:
        raise BenchError(f"the probes {path} cannot be loaded: {error}") from error
