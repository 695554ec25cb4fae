// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/common.h"

#include <algorithm>
#include <string>

namespace sfmla::sim {
namespace {

// Farthest the runs of an access lie behind (sign 1) or before (sign -1) its beginning.
int64_t Reach(const Access& access, int sign) {
  const auto along = [sign](uint32_t count, int64_t stride) {
    return std::max<int64_t>(0, sign * stride) * (int64_t{count} - 1);
  };
  return along(access.inner_count, access.inner_stride) +
         along(access.outer_count, access.outer_stride);
}

bool Empty(const Access& access) {
  return access.run_bytes == 0 || access.inner_count == 0 || access.outer_count == 0;
}

}  // namespace

int64_t AccessEnd(const Access& access) {
  if (Empty(access)) return static_cast<int64_t>(access.begin);
  return static_cast<int64_t>(access.begin + access.run_bytes) + Reach(access, 1);
}

int64_t AccessBegin(const Access& access) {
  return static_cast<int64_t>(access.begin) - (Empty(access) ? 0 : Reach(access, -1));
}

void RequireSpace(const Call& call, const Argument& argument,
                  std::initializer_list<Space> allowed) {
  if (std::find(allowed.begin(), allowed.end(), argument.operand.space) != allowed.end()) return;
  std::string names;
  for (const Space space : allowed) names += (names.empty() ? "" : " or ") + Str(SpaceName(space));
  Refuse(call, argument.name, ": lies in ", SpaceName(argument.operand.space), ", must lie in ",
         names);
}

void RequireAligned(const Call& call, const Argument& argument, uint64_t bytes) {
  if (argument.operand.begin % bytes == 0) return;
  Refuse(call, argument.name, ": address ", argument.operand.begin, " in ",
         SpaceName(argument.operand.space), ", must be a multiple of ", bytes);
}

void RequireRange(const Call& call, const char* parameter, int64_t value, int64_t lowest,
                  int64_t highest) {
  if (value >= lowest && value <= highest) return;
  Refuse(call, parameter, ": ", value, ", must be ", lowest, "..", highest);
}

void RequireMultiple(const Call& call, const char* parameter, int64_t value, int64_t factor) {
  if (value % factor == 0) return;
  Refuse(call, parameter, ": ", value, ", must be a multiple of ", factor);
}

void RequireInside(const Call& call, const Argument& argument, const Access& access) {
  const Operand& operand = argument.operand;
  if (Empty(access) || operand.bytes == UINT64_MAX) return;
  const int64_t begin = AccessBegin(access) - static_cast<int64_t>(operand.begin);
  const int64_t end = AccessEnd(access) - static_cast<int64_t>(operand.begin);
  if (begin >= 0 && end <= static_cast<int64_t>(operand.bytes)) return;
  Refuse(call, argument.name, ": bytes ", begin, "..", end, ", the tensor has ", operand.bytes);
}

bool Overlap(const Access& a, const Access& b) {
  if (a.space != b.space || Empty(a) || Empty(b)) return false;
  if (AccessEnd(a) <= AccessBegin(b) || AccessEnd(b) <= AccessBegin(a)) return false;
  const auto runs = [](const Access& access) {
    std::vector<int64_t> begins;
    for (uint32_t outer = 0; outer < access.outer_count; ++outer) {
      for (uint32_t inner = 0; inner < access.inner_count; ++inner) {
        begins.push_back(static_cast<int64_t>(access.begin) + outer * access.outer_stride +
                         inner * access.inner_stride);
      }
    }
    std::sort(begins.begin(), begins.end());
    return begins;
  };
  const std::vector<int64_t> of_b = runs(b);
  for (const int64_t begin : runs(a)) {
    // The first run of b that ends behind `begin` is the only one that matters.
    const auto next =
        std::upper_bound(of_b.begin(), of_b.end(), begin - static_cast<int64_t>(b.run_bytes));
    if (next != of_b.end() && *next < begin + static_cast<int64_t>(a.run_bytes)) return true;
  }
  return false;
}

}  // namespace sfmla::sim
