# SPDX-License-Identifier: Apache-2.0
"""The operators in float64 NumPy, written to be read and independent of the library.

A function here takes the arguments of the operator of the same name in ``sfmla_ctypes`` and answers
what that should; ``attended_rows`` of a call says which keys each row attends to, which is what
pictures and operation counts need. The arguments are taken to be valid: refusing bad ones is the
library's work.

Axes: B requests, S1 query tokens, S2 original tokens, S3 compressed tokens, T1/T2/T3 the same
packed over all requests, N1 query heads, one KV head, D = 512.

Users check their own arrays with these. The tests have others, in tests/reference, which share no
logic with them, only names and defaults of the published arguments, so that no mistake can hide in
both.
"""

from .rows import AttendedRow, Cache, Keys
from .sparse_attn_sharedkv import SharedKvCall, sparse_attn_sharedkv
from .sparse_flash_attention import FlashCall, sparse_flash_attention
from .sparse_flash_mla import (
    Call,
    QueryRow,
    Request,
    query_rows,
    requests,
    row_keys,
    sparse_flash_mla,
)

AnyCall = Call | SharedKvCall | FlashCall

__all__ = [
    "AnyCall",
    "AttendedRow",
    "Cache",
    "Call",
    "FlashCall",
    "Keys",
    "QueryRow",
    "Request",
    "SharedKvCall",
    "query_rows",
    "requests",
    "row_keys",
    "sparse_attn_sharedkv",
    "sparse_flash_attention",
    "sparse_flash_mla",
]
