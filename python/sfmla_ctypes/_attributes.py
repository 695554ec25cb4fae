# SPDX-License-Identifier: Apache-2.0
"""Attributes of calls as C takes them; refused here is only what has no form in C."""

import numbers
import operator
from typing import Any

from ._errors import refuse
from ._library import ffi

_LONGEST_SHOWN_BITS = 256


def integers(**values: Any) -> tuple[int, ...]:
    """int64_t attributes. TypeError for what is no integer, OverflowError beyond 64 bits."""
    return tuple(integer(name, value) for name, value in values.items())


def integer(name: str, value: Any, bits: int = 64, is_signed: bool = True) -> int:
    """As `integers`, of another type too."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}, must be an integer") from None
    least, end = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if is_signed else (0, 2**bits)
    if not least <= number < end:
        sign = "" if is_signed else " without a sign"
        raise OverflowError(f"{name}: {_shown(number)}, must fit in {bits} bits{sign}")
    return number


def real(**values: Any) -> tuple[float, ...]:
    """double attributes. TypeError for what is no real number, such as text or a truth value.

    OverflowError for a number beyond the range of double.
    """
    return tuple(_real(name, value) for name, value in values.items())


def _real(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: {value!r}, must be a real number")
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(f"{name}: {_shown(value)}, must fit in a double") from None


def _shown(value: Any) -> str:
    """Python refuses to write very long integers."""
    number = int(value)
    bits = number.bit_length()
    return f"{value}" if bits <= _LONGEST_SHOWN_BITS else f"a number of {bits} bits"


def c_string(name: str, value: str) -> Any:
    """Text as char*, alive as long as the returned object."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r}, must be a str")
    if "\0" in value:
        raise refuse(f"{name}: {value!r}, must be text without NUL")
    try:
        return ffi.new("char[]", value.encode())
    except UnicodeEncodeError:
        raise refuse(f"{name}: {value!r}, must be text without lone surrogates") from None
