// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/fixpipe.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "sim/contracts/fixpipe.h"
#include "sim/intrinsics/fractals.h"
#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {
namespace {

constexpr int64_t kAccumulatorRowBytes = kAccumulatorColumns * int64_t{sizeof(float)};
constexpr int64_t kAccumulatorFractalBytes = kFractalRows * kAccumulatorRowBytes;

template <typename T>
void Convert(std::byte* dst, const std::byte* src, const FixpipePlan& plan) {
  for (int64_t row = 0; row < plan.rows; ++row) {
    for (int64_t column = 0; column < plan.columns; ++column) {
      float value = 0;
      std::memcpy(&value,
                  src + column / kAccumulatorColumns * plan.src_block_stride +
                      row * kAccumulatorRowBytes + column % kAccumulatorColumns * 4,
                  sizeof(value));
      // The comparison that lets NaN through.
      if (plan.clamps_negative && value < 0) value = 0;
      std::byte* to = dst + column / plan.dst_block_columns * plan.dst_block_stride +
                      row * plan.dst_row_stride +
                      column % plan.dst_block_columns * int64_t{sizeof(T)};
      T result = T(value);
      if (plan.adds) {
        T old;
        std::memcpy(&old, to, sizeof(T));
        result = T(static_cast<float>(old) + static_cast<float>(result));
      }
      std::memcpy(to, &result, sizeof(T));
    }
  }
}

FixpipePlan PlanOf(const AscendC::FixpipeParamsV220& params, bool row_major, FixpipeType type,
                   bool adds) {
  const int64_t bytes = FixpipeTypeBytes(type);
  FixpipePlan plan{};
  plan.matrices = row_major ? int64_t{params.ndNum} : 1;
  plan.rows = params.mSize;
  plan.columns = params.nSize;
  plan.src_matrix_stride = params.srcNdStride * kAccumulatorFractalBytes;
  plan.src_block_stride = params.srcStride * kAccumulatorRowBytes;
  plan.type = type;
  plan.clamps_negative = params.reluEn;
  plan.adds = adds;
  if (row_major) {
    plan.dst_matrix_stride = params.dstNdStride * bytes;
    plan.dst_block_columns = plan.columns;
    plan.dst_row_stride = int64_t{params.dstStride} * bytes;
  } else {
    plan.dst_block_columns = params.isChannelSplit ? kAccumulatorColumns / 2 : kAccumulatorColumns;
    plan.dst_block_stride = int64_t{params.dstStride} * kBlockBytes;
    plan.dst_row_stride = plan.dst_block_columns * bytes;
  }
  return plan;
}

// Rows of whole block columns, then those of a last narrower one.
void AppendReads(const Operand& src, const FixpipePlan& plan, int64_t matrix,
                 std::vector<Access>* accesses) {
  const int64_t whole = plan.columns / kAccumulatorColumns;
  const int64_t rest = plan.columns % kAccumulatorColumns;
  Access read{.space = src.space, .kind = Access::Kind::kRead, .operand = "src"};
  read.begin = src.begin + static_cast<uint64_t>(matrix * plan.src_matrix_stride);
  if (whole > 0) {
    read.run_bytes = static_cast<uint64_t>(plan.rows * kAccumulatorRowBytes);
    read.inner_count = static_cast<uint32_t>(whole);
    read.inner_stride = plan.src_block_stride;
    accesses->push_back(read);
  }
  if (rest > 0) {
    read.begin += static_cast<uint64_t>(whole * plan.src_block_stride);
    read.run_bytes = static_cast<uint64_t>(rest) * sizeof(float);
    read.inner_count = static_cast<uint32_t>(plan.rows);
    read.inner_stride = kAccumulatorRowBytes;
    accesses->push_back(read);
  }
}

Access WriteOf(const Operand& dst, const FixpipePlan& plan, int64_t matrix) {
  Access write{.space = dst.space,
               .kind = plan.adds ? Access::Kind::kAtomicAdd : Access::Kind::kWrite,
               .operand = "dst"};
  write.begin = dst.begin + static_cast<uint64_t>(matrix * plan.dst_matrix_stride);
  write.run_bytes = static_cast<uint64_t>(std::min(plan.columns, plan.dst_block_columns) *
                                          FixpipeTypeBytes(plan.type));
  write.inner_count = static_cast<uint32_t>(plan.rows);
  write.inner_stride = plan.dst_row_stride;
  write.outer_count = static_cast<uint32_t>(CeilDiv(plan.columns, plan.dst_block_columns));
  write.outer_stride = plan.dst_block_stride;
  return write;
}

UnitFlagUse UnitsOf(const Operand& src, const FixpipePlan& plan, bool flips) {
  const int64_t last_block = CeilDiv(plan.columns, kAccumulatorColumns) - 1;
  const int64_t bytes = (plan.matrices - 1) * plan.src_matrix_stride +
                        last_block * plan.src_block_stride +
                        AlignUp(plan.rows, kFractalRows) * kAccumulatorRowBytes;
  return {src.begin, static_cast<uint64_t>(bytes), true, flips};
}

}  // namespace

void ConvertAccumulators(std::byte* dst, const std::byte* src, const FixpipePlan& plan) {
  for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
    std::byte* to = dst + matrix * plan.dst_matrix_stride;
    const std::byte* from = src + matrix * plan.src_matrix_stride;
    if (plan.type == FixpipeType::kFloat) Convert<float>(to, from, plan);
    if (plan.type == FixpipeType::kHalf) Convert<half>(to, from, plan);
    if (plan.type == FixpipeType::kBfloat16) Convert<bfloat16_t>(to, from, plan);
  }
}

void IssueFixpipe(const Call& call, const Operand& dst, const Operand& src,
                  const AscendC::FixpipeParamsV220& params, bool row_major, FixpipeType type,
                  std::optional<ScalarState::AtomicType> atomic_type) {
  CheckFixpipe(call, params, row_major, type);
  const bool adds = dst.space == Space::kGm && AtomicAddIsOn(call, atomic_type);
  const FixpipePlan plan = PlanOf(params, row_major, type, adds);
  Instruction instruction = InstructionOf(call);
  for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
    AppendReads(src, plan, matrix, &instruction.accesses);
    instruction.accesses.push_back(WriteOf(dst, plan, matrix));
  }
  CheckFixpipeOperands(call, {"dst", dst}, {"src", src}, FixpipeTypeBytes(type),
                       instruction.accesses);
  if (params.unitFlag != 0) instruction.unit_flag = UnitsOf(src, plan, params.unitFlag == 3);
  instruction.execute = [=] { ConvertAccumulators(dst.host, src.host, plan); };
  CurrentCore().Issue(std::move(instruction));
}

}  // namespace sfmla::sim
