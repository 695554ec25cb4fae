# SPDX-License-Identifier: Apache-2.0
"""Runs calls on the emulated device and writes their outputs; started by ascend910b_runs.py.

    python ascend910b_worker.py CASES.pickle OUT.npz

A process of its own, because the library reads SFMLA_DEVICE and its like once.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from operator_calls import attend

from sfmla_ctypes import AclError


def main() -> None:
    outputs: dict[str, Any] = {}
    for index, case in enumerate(pickle.loads(Path(sys.argv[1]).read_bytes())):
        try:
            out, lse = attend(case.call())
        except AclError as error:
            outputs[f"fault{index}"] = str(error)
            continue
        outputs[f"out{index}"] = np.asarray(out).view(np.uint16)
        outputs[f"lse{index}"] = np.asarray(lse)
    np.savez(sys.argv[2], **outputs)


if __name__ == "__main__":
    main()
