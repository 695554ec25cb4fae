# SPDX-License-Identifier: Apache-2.0
"""What NumPy makes of an argument, or says against it, in sentences that name the argument."""

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._errors import AclError, refuse

Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]


def extents_of(shape: Shape, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Extents of a new array.

    TypeError for what is no shape, AclParamError for one that no array has.
    """
    try:
        axes = [shape] if isinstance(shape, SupportsIndex) else shape
        extents = tuple(map(operator.index, axes))
    except TypeError:
        raise TypeError(f"shape: {shape!r}, must be an integer or a tuple of them") from None
    if any(extent < 0 for extent in extents):
        raise refuse(f"shape: {extents}, must have extents of 0 or more")
    # NumPy counts an extent of 0 as 1 here.
    if math.prod(max(extent, 1) for extent in extents) * dtype.itemsize > sys.maxsize:
        raise refuse(f"shape: {extents} of {dtype}, must have at most {sys.maxsize} bytes")
    return extents


def host_array(name: str, value: Any, **options: Any) -> NDArray[Any]:
    """np.array(value, **options); TypeError for what it cannot read, such as a broken interface."""
    try:
        array: NDArray[Any] = np.array(value, **options)
    except (AclError, MemoryError):
        raise  # of an array that could be read at another time
    except Exception as error:
        raise unreadable(name, value, error) from error
    return array


def unreadable(name: str, value: Any, error: Exception) -> TypeError:
    """The exception for an object that claims to be an array and cannot say which."""
    text = f"{type(error).__name__}: {error}".split("\n", 1)[0]
    return TypeError(
        f"{name}: {type(value).__name__} without a valid description ({text}), must be an array"
    )
