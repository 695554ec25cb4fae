# SPDX-License-Identifier: Apache-2.0
"""How fast the operators are here, beside what the arithmetic units and the peers can do.

``workloads`` names the calls and what is expected of them; ``sweeps`` varies one size at a time.
``worker`` is a process that times one engine: the library, NumPy or PyTorch. ``campaign`` runs
workers in turns, so that everything that is compared was measured in the same minutes, and makes
the report that ``report``, ``compare`` and ``roofline`` show.

docs/performance.md says how each number is measured.
"""
