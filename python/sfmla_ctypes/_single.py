# SPDX-License-Identifier: Apache-2.0
"""Objects of which there is one each."""

from typing import ClassVar, NoReturn, SupportsIndex


class Single:
    """Stands for something of the C interface that a copy or another process would not have.

    TypeError for copy.copy, copy.deepcopy and pickle, which all ask `__reduce_ex__`. A copy would
    be released twice, or used behind the release of the original.
    """

    _instead: ClassVar[str] = "must be used itself"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"{type(self).__name__}: neither copied nor pickled, {self._instead}")
