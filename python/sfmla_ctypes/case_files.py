# SPDX-License-Identifier: Apache-2.0
"""Cases in files: the arguments of one call as ``.npz`` or ``.safetensors``.

Array names are the argument names of the operator in ``sfmla_ctypes``, attributes included; they
also tell the operator, see ``operators.operator_of``.

``.npz``: an attribute is an array of rank 0. NumPy's file format has no bfloat16, so bfloat16
arrays are written as their bits in uint16; on reading, uint16 and the two-byte void type that
``numpy.savez`` makes of a bfloat16 array both mean bfloat16. No tensor of the operator is uint16.

``.safetensors``: tensors with their own types (bfloat16 included); attributes as JSON values in
the file's string-to-string header. Needs the package ``safetensors``.

Strides are not kept: a strided view is written densely.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .case_arrays import Arguments
from .cases import CaseError
from .operators import OPERATORS

Array = NDArray[Any]

# Of all operators: which of them a file is for is found out from its names.
ATTRIBUTE_TYPES: Mapping[str, type] = {
    name: kind for operator in OPERATORS.values() for name, kind in operator.attribute_types.items()
}
TENSOR_NAMES = tuple(
    dict.fromkeys(name for operator in OPERATORS.values() for name in operator.array_names)
)
SUFFIXES = (".npz", ".safetensors")
# What zipfile and NumPy raise for damaged files, and for encrypted or otherwise foreign ones.
UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def load_case(path: Path) -> Arguments:
    """The arguments of one call from a file.

    Raises CaseError for a file that is missing, not of a known type, damaged, or that holds a name
    which is not an argument.
    """
    reader = _read_npz if _suffix(path) == ".npz" else _read_safetensors
    if not path.is_file():
        raise CaseError(f"{path}: no such file")
    tensors, attributes = reader(path)
    for name in tensors:
        if name not in TENSOR_NAMES:
            allowed = ", ".join((*TENSOR_NAMES, *ATTRIBUTE_TYPES))
            raise CaseError(f"{path}: array {name!r} is no argument, the arguments are {allowed}")
    return tensors | {name: _attribute(path, name, value) for name, value in attributes.items()}


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays and attributes (plain Python values) by name; the suffix decides the format.

    Raises CaseError when the file cannot be written.
    """
    tensors = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}
    attributes = {name: value for name, value in arrays.items() if name not in tensors}
    try:
        if _suffix(path) == ".npz":
            _write_npz(path, tensors, attributes)
        else:
            _write_safetensors(path, tensors, attributes)
    except OSError as error:
        raise CaseError(f"{path}: cannot be written, {error.strerror or error}") from error


def check_suffix(path: Path) -> None:
    """Raise CaseError unless the file name ends in a known suffix."""
    _suffix(path)


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise CaseError(f"{path}: suffix {path.suffix!r}, must be {' or '.join(SUFFIXES)}")
    return path.suffix


def _read_npz(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    tensors: dict[str, Array] = {}
    attributes: dict[str, Any] = {}
    if not zipfile.is_zipfile(path):
        raise CaseError(f"{path}: not an .npz file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            for name, value in archive.items():
                if value.ndim == 0 and name not in TENSOR_NAMES:
                    attributes[name] = value.item()
                else:
                    tensors[name] = _from_bits(value)
    except UNREADABLE as error:
        raise CaseError(f"{path}: not a readable .npz file ({error})") from error
    return tensors, attributes


def _write_npz(path: Path, tensors: Mapping[str, Array], attributes: Mapping[str, Any]) -> None:
    members: dict[str, Any] = {name: _to_bits(value) for name, value in tensors.items()}
    members |= {name: np.array(value) for name, value in attributes.items()}
    with path.open("wb") as file:
        np.savez(file, **members)


def _from_bits(value: Array) -> Array:
    is_bits = value.dtype == np.uint16 or value.dtype == np.dtype("V2")
    return value.view(ml_dtypes.bfloat16) if is_bits else value


def _to_bits(value: Array) -> Array:
    if value.dtype != ml_dtypes.bfloat16:
        return value
    return np.ascontiguousarray(value).view(np.uint16)


def _read_safetensors(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    safetensors = _import_safetensors()
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            header = dict(file.metadata() or {})
    except (OSError, TypeError, safetensors.SafetensorError) as error:
        raise CaseError(f"{path}: not a readable .safetensors file ({error})") from error
    # Other tools keep notes of their own in the header.
    texts = {name: text for name, text in header.items() if name in ATTRIBUTE_TYPES}
    return tensors, {name: _json_value(text) for name, text in texts.items()}


def _write_safetensors(
    path: Path, tensors: Mapping[str, Array], attributes: Mapping[str, Any]
) -> None:
    safetensors = _import_safetensors()
    from safetensors.numpy import save_file

    dense = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    texts = {name: json.dumps(value) for name, value in attributes.items()}
    try:
        save_file(dense, path, metadata=texts)
    except safetensors.SafetensorError as error:
        raise CaseError(f"{path}: cannot be written, {error}") from error


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text  # a bare word such as TND


def _import_safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise CaseError(
            ".safetensors files need the package safetensors, "
            "install it with: python -m pip install 'sfmla-ctypes[safetensors]'"
        ) from error
    return safetensors


def _attribute(path: Path, name: str, value: Any) -> Any:
    if name not in ATTRIBUTE_TYPES:
        allowed = ", ".join(ATTRIBUTE_TYPES)
        raise CaseError(f"{path}: attribute {name!r} is no argument, the attributes are {allowed}")
    kind = ATTRIBUTE_TYPES[name]
    fits = isinstance(value, (int, float) if kind is float else kind)
    if not fits or (kind is not bool and isinstance(value, bool)):
        raise CaseError(f"{path}: {name}: found {value!r}, must be of type {kind.__name__}")
    return kind(value)
