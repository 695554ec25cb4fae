# SPDX-License-Identifier: Apache-2.0
"""The prefix that programs are built against."""

import sfmla_ctypes

PREFIX = sfmla_ctypes.toolkit_path()
LIB = PREFIX / "lib64"
VENDOR = PREFIX / "opp" / "vendors" / "sfmla" / "op_api"
