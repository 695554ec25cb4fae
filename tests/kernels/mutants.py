# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the Ascend C kernel, each with what must notice it: a piece of the emulator's
fault text, or the oracle."""

from dataclasses import dataclass

CHIP = "arch/dav_2201"
COMMON = "common"
ORACLE = "element"  # of a row and head, by the comparison with the definition
BITS = "found.out == expected.out"


COMPILER = "the table must fit into UB"
READABLE = {
    ORACLE: "the oracle: a number",
    BITS: "the oracle: bits differ between plans",
    COMPILER: f"the compiler: {COMPILER}",
}


@dataclass(frozen=True)
class Mutant:
    """Text `old`, which is in `file` of op_kernel once, becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str

    @property
    def row(self) -> str:
        """Of the table in docs/emulator.md."""
        by = READABLE.get(self.caught_by, f"the emulator: {self.caught_by}")
        return f"| {self.name} | {self.file.rsplit('/', 1)[1]} | {by} |"


MUTANTS = [
    Mutant(
        "keys in L1 are not awaited",
        f"{CHIP}/cube_core.h",
        "  AscendC::WaitFlag<Event::MTE2_MTE1>(l1_event::kKeys + unit_);\n  return unit;",
        "  return unit;",
        "no MTE2_MTE1 wait",
    ),
    Mutant(
        "two buffers of keys in L1 under three flags",
        f"{CHIP}/cube_core.h",
        "L1<T, l1::kKeys>(static_cast<uint32_t>(unit_))",
        "L1<T, l1::kKeys>(static_cast<uint32_t>(unit_ % 2))",
        "no MTE1_MTE2 wait",
    ),
    Mutant(
        "keys released once per tile, not per unit",
        f"{CHIP}/cube_core.h",
        "    ReleaseKeys();\n  }\n  const int64_t slot = task.index % kScoreSlots",
        "  }\n  ReleaseKeys();\n  const int64_t slot = task.index % kScoreSlots",
        "deadlock",
    ),
    Mutant(
        "wrong side of the ping-pong in L0B",
        f"{CHIP}/cube_products.h",
        "LoadData(right_[side_], matrix, params);\n  }\n\n  // B, k x n, is rows",
        "LoadData(right_[side_ ^ 1], matrix, params);\n  }\n\n  // B, k x n, is rows",
        "no M_MTE1 wait",
    ),
    Mutant(
        "the cube does not await its operands",
        f"{CHIP}/cube_products.h",
        "    AscendC::WaitFlag<AscendC::HardEvent::MTE1_M>(l0_event::kOperands + side_);\n"
        "    AscendC::MmadParams",
        "    AscendC::MmadParams",
        "no MTE1_M wait",
    ),
    Mutant(
        "a sum is stored before it is complete",
        f"{CHIP}/cube_products.h",
        "    AscendC::SetFlag<AscendC::HardEvent::M_FIX>(l0_event::kSum + sum_side_);\n"
        "    AscendC::WaitFlag<AscendC::HardEvent::M_FIX>(l0_event::kSum + sum_side_);\n",
        "",
        "no M_FIX wait",
    ),
    Mutant(
        "no barrier between small sums",
        f"{CHIP}/cube_products.h",
        "    if (blocks < kOverlappingBlocks) AscendC::PipeBarrier<PIPE_M>();\n",
        "",
        "no PipeBarrier<PIPE_M>",
    ),
    Mutant(
        "a new sum begins with the old one",
        f"{CHIP}/cube_products.h",
        "params.cmatrixInitVal = is_first_",
        "params.cmatrixInitVal = false",
        "which nothing has written",
    ),
    Mutant(
        "k is rounded up into rows that nobody loaded",
        f"{CHIP}/cube_products.h",
        "params.k = extent.k",
        "params.k = MultipleUp(extent.k, kFractalRows)",
        "must be all or none",
    ),
    Mutant(
        "padded head rows are stored too",
        f"{CHIP}/cube_core.h",
        "heads_, kDeviceTileTokens,\n                  extent",
        "padded_heads_, kDeviceTileTokens,\n                  extent",
        "the tensor has",
    ),
    Mutant(
        "the query is released at every tile",
        f"{CHIP}/cube_core.h",
        "if (task.last_of_row) AscendC::SetFlag",
        "AscendC::SetFlag",
        "is already set",
    ),
    Mutant(
        "gathered keys are not awaited",
        f"{CHIP}/cube_core.h",
        "  if (task.is_gathered()) AscendC::CrossCoreWaitFlag(cross::kKeysGathered);\n",
        "",
        "which nothing has written",
    ),
    Mutant(
        "a swapped cross-core flag",
        f"{CHIP}/cube_core.h",
        "CrossCoreWaitFlag(cross::kProbabilitiesReady)",
        "CrossCoreWaitFlag(cross::kKeysGathered)",
        "deadlock",
    ),
    Mutant(
        "probabilities are announced by V, which did not store them",
        f"{CHIP}/softmax_stage.h",
        "PIPE_MTE3>(cross::kProb",
        "PIPE_V>(cross::kProb",
        "no cross-core flag set by MTE3",
    ),
    Mutant(
        "scores are announced by M, which did not store them",
        f"{CHIP}/cube_core.h",
        "PIPE_FIX>(cross::kScoresReady)",
        "PIPE_M>(cross::kScoresReady)",
        "no cross-core flag set by FIX",
    ),
    *(
        Mutant(
            f"one slot of {what} too few",
            f"{COMMON}/device_tiling.h",
            f"{name} = {count}",
            f"{name} = {count - 1}",
            "is not ordered before",
        )
        for what, name, count in (
            ("gathered keys", "kKeySlots", 3),
            ("scores", "kScoreSlots", 2),
            ("probabilities", "kProbabilitySlots", 2),
            ("values", "kValueSlots", 2),
        )
    ),
    Mutant(
        "the accumulator is not acquired",
        f"{CHIP}/output_stage.h",
        "    context_.accumulator.Acquire();\n    LoadElements(AccumulatorRow(0)",
        "    LoadElements(AccumulatorRow(0)",
        "is already set",
    ),
    Mutant(
        "V does not await what was loaded",
        f"{CHIP}/ub_rings.h",
        "    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(event_);\n",
        "",
        "no MTE2_V wait",
    ),
    Mutant(
        "gathered rows are stored before they are loaded",
        f"{CHIP}/gather_stage.h",
        "    target_->HandToStore();\n",
        "",
        "no MTE2_MTE3 wait",
    ),
    Mutant(
        "an input buffer is released before its last reader",
        f"{CHIP}/softmax_stage.h",
        "    AscendC::Cast(probabilities, scores, AscendC::RoundMode::CAST_RINT, "
        "shape.elements());\n    context_.output.HandToStore();\n    target.ReleaseByVector();",
        "    target.ReleaseByVector();\n    AscendC::Cast(probabilities, scores, "
        "AscendC::RoundMode::CAST_RINT, shape.elements());\n    context_.output.HandToStore();",
        "no V_MTE2 wait",
    ),
    Mutant(
        "flags of the output buffers are left set",
        f"{CHIP}/ub_rings.h",
        "    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput);\n"
        "    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput + 1);\n",
        "",
        "kernel end",
    ),
    Mutant(
        "a barrier of V is missing",
        f"{CHIP}/softmax_stage.h",
        "    SpreadRows(row_blocks, after.max[at], shape.rows);\n"
        "    AscendC::Exp(after.rescale[at]",
        "    AscendC::Brcb(row_blocks, after.max[at], QuotientUp(shape.rows, kFloatsPerBlock), "
        "{1, 8});\n    AscendC::Exp(after.rescale[at]",
        "no PipeBarrier<PIPE_V>",
    ),
    Mutant(
        "columns behind the keys are not filled",
        f"{CHIP}/softmax_stage.h",
        "    FillColumns(scores, shape, task.ori.size() + task.cmp.attended, shape.columns, "
        "kLowestFloat);\n",
        "",
        "which nothing has written",
    ),
    Mutant(
        "absent keys are not zeroed",
        f"{CHIP}/gather_stage.h",
        "if (context_.sub_block == 0) {",
        "if (context_.sub_block == 2) {",
        "which nothing has written",
    ),
    Mutant(
        "the last score of a row is not loaded",
        f"{CHIP}/softmax_stage.h",
        "const int64_t bytes = task.keys() * static_cast<int64_t>(sizeof(float))",
        "const int64_t bytes = (task.keys() - 1) * static_cast<int64_t>(sizeof(float))",
        ORACLE,
    ),
    Mutant(
        "the running output is not rescaled",
        f"{CHIP}/output_stage.h",
        "      MultiplyRows(rows, blocks, shape);\n      AscendC::Add(rows",
        "      AscendC::Add(rows",
        ORACLE,
    ),
    Mutant(
        "the table of UB is too long",
        f"{CHIP}/buffers.h",
        "{0, kVectorHeads * kHeadElements * kFloatBytes, 1}",
        "{12 * kKibibyte, kVectorHeads * kHeadElements * kFloatBytes, 1}",
        COMPILER,
    ),
    Mutant(
        "chunks are merged without SyncAll",
        f"{CHIP}/vector_core.h",
        "    AscendC::SyncAll();\n",
        "",
        "may be set still",
    ),
    Mutant(
        "chunks are merged right to left",
        f"{CHIP}/merge_stage.h",
        "split.first_slot + chunk, heads.first",
        "split.first_slot + split.slot_count - 1 - chunk, heads.first",
        BITS,
    ),
    Mutant(
        "a vector core merges by one record of the plan only",
        f"{CHIP}/merge_stage.h",
        "index < kVectorRecords",
        "index < cores",
        BITS,
    ),
    Mutant(
        "sinks begin with those of the first head",
        f"{CHIP}/finish_rows.h",
        "sinks[static_cast<uint64_t>(heads.first)]",
        "sinks[0]",
        ORACLE,
    ),
    Mutant(
        "totals are read back before they are stored",
        f"{CHIP}/output_stage.h",
        "    context_.accumulator.ReleaseByStore();",
        "    context_.accumulator.ReleaseByVector();",
        "no MTE3_MTE2 wait",
    ),
    Mutant(
        "a vector core takes its index for that of its group",
        f"{CHIP}/attention_kernel.h",
        "group = core / cores_per_group",
        "group = core",
        "deadlock",
    ),
    Mutant(
        "the block table is read at the first page only",
        f"{CHIP}/key_loader.h",
        "column = token / geometry.page_tokens;",
        "column = 0 * token / geometry.page_tokens;",
        ORACLE,
    ),
    Mutant(
        "the window begins one token early",
        f"{COMMON}/kv_range.h",
        "begin = position - rules.window_left;",
        "begin = position - rules.window_left - 1;",
        ORACLE,
    ),
    Mutant(
        "the heads of the second vector core begin too early",
        f"{CHIP}/vector_context.h",
        "HeadRange{half, heads - half}",
        "HeadRange{half - 8, heads - half}",
        "is not ordered before",
    ),
    Mutant(
        "padded rows are left alone",
        f"{CHIP}/vector_core.h",
        "    ZeroPaddedRows(&context_, core_, cores_);\n",
        "",
        ORACLE,
    ),
]
