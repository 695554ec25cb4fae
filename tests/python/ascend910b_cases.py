# SPDX-License-Identifier: Apache-2.0
"""Calls for the emulated device, legal on Atlas A2 and A3."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from reference.call import Array, Call
from reference.case_arrays import make_sinks
from reference.cases import Case, build

# Values for the heads in turn. Large ones leave nothing to the keys, or everything, or a little.
SINKS = {"large": [30.0, -1e4, 1e4, -30.0], "minus infinite": [-np.inf]}


@dataclass(frozen=True)
class DeviceCase:
    """A case, and what of its call differs from what build() makes."""

    case: Case
    sinks: str = "finite"  # also "infinite", of both signs, or a key of SINKS
    returns_lse: bool = True

    def call(self) -> Call:
        call = build(self.case)
        heads = self.case.heads
        sinks: Array | None
        if self.sinks in SINKS:
            sinks = np.resize(SINKS[self.sinks], heads).astype(np.float32)
        else:
            sinks = make_sinks(np.random.default_rng(self.case.seed), heads, self.sinks)
        return dataclasses.replace(call, sinks=sinks, return_softmax_lse=self.returns_lse)

    def __str__(self) -> str:
        return f"{self.case}-{self.sinks.replace(' ', '_')}{'' if self.returns_lse else '-nolse'}"


# Window 127/0, ratio 4 with a list and 128 without, heads a power of two. Every mode, layout pair
# and type; requests without tokens, with more rows than tokens, and long ones; padded rows; gaps
# between pages; a row of two chunks.
CHOSEN = [
    DeviceCase(case)
    for case in (
        Case(rows=(1, 2, 3), tokens=(0, 1, 700), heads=16, seed=1),
        Case(layouts=("BSND", "BSND"), dtype="float16", rows=(2, 1), tokens=(130, 5), heads=64,
             seed=2),
        Case(layouts=("TND", "TND"), rows=(4, 1), tokens=(2, 300), heads=1, row_padding=2, seed=3),
        Case(mode="csa", rows=(1, 3), tokens=(900, 70), heads=32, cmp_block=32, seed=4),
        Case(mode="csa", layouts=("BSND", "PA_BBND"), dtype="float16", heads=8, cmp_topk=1100,
             rows=(1, 1), tokens=(9000, 3), page_gap_elements=512, seed=5),
        Case(mode="csa", layouts=("TND", "TND"), rows=(2,), tokens=(2600,), heads=128, seed=6),
        Case(mode="hca", ratio=128, rows=(1, 2), tokens=(70000, 127), heads=16, seed=7),
        Case(mode="hca", ratio=128, layouts=("BSND", "BSND"), dtype="float16", rows=(1,),
             tokens=(9000,), heads=4, seed=8),
        Case(mode="ori_sparse", ori_mask=0, window=(0, 0), rows=(2, 1), tokens=(300, 40), heads=16,
             seed=9),
    )
]  # fmt: skip
