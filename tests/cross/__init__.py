# SPDX-License-Identifier: Apache-2.0
"""Operator calls in another process: another instruction set, under an emulator if need be."""
