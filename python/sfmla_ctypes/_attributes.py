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
    return tuple(_integer(name, value) for name, value in values.items())


def _integer(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}, must be an integer") from None
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{name}: {_shown(number)}, must fit in 64 bits")
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
