// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/data_copy.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "sim/contracts/data_copy.h"
#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {
namespace {

Access BurstAccess(const char* name, Access::Kind kind, const Operand& operand,
                   const BurstPlan& plan, int64_t pitch, int64_t bytes) {
  return {.space = operand.space,
          .kind = kind,
          .operand = name,
          .begin = operand.begin,
          .run_bytes = static_cast<uint64_t>(bytes),
          .inner_count = static_cast<uint32_t>(plan.bursts),
          .inner_stride = pitch};
}

void AddBursts(ScalarState::AtomicType type, std::byte* dst, const std::byte* src,
               const BurstPlan& plan) {
  for (int64_t i = 0; i < plan.bursts; ++i) {
    AddElements(type, dst + i * plan.dst_pitch, src + i * plan.src_pitch, plan.burst_bytes);
  }
}

// Fills [begin, end) of a row with repetitions of an element; begin counts from an element's start.
void FillElements(std::byte* begin, std::byte* end, const std::byte* value, int64_t value_bytes) {
  for (int64_t i = 0; begin + i < end; ++i) begin[i] = value[i % value_bytes];
}

// What kNothing and kValue leave undefined of a row in UB.
void MarkUndefined(Memory& memory, uint64_t row, const BurstPlan& plan, const PadPlan& pad) {
  const int64_t data_end = pad.left + plan.burst_bytes;
  const int64_t defined_end = pad.fill == PadPlan::Fill::kValue ? data_end + pad.right : data_end;
  if (pad.fill == PadPlan::Fill::kNothing) {
    memory.MarkUnwritten(row, static_cast<uint64_t>(pad.left));
  }
  memory.MarkUnwritten(row + static_cast<uint64_t>(defined_end),
                       static_cast<uint64_t>(PaddedRowBytes(plan, pad) - defined_end));
}

NdToNzPlan PlanOf(const AscendC::Nd2NzParams& params, int64_t element_bytes) {
  return {.matrices = params.ndNum,
          .rows = params.nValue,
          .columns = params.dValue,
          .element_bytes = element_bytes,
          .src_matrix_stride = params.srcNdMatrixStride * element_bytes,
          .src_row_stride = params.srcDValue * element_bytes,
          .dst_matrix_stride = params.dstNzMatrixStride * element_bytes,
          .dst_c0_stride = params.dstNzC0Stride * kBlockBytes,
          .dst_row_stride = params.dstNzNStride * kBlockBytes};
}

}  // namespace

void CopyBursts(std::byte* dst, const std::byte* src, const BurstPlan& plan) {
  for (int64_t i = 0; i < plan.bursts; ++i) {
    std::memmove(dst + i * plan.dst_pitch, src + i * plan.src_pitch,
                 static_cast<size_t>(plan.burst_bytes));
  }
}

int64_t PaddedRowBytes(const BurstPlan& plan, const PadPlan& pad) {
  return AlignUp(pad.left + plan.burst_bytes + pad.right, kBlockBytes);
}

void CopyPadded(std::byte* dst, const std::byte* src, const BurstPlan& plan, const PadPlan& pad) {
  for (int64_t i = 0; i < plan.bursts; ++i) {
    std::byte* row = dst + i * plan.dst_pitch;
    const std::byte* burst = src + i * plan.src_pitch;
    std::byte* data_end = row + pad.left + plan.burst_bytes;
    std::memcpy(row + pad.left, burst, static_cast<size_t>(plan.burst_bytes));
    if (pad.fill == PadPlan::Fill::kFirstElement) {
      FillElements(data_end, row + PaddedRowBytes(plan, pad), burst, pad.value_bytes);
    } else if (pad.fill == PadPlan::Fill::kValue) {
      FillElements(row, row + pad.left, pad.value, pad.value_bytes);
      FillElements(data_end, data_end + pad.right, pad.value, pad.value_bytes);
    }
  }
}

void CopyNdToNz(std::byte* dst, const std::byte* src, const NdToNzPlan& plan) {
  const int64_t row_bytes = plan.columns * plan.element_bytes;
  for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
    for (int64_t row = 0; row < plan.rows; ++row) {
      const std::byte* from = src + matrix * plan.src_matrix_stride + row * plan.src_row_stride;
      std::byte* to = dst + matrix * plan.dst_matrix_stride + row * plan.dst_row_stride;
      for (int64_t begin = 0; begin < row_bytes; begin += kBlockBytes) {
        const int64_t bytes = std::min(kBlockBytes, row_bytes - begin);
        std::memcpy(to, from + begin, static_cast<size_t>(bytes));
        std::memset(to + bytes, 0, static_cast<size_t>(kBlockBytes - bytes));
        to += plan.dst_c0_stride;
      }
    }
  }
}

BurstPlan CountPlan(int64_t count, int64_t element_bytes) {
  const int64_t bytes = count * element_bytes / kBlockBytes * kBlockBytes;
  return {.bursts = bytes == 0 ? 0 : 1, .burst_bytes = bytes, .src_pitch = 0, .dst_pitch = 0};
}

BurstPlan BlockPlan(const SourceLocation& where, const AscendC::DataCopyParams& params) {
  CheckBlocks({"DataCopy", Pipe::kS, where}, params);
  const int64_t bytes = params.blockLen * kBlockBytes;
  return {params.blockCount, bytes, bytes + params.srcStride * kBlockBytes,
          bytes + params.dstStride * kBlockBytes};
}

BurstPlan PadInPlan(const SourceLocation& where, const AscendC::DataCopyExtParams& params,
                    const PadPlan& pad) {
  CheckBursts({"DataCopyPad", Pipe::kMte2, where}, params);
  BurstPlan plan{.bursts = params.blockCount, .burst_bytes = params.blockLen};
  plan.src_pitch = plan.burst_bytes + params.srcStride;
  plan.dst_pitch = PaddedRowBytes(plan, pad) + params.dstStride * kBlockBytes;
  return plan;
}

BurstPlan PadOutPlan(const SourceLocation& where, const AscendC::DataCopyExtParams& params) {
  CheckBursts({"DataCopyPad", Pipe::kMte3, where}, params);
  const int64_t bytes = params.blockLen;
  return {params.blockCount, bytes, AlignUp(bytes, kBlockBytes) + params.srcStride * kBlockBytes,
          bytes + params.dstStride};
}

void IssueCopy(const char* name, const SourceLocation& where, const Operand& dst,
               const Operand& src, const BurstPlan& plan,
               std::optional<ScalarState::AtomicType> atomic_type) {
  const Call call{name, PipeOfCopy(name, where, dst, src), where};
  if (plan.bursts == 0) return;
  const bool adds = dst.space == Space::kGm && AtomicAddIsOn(call, atomic_type);
  const Access write = BurstAccess("dst", adds ? Access::Kind::kAtomicAdd : Access::Kind::kWrite,
                                   dst, plan, plan.dst_pitch, plan.burst_bytes);
  const Access read =
      BurstAccess("src", Access::Kind::kRead, src, plan, plan.src_pitch, plan.burst_bytes);
  CheckCopy(call, write, dst, read, src);
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {write, read};
  instruction.execute = [=] {
    if (adds) {
      AddBursts(*atomic_type, dst.host, src.host, plan);
    } else {
      CopyBursts(dst.host, src.host, plan);
    }
  };
  CurrentCore().Issue(std::move(instruction));
}

void IssuePadded(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const BurstPlan& plan, const PadPlan& pad) {
  const Call call{"DataCopyPad", Pipe::kMte2, where};
  CheckPadding(call, {"dst", dst}, pad);
  const Access write = BurstAccess("dst", Access::Kind::kWrite, dst, plan, plan.dst_pitch,
                                   PaddedRowBytes(plan, pad));
  const Access read =
      BurstAccess("src", Access::Kind::kRead, src, plan, plan.src_pitch, plan.burst_bytes);
  CheckCopy(call, write, dst, read, src);
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {write, read};
  Memory& memory = CurrentCore().memory(dst.space);
  instruction.execute = [=, &memory] {
    CopyPadded(dst.host, src.host, plan, pad);
    if (pad.fill == PadPlan::Fill::kFirstElement) return;
    for (int64_t i = 0; i < plan.bursts; ++i) {
      MarkUndefined(memory, dst.begin + static_cast<uint64_t>(i * plan.dst_pitch), plan, pad);
    }
  };
  CurrentCore().Issue(std::move(instruction));
}

void IssueNdToNz(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const AscendC::Nd2NzParams& params, int64_t element_bytes) {
  const Call call{"DataCopy", Pipe::kMte2, where};
  CheckNdToNz(call, {"dst", dst}, params, element_bytes);
  const NdToNzPlan plan = PlanOf(params, element_bytes);
  if (plan.matrices == 0 || plan.rows == 0 || plan.columns == 0) return;
  Instruction instruction = InstructionOf(call);
  for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
    Access write{.space = dst.space, .kind = Access::Kind::kWrite, .operand = "dst"};
    write.begin = dst.begin + static_cast<uint64_t>(matrix * plan.dst_matrix_stride);
    write.run_bytes = kBlockBytes;
    write.inner_count = static_cast<uint32_t>(plan.rows);
    write.inner_stride = plan.dst_row_stride;
    write.outer_count = static_cast<uint32_t>(CeilDiv(plan.columns * element_bytes, kBlockBytes));
    write.outer_stride = plan.dst_c0_stride;
    instruction.accesses.push_back(write);
  }
  Access read{.space = src.space, .kind = Access::Kind::kRead, .operand = "src"};
  read.begin = src.begin;
  read.run_bytes = static_cast<uint64_t>(plan.columns * element_bytes);
  read.inner_count = static_cast<uint32_t>(plan.rows);
  read.inner_stride = plan.src_row_stride;
  read.outer_count = static_cast<uint32_t>(plan.matrices);
  read.outer_stride = plan.src_matrix_stride;
  instruction.accesses.push_back(read);
  for (const Access& access : instruction.accesses) {
    RequireInside(call, access.writes() ? Argument{"dst", dst} : Argument{"src", src}, access);
  }
  instruction.execute = [=] { CopyNdToNz(dst.host, src.host, plan); };
  CurrentCore().Issue(std::move(instruction));
}

}  // namespace sfmla::sim
