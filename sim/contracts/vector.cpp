// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/vector.h"

#include <algorithm>

namespace sfmla::sim {
namespace {

struct Run {
  int64_t first;
  int64_t length;
};

// Runs of active lanes of one round, each contiguous in memory.
std::vector<Run> RunsOf(const LaneMask& mask, int64_t per_repeat, int64_t window) {
  std::vector<Run> runs;
  ForEachRun(Lanes::Repeated(1, per_repeat, mask), window,
             [&](int64_t, int64_t first, int64_t length) { runs.push_back({first, length}); });
  return runs;
}

Access Footprint(const VectorArgument& operand, int64_t repeat, const Run& run) {
  return {.space = operand.argument.operand.space,
          .kind = operand.kind,
          .operand = operand.argument.name,
          .begin = operand.argument.operand.begin +
                   static_cast<uint64_t>(
                       LaneOffsetBytes(operand.strides, operand.element_bytes, repeat, run.first)),
          .run_bytes = static_cast<uint64_t>(run.length * operand.element_bytes)};
}

// Rounds [first, first + count) with one mask.
void AppendRounds(const VectorArgument& operand, const LaneMask& mask, int64_t per_repeat,
                  int64_t first, int64_t count, std::vector<Access>* accesses) {
  const int64_t window = ContiguousLanes(operand.strides, operand.element_bytes, per_repeat);
  const int64_t block_stride = operand.strides.block * kBlockBytes;
  const auto continues = [&](const Access& previous, const Access& next) {
    return previous.run_bytes == next.run_bytes &&
           previous.begin + previous.inner_count * block_stride == next.begin;
  };
  const size_t begin = accesses->size();
  for (const Run& run : RunsOf(mask, per_repeat, window)) {
    Access access = Footprint(operand, first, run);
    access.outer_count = static_cast<uint32_t>(count);
    access.outer_stride = operand.strides.repeat * kBlockBytes;
    access.inner_stride = block_stride;
    if (accesses->size() > begin && continues(accesses->back(), access)) {
      ++accesses->back().inner_count;
    } else {
      accesses->push_back(access);
    }
  }
}

int64_t RoundBytes(int64_t per_repeat, int64_t element_bytes) { return per_repeat * element_bytes; }

// One run of all lanes, where the rounds lie behind each other without gaps.
bool AppendAsOneRun(const VectorArgument& operand, const Lanes& lanes,
                    std::vector<Access>* accesses) {
  const bool dense =
      operand.strides.block == 1 &&
      operand.strides.repeat * kBlockBytes == RoundBytes(lanes.per_repeat, operand.element_bytes) &&
      (lanes.repeats == 1 || lanes.mask == LaneMask::Leading(lanes.per_repeat));
  if (!dense) return false;
  const auto runs = RunsOf(lanes.last_mask, lanes.per_repeat, lanes.per_repeat);
  if (runs.size() != 1 || runs[0].first != 0) return false;
  Access access = Footprint(operand, 0, {0, runs[0].length});
  access.run_bytes += static_cast<uint64_t>((lanes.repeats - 1) *
                                            RoundBytes(lanes.per_repeat, operand.element_bytes));
  accesses->push_back(access);
  return true;
}

std::vector<Access> RoundFootprint(const VectorArgument& operand, const Lanes& lanes,
                                   int64_t repeat) {
  std::vector<Access> accesses;
  AppendRounds(operand, lanes.MaskOf(repeat), lanes.per_repeat, repeat, 1, &accesses);
  return accesses;
}

bool AnyOverlap(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Access& x) {
    return std::any_of(b.begin(), b.end(), [&](const Access& y) { return Overlap(x, y); });
  });
}

bool SamePlace(const VectorArgument& a, const VectorArgument& b) {
  return a.argument.operand.begin == b.argument.operand.begin &&
         a.strides.block == b.strides.block && a.element_bytes == b.element_bytes;
}

[[noreturn]] void RefuseOverlap(const Call& call, const VectorArgument& dst,
                                const VectorArgument& src, int64_t written, int64_t read) {
  if (written == read) {
    Refuse(call, dst.argument.name, ": shares bytes with ", src.argument.name, " in repeat ",
           written, ", must be the same bytes or none of them");
  }
  Refuse(call, dst.argument.name, ": repeat ", written, " writes what repeat ", read, " reads as ",
         src.argument.name, ", must not");
}

void CheckOverlap(const Call& call, const Lanes& lanes, const VectorArgument& dst,
                  const VectorArgument& src, bool accumulates) {
  std::vector<std::vector<Access>> reads;
  for (int64_t repeat = 0; repeat < lanes.repeats; ++repeat) {
    reads.push_back(RoundFootprint(src, lanes, repeat));
  }
  for (int64_t written = 0; written < lanes.repeats; ++written) {
    const std::vector<Access> writes = RoundFootprint(dst, lanes, written);
    for (int64_t read = written; read < lanes.repeats; ++read) {
      if (!AnyOverlap(writes, reads[read])) continue;
      const bool same_round = written == read && SamePlace(dst, src) &&
                              (written == 0 || dst.strides.repeat == src.strides.repeat);
      if (!same_round && !accumulates) RefuseOverlap(call, dst, src, written, read);
    }
  }
}

bool SpansOverlap(const std::vector<Access>& accesses, const char* dst, const char* src) {
  const auto span = [&](const char* name) {
    std::pair<int64_t, int64_t> result{INT64_MAX, INT64_MIN};
    for (const Access& access : accesses) {
      if (access.operand != name) continue;
      result.first = std::min(result.first, AccessBegin(access));
      result.second = std::max(result.second, AccessEnd(access));
    }
    return result;
  };
  const auto [dst_begin, dst_end] = span(dst);
  const auto [src_begin, src_end] = span(src);
  return dst_begin < src_end && src_begin < dst_end;
}

}  // namespace

void CheckCount(const Call& call, int64_t count) {
  if (count < 0) Refuse(call, "count: ", count, ", must be 0 or more");
}

void CheckLeading(const Call& call, int64_t mask, int64_t per_repeat) {
  RequireRange(call, "mask", mask, 1, per_repeat);
}

void CheckBits(const Call& call, const LaneMask& mask, int64_t per_repeat) {
  if (mask.empty()) Refuse(call, "mask: no bit is set, at least one must be");
  if (per_repeat == 64 && mask.high != 0) {
    Refuse(call, "mask[1]: ", mask.high, ", must be 0 for 32-bit elements");
  }
}

void CheckRegister(const Call& call, const ScalarState& state, int64_t per_repeat) {
  const LaneMask mask{state.mask[0], state.mask[1]};
  const bool full = mask == LaneMask{~uint64_t{0}, ~uint64_t{0}};
  if (!state.counter_mode && !full) CheckBits(call, mask, per_repeat);
}

void AppendFootprint(const VectorArgument& operand, const Lanes& lanes,
                     std::vector<Access>* accesses) {
  if (AppendAsOneRun(operand, lanes, accesses)) return;
  if (lanes.repeats > 1) {
    AppendRounds(operand, lanes.mask, lanes.per_repeat, 0, lanes.repeats - 1, accesses);
  }
  AppendRounds(operand, lanes.last_mask, lanes.per_repeat, lanes.repeats - 1, 1, accesses);
}

void CheckPlaces(const Call& call, const std::vector<VectorArgument>& operands,
                 const std::vector<Access>& accesses) {
  for (const VectorArgument& operand : operands) {
    RequireSpace(call, operand.argument, {Space::kUb});
    RequireAligned(call, operand.argument, kBlockBytes);
    for (const Access& access : accesses) {
      if (access.operand == operand.argument.name) RequireInside(call, operand.argument, access);
    }
  }
}

void CheckVector(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& operands,
                 const std::vector<Access>& accesses, OverlapRule rule) {
  CheckPlaces(call, operands, accesses);
  const VectorArgument& dst = operands[0];
  if (dst.strides.block == 0) Refuse(call, "dstBlkStride: 0, must be 1 or more");
  for (size_t i = 1; i < operands.size(); ++i) {
    const VectorArgument& src = operands[i];
    if (!SpansOverlap(accesses, dst.argument.name, src.argument.name)) continue;
    const bool accumulates = rule == OverlapRule::kAccumulates && i + 1 == operands.size() &&
                             (dst.strides.repeat == 0 || src.strides.repeat == 0);
    CheckOverlap(call, lanes, dst, src, accumulates);
  }
}

}  // namespace sfmla::sim
