# SPDX-License-Identifier: Apache-2.0
"""How large an array is and where its elements lie, in the units of the C interface."""

import math
import operator
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ._errors import refuse

Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]


def extents_of(shape: Shape, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The extents of a new array, from one integer or several.

    AclParamError (161002) for a negative one, and for more bytes than addresses count.
    """
    extents: tuple[int, ...]
    try:
        extents = (operator.index(cast(SupportsIndex, shape)),)
    except TypeError:
        extents = tuple(map(operator.index, cast(Sequence[SupportsIndex], shape)))
    # NumPy counts an extent of 0 as 1 here.
    nbytes = math.prod(max(extent, 1) for extent in extents) * dtype.itemsize
    if min(extents, default=0) < 0 or nbytes > sys.maxsize:
        raise refuse(
            f"shape: {extents} of {dtype}, must have extents from 0 on and at most {sys.maxsize} "
            "bytes"
        )
    return extents


@dataclass(frozen=True)
class Layout:
    """Bytes [begin, end) from the lowest to the highest element; the rest in elements."""

    begin: int
    end: int
    offset: int  # of element 0 from `begin`; not 0 when a stride is negative
    strides: tuple[int, ...]  # () when there are no elements


def byte_span(array: NDArray[Any]) -> tuple[int, int]:
    """Bytes [begin, end) from the lowest to the highest element; (0, 0) when there are none."""
    if array.size == 0:
        return (0, 0)
    begin = array.__array_interface__["data"][0]
    end = begin + array.itemsize
    for extent, stride in zip(array.shape, array.strides, strict=True):
        begin += min(0, (extent - 1) * stride)
        end += max(0, (extent - 1) * stride)
    return (begin, end)


def layout_of(name: str, array: NDArray[Any]) -> Layout:
    """Layout of an array; AclParamError for strides that C cannot express."""
    if array.size == 0:
        return Layout(0, 0, 0, ())
    if any(stride % array.itemsize != 0 for stride in array.strides):
        raise refuse(
            f"{name}: strides {array.strides} bytes, must be multiples of {array.itemsize}"
        )
    begin, end = byte_span(array)
    first = array.__array_interface__["data"][0]
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Layout(begin, end, (first - begin) // array.itemsize, strides)
