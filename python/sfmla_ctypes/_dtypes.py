# SPDX-License-Identifier: Apache-2.0
"""Element types that NumPy and the C interface share; bfloat16 comes from ml_dtypes."""

from typing import Any

import ml_dtypes
import numpy as np

from ._errors import refuse
from ._library import lib

bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

_ACL_TYPES: dict[np.dtype[Any], int] = {
    np.dtype(np.float32): lib.ACL_FLOAT,
    np.dtype(np.float16): lib.ACL_FLOAT16,
    bfloat16: lib.ACL_BF16,
    np.dtype(np.float64): lib.ACL_DOUBLE,
    np.dtype(np.int8): lib.ACL_INT8,
    np.dtype(np.int16): lib.ACL_INT16,
    np.dtype(np.int32): lib.ACL_INT32,
    np.dtype(np.int64): lib.ACL_INT64,
    np.dtype(np.uint8): lib.ACL_UINT8,
    np.dtype(np.uint16): lib.ACL_UINT16,
    np.dtype(np.uint32): lib.ACL_UINT32,
    np.dtype(np.uint64): lib.ACL_UINT64,
    np.dtype(np.bool_): lib.ACL_BOOL,
    np.dtype(np.complex64): lib.ACL_COMPLEX64,
    np.dtype(np.complex128): lib.ACL_COMPLEX128,
}


def acl_type(name: str, dtype: np.dtype[Any]) -> int:
    """The aclDataType of a dtype; AclParamError naming the operand when there is none."""
    try:
        return _ACL_TYPES[dtype]
    except KeyError:
        known = ", ".join(str(known) for known in _ACL_TYPES)
        raise refuse(f"{name}: dtype {dtype}, must be one of {known}") from None
