# SPDX-License-Identifier: Apache-2.0
"""What the operators must compute, written to be read. Imports nothing of the library."""
