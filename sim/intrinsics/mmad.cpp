// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/mmad.h"

#include <bit>

#include "base/checked_math.h"
#include "sim/contracts/mmad.h"
#include "sim/intrinsics/fractals.h"

namespace sfmla::sim {
namespace {

// From this many fractals of C on the chip itself keeps accumulating products in order.
constexpr int64_t kInterlockedFractals = 10;

// An accumulator that nobody wrote, or computed from what nobody wrote. It is told from a number by
// its bits, because an accumulating product reads and writes it in one.
constexpr uint32_t kUnwrittenBits = uint32_t{kPoison} << 16 | kPoison;

bool IsUnwritten(float value) { return std::bit_cast<uint32_t>(value) == kUnwrittenBits; }

struct ProductOperands {
  Memory* accumulator_memory;
  uint64_t accumulator;  // byte offsets
  Memory* left_memory;
  uint64_t left;
  Memory* right_memory;
  uint64_t right;
};

float* Accumulator(const ProductOperands& at) {
  return reinterpret_cast<float*>(at.accumulator_memory->At(at.accumulator));
}

template <typename OffsetOf>
std::vector<bool> UnwrittenLinesIn(const Call& call, const char* name, Memory& memory,
                                   uint64_t begin, int64_t bytes, int64_t lines, int64_t k,
                                   OffsetOf offset_of) {
  std::vector<bool> written(static_cast<size_t>(lines * k));
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t i = 0; i < k; ++i) {
      written[line * k + i] = memory.Written(
          begin + static_cast<uint64_t>(offset_of(line, i) * bytes), static_cast<uint64_t>(bytes));
    }
  }
  int64_t mixed = -1;
  const std::vector<bool> unwritten = UnwrittenLines(written, lines, k, &mixed);
  if (mixed >= 0) {
    Refuse(call, name, mixed, ": some of its ", k,
           " elements along k were never written, must be all or none");
  }
  return unwritten;
}

std::vector<bool> UnwrittenRows(const Call& call, const ProductOperands& at,
                                const ProductShape& shape) {
  const int64_t bytes = CubeTypeBytes(shape.type);
  if (at.left_memory->Written(at.left, static_cast<uint64_t>(LeftElements(shape) * bytes))) {
    return std::vector<bool>(static_cast<size_t>(shape.m));
  }
  return UnwrittenLinesIn(call, "fm: row ", *at.left_memory, at.left, bytes, shape.m, shape.k,
                          [&](int64_t row, int64_t i) { return LeftOffset(shape, row, i); });
}

std::vector<bool> UnwrittenColumns(const Call& call, const ProductOperands& at,
                                   const ProductShape& shape) {
  const int64_t bytes = CubeTypeBytes(shape.type);
  if (at.right_memory->Written(at.right, static_cast<uint64_t>(RightElements(shape) * bytes))) {
    return std::vector<bool>(static_cast<size_t>(shape.n));
  }
  return UnwrittenLinesIn(call, "filter: column ", *at.right_memory, at.right, bytes, shape.n,
                          shape.k,
                          [&](int64_t column, int64_t i) { return RightOffset(shape, i, column); });
}

void MultiplyChecked(const Call& call, const ProductOperands& at, const ProductShape& shape) {
  const std::vector<bool> rows = UnwrittenRows(call, at, shape);
  const std::vector<bool> columns = UnwrittenColumns(call, at, shape);
  const int64_t elements = AccumulatorElements(shape);
  float* accumulator = Accumulator(at);
  const std::vector<float> before(accumulator, accumulator + elements);
  MatrixProduct(accumulator, at.left_memory->At(at.left), at.right_memory->At(at.right), shape);
  const int64_t all_rows = AlignUp(shape.m, kFractalRows);
  for (int64_t row = 0; row < all_rows; ++row) {
    for (int64_t column = 0; column < elements / all_rows; ++column) {
      const int64_t offset = AccumulatorOffset(row, column, shape.m);
      const bool inside = row < shape.m && column < shape.n;
      const bool stale = shape.adds && IsUnwritten(before[offset]);
      if (inside && !rows[row] && !columns[column] && !stale) continue;
      accumulator[offset] = std::bit_cast<float>(kUnwrittenBits);
      at.accumulator_memory->MarkUnwritten(at.accumulator + static_cast<uint64_t>(offset) * 4, 4);
    }
  }
}

Access Whole(const char* name, const Operand& operand, Access::Kind kind, int64_t bytes) {
  Access access{.space = operand.space, .kind = kind, .may_be_unwritten = true, .operand = name};
  access.begin = operand.begin;
  access.run_bytes = static_cast<uint64_t>(bytes);
  return access;
}

}  // namespace

void IssueMmad(const Call& call, const Operand& dst, const Operand& left, const Operand& right,
               const AscendC::MmadParams& params, CubeType type) {
  CheckMmad(call, params);
  const ProductShape shape{params.m, params.n, params.k, type, !params.cmatrixInitVal};
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) return;
  Core& core = CurrentCore();
  const int64_t bytes = CubeTypeBytes(type);
  const auto accumulator_bytes = AccumulatorElements(shape) * int64_t{sizeof(float)};
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {
      Whole("dst", dst, Access::Kind::kWrite, accumulator_bytes),
      Whole("fm", left, Access::Kind::kRead, LeftElements(shape) * bytes),
      Whole("filter", right, Access::Kind::kRead, RightElements(shape) * bytes)};
  CheckMmadOperands(call, {"dst", dst}, {"fm", left}, {"filter", right}, instruction.accesses);
  if (shape.adds) {
    instruction.accesses.push_back(Whole("dst", dst, Access::Kind::kRead, accumulator_bytes));
  }
  if (params.unitFlag != 0) {
    instruction.unit_flag = UnitFlagUse{dst.begin, static_cast<uint64_t>(accumulator_bytes), false,
                                        params.unitFlag == 3};
  }
  const int64_t fractals = CeilDiv(shape.m, kFractalRows) * CeilDiv(shape.n, kAccumulatorColumns);
  instruction.ordered_in_pipe = fractals >= kInterlockedFractals;
  instruction.ticks = static_cast<uint32_t>(fractals * CeilDiv(shape.k, CubeC0(type)));
  const ProductOperands at{&core.memory(dst.space),   dst.begin,
                           &core.memory(left.space),  left.begin,
                           &core.memory(right.space), right.begin};
  const bool checks = core.checks();
  instruction.execute = [=] {
    if (checks) {
      MultiplyChecked(call, at, shape);
    } else {
      MatrixProduct(Accumulator(at), at.left_memory->At(at.left), at.right_memory->At(at.right),
                    shape);
    }
  };
  core.Issue(std::move(instruction));
}

}  // namespace sfmla::sim
