# SPDX-License-Identifier: Apache-2.0
"""The shared library of this package, opened through cffi in ABI mode.

`lib` has every function and constant of the public headers; a call through it releases the GIL
while the C code runs. `ffi` makes and converts C values.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

from cffi import FFI

from ._cdef import CDEF


def toolkit_path() -> Path:
    """Folder shaped like a CANN toolkit (include/, lib64/), for `ASCEND_HOME_PATH`.

    C and C++ programs compile and link against it; Python uses the same library.
    """
    return Path(str(files(__package__).joinpath("toolkit")))


def _open(ffi: FFI) -> Any:
    path = toolkit_path() / "lib64" / "libsfmla.so"
    try:
        return ffi.dlopen(str(path))
    except OSError as error:
        raise ImportError(f"the library {path} cannot be loaded: {error}") from error


ffi: Any = FFI()
ffi.cdef(CDEF)
lib: Any = _open(ffi)


def _look_everything_up() -> None:
    """cffi holds a lock while it looks a name up for the first time, and allocates meanwhile.

    Garbage collection may run a finalizer there, which would wait for that lock forever if it
    needed a name for the first time too.
    """
    for name in dir(lib):
        getattr(lib, name)
    for pointer in _TYPES_OF_FINALIZERS:
        ffi.typeof(pointer)


_TYPES_OF_FINALIZERS = ("aclmdlRI *", "aclrtStreamStatus *", "int32_t *", "void *")
_look_everything_up()
