// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/load_data.h"

#include <algorithm>

#include "base/checked_math.h"
#include "sim/contracts/load_data.h"
#include "sim/intrinsics/fractals.h"
#include "sim/intrinsics/lanes.h"
#include "sim/intrinsics/unwritten.h"

namespace sfmla::sim {
namespace {

void TransposeFractal(std::byte* dst, const std::byte* src) {
  constexpr int64_t kElementBytes = 2;
  for (int64_t row = 0; row < kFractalRows; ++row) {
    for (int64_t column = 0; column < kFractalRows; ++column) {
      std::memcpy(dst + (column * kFractalRows + row) * kElementBytes,
                  src + (row * kFractalRows + column) * kElementBytes, kElementBytes);
    }
  }
}

// Byte distance from an operand's first byte to the end of what an access touches.
uint64_t Extent(const Access& access) {
  return static_cast<uint64_t>(AccessEnd(access) - AccessBegin(access));
}

// Queues a move whose unwritten bytes travel along. Both moves take the place that `write` and
// `read` begin at; `shadow` is the one for bytes that say whether the data was written.
template <typename Move>
void IssueMove(const Call& call, const Operand& dst, const Operand& src, const Access& write,
               const Access& read, Move move, Move shadow) {
  Core& core = CurrentCore();
  if (core.checks()) CheckLoad(call, {"dst", dst}, {"src", src}, write, read);
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {write, read};
  const auto lowest = static_cast<uint64_t>(AccessBegin(read));
  const MemoryPart to{&core.memory(dst.space), dst.begin, Extent(write)};
  const MemoryPart from{&core.memory(src.space), lowest, Extent(read)};
  const uint64_t first = read.begin - lowest;
  instruction.execute = [=] {
    move(to.memory->At(to.begin), from.memory->At(from.begin + first));
    MoveUnwritten(to, from, [&](std::byte* written_to, const std::byte* written_from) {
      shadow(written_to, written_from + first);
    });
  };
  core.Issue(std::move(instruction));
}

void SetRegisters(const Load3dCall& load, ScalarState::Load3d& registers) {
  if (load.resets.isSetFMatrix) {
    registers.fmatrix_set = true;
    registers.l1_height = load.params.l1H;
    registers.l1_width = load.params.l1W;
    for (int side = 0; side < 4; ++side) registers.pad[side] = load.params.padList[side];
  }
  if (load.resets.isSetPadding) {
    registers.padding_set = true;
    registers.padding_bits = load.padding_bits;
  }
}

MatrixMove MoveOf(const Load3dCall& load, const ScalarState::Load3d& registers, bool to_l0b) {
  const int64_t stored_rows = int64_t{registers.l1_height} * registers.l1_width;
  const int64_t rows = load.params.mExtension;
  MatrixMove move{
      .stored_rows = stored_rows,
      .available_rows = std::clamp<int64_t>(stored_rows - load.params.mStartPt, 0, rows),
      .rows = rows,
      .columns = load.params.kExtension,
      .element_bytes = load.element_bytes,
      .to_l0b = to_l0b};
  std::memcpy(move.padding, &registers.padding_bits, sizeof(move.padding));
  return move;
}

Access MatrixRead(const Operand& src, const Load3dCall& load, const MatrixMove& move) {
  const int64_t c0 = kBlockBytes / move.element_bytes;
  const int64_t first = NzOffset(load.params.mStartPt, load.params.kStartPt, c0, move.stored_rows);
  Access read{.space = src.space, .kind = Access::Kind::kRead, .may_be_unwritten = true};
  read.operand = "src";
  read.begin = src.begin + static_cast<uint64_t>(first * move.element_bytes);
  read.run_bytes = static_cast<uint64_t>(move.available_rows * kBlockBytes);
  read.inner_count = static_cast<uint32_t>(CeilDiv(move.columns, c0));
  read.inner_stride = move.stored_rows * kBlockBytes;
  return read;
}

}  // namespace

void MoveFractals(std::byte* dst, const std::byte* src, const FractalMove& move) {
  for (int64_t i = 0; i < move.fractals; ++i) {
    std::byte* to = dst + i * move.dst_stride;
    const std::byte* from = src + i * move.src_stride;
    if (move.transposes) {
      TransposeFractal(to, from);
    } else {
      std::memcpy(to, from, kFractalBytes);
    }
  }
}

void MoveMatrix(std::byte* dst, const std::byte* src, const MatrixMove& move) {
  const int64_t bytes = move.element_bytes;
  const int64_t c0 = kBlockBytes / bytes;
  // Zz keeps blocks of 32 B together, Zn takes them apart.
  const int64_t piece = move.to_l0b ? 1 : c0;
  for (int64_t row = 0; row < move.rows; ++row) {
    for (int64_t column = 0; column < move.columns; column += piece) {
      std::byte* to = dst + (move.to_l0b ? ZnOffset(row, column, c0, move.columns)
                                         : ZzOffset(row, column, c0, move.columns)) *
                                bytes;
      if (row < move.available_rows) {
        const std::byte* from = src + NzOffset(row, column, c0, move.stored_rows) * bytes;
        std::memcpy(to, from, static_cast<size_t>(piece * bytes));
      } else {
        for (int64_t i = 0; i < piece; ++i) {
          std::memcpy(to + i * bytes, move.padding, static_cast<size_t>(bytes));
        }
      }
    }
  }
}

void IssueLoad2d(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const AscendC::LoadData2DParams& params, int64_t element_bytes) {
  const Call call{"LoadData", Pipe::kMte1, where};
  RequireSpace(call, {"dst", dst}, {Space::kL0A, Space::kL0B});
  CheckLoad2d(call, params, element_bytes);
  if (params.repeatTimes == 0) return;
  const int64_t direction = params.addrMode == 0 ? 1 : -1;
  const FractalMove move{.fractals = params.repeatTimes,
                         .src_stride = direction * params.srcStride * kFractalBytes,
                         .dst_stride = (params.dstGap + 1) * kFractalBytes,
                         .transposes = params.ifTranspose};
  Access write{.space = dst.space, .kind = Access::Kind::kWrite, .operand = "dst"};
  write.begin = dst.begin;
  write.run_bytes = kFractalBytes;
  write.inner_count = params.repeatTimes;
  write.inner_stride = move.dst_stride;
  Access read{.space = src.space, .kind = Access::Kind::kRead, .may_be_unwritten = true};
  read.operand = "src";
  read.begin = src.begin + uint64_t{params.startIndex} * kFractalBytes;
  read.run_bytes = kFractalBytes;
  read.inner_count = params.repeatTimes;
  read.inner_stride = move.src_stride;
  const auto run = [move](std::byte* to, const std::byte* from) { MoveFractals(to, from, move); };
  IssueMove(call, dst, src, write, read, run, run);
}

void IssueLoad3d(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const Load3dCall& load) {
  const Call call{"LoadData", Pipe::kMte1, where};
  RequireSpace(call, {"dst", dst}, {Space::kL0A, Space::kL0B});
  const bool to_l0b = dst.space == Space::kL0B;
  ScalarState::Load3d& registers = CurrentCore().scalar_state().load3d;
  const ScalarState::Load3d before = registers;
  SetRegisters(load, registers);
  CheckLoad3d(call, load, before, registers, to_l0b);
  const MatrixMove move = MoveOf(load, registers, to_l0b);
  Access write{.space = dst.space, .kind = Access::Kind::kWrite, .operand = "dst"};
  write.begin = dst.begin;
  write.run_bytes = static_cast<uint64_t>(move.rows * move.columns * move.element_bytes);
  MatrixMove shadow = move;  // padding counts as written
  std::fill(std::begin(shadow.padding), std::end(shadow.padding), std::byte{1});
  const auto runs = [](const MatrixMove& what) {
    return [what](std::byte* to, const std::byte* from) { MoveMatrix(to, from, what); };
  };
  IssueMove(call, dst, src, write, MatrixRead(src, load, move), runs(move), runs(shadow));
}

}  // namespace sfmla::sim
