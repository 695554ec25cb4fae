# SPDX-License-Identifier: Apache-2.0
"""Runs calls on the emulated device and writes their outputs; started by test_ascend910b.py.

    python ascend910b_worker.py OUT.npz CASE_INDEX...

A process of its own, because the library reads SFMLA_DEVICE and its like once.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from operator_calls import attend

from reference.cases import Case, build

# Legal on Atlas A2/A3: window 127/0, ratio 4 with a list and 128 without, heads a power of two.
# Every mode, layout pair and type; requests without tokens, with more rows than tokens, and long
# ones; padded rows; gaps between pages.
CASES = [
    Case(rows=(1, 2, 3), tokens=(0, 1, 700), heads=16, seed=1),
    Case(layouts=("BSND", "BSND"), dtype="float16", rows=(2, 1), tokens=(130, 5), heads=64, seed=2),
    Case(layouts=("TND", "TND"), rows=(4, 1), tokens=(2, 300), heads=1, row_padding=2, seed=3),
    Case(mode="csa", rows=(1, 3), tokens=(900, 70), heads=32, cmp_block=32, seed=4),
    Case(mode="csa", layouts=("BSND", "PA_BBND"), dtype="float16", heads=8, cmp_topk=600,
         rows=(1, 1), tokens=(4000, 3), page_gap_elements=512, seed=5),
    Case(mode="csa", layouts=("TND", "TND"), rows=(2,), tokens=(2600,), heads=128, seed=6),
    Case(mode="hca", ratio=128, rows=(1, 2), tokens=(70000, 127), heads=16, seed=7),
    Case(mode="hca", ratio=128, layouts=("BSND", "BSND"), dtype="float16", rows=(1,),
         tokens=(9000,), heads=4, seed=8),
    Case(mode="ori_sparse", ori_mask=0, window=(0, 0), rows=(2, 1), tokens=(300, 40), heads=16,
         seed=9),
]  # fmt: skip


def main() -> None:
    outputs = {}
    for index in (int(text) for text in sys.argv[2:]):
        out, lse = attend(build(CASES[index]))
        outputs[f"out{index}"] = np.asarray(out).view(np.uint16)
        outputs[f"lse{index}"] = np.asarray(lse)
    np.savez(sys.argv[1], **outputs)


if __name__ == "__main__":
    main()
