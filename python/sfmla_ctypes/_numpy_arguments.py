# SPDX-License-Identifier: Apache-2.0
"""What NumPy makes of an argument, or says against it, in sentences that name the argument."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import AclError


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
