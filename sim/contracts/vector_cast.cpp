// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/vector_cast.h"

#include <string>
#include <string_view>

namespace sfmla::sim {
namespace {

constexpr const char* kModeNames[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                      "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};

// One bit per RoundMode.
constexpr unsigned kNone = 1u << 0;
constexpr unsigned kRounded = 0b0111110;  // RINT, FLOOR, CEIL, ROUND, TRUNC
constexpr unsigned kOdd = 1u << 6;

struct Conversion {
  std::string_view to;
  std::string_view from;
  unsigned modes;
};
constexpr Conversion kConversions[] = {
    {"float", "float", kRounded},
    {"float", "half", kNone},
    {"float", "bfloat16_t", kNone},
    {"float", "int32_t", kNone | kRounded},
    {"float", "int16_t", kNone},
    {"half", "float", kNone | kRounded | kOdd},
    {"half", "int16_t", kNone | kRounded},
    {"half", "int8_t", kNone},
    {"half", "uint8_t", kNone},
    {"bfloat16_t", "float", kRounded},
    {"int32_t", "float", kRounded},
    {"int32_t", "half", kRounded},
    {"int32_t", "bfloat16_t", kRounded},
    {"int16_t", "float", kRounded},
    {"int16_t", "half", kRounded},
    {"int16_t", "int32_t", kNone},
    {"int8_t", "half", kNone | kRounded},
    {"uint8_t", "half", kNone | kRounded},
};

std::string NamesOf(unsigned modes) {
  std::string names;
  for (int mode = 0; mode <= 6; ++mode) {
    if ((modes >> mode & 1) != 0) names += (names.empty() ? "" : ", ") + Str(kModeNames[mode]);
  }
  return names;
}

}  // namespace

void CheckCast(const Call& call, const char* to, const char* from, AscendC::RoundMode mode) {
  for (const Conversion& conversion : kConversions) {
    if (conversion.to != to || conversion.from != from) continue;
    if ((conversion.modes >> static_cast<int>(mode) & 1) != 0) return;
    Refuse(call, "roundMode: ", kModeNames[static_cast<int>(mode)], " from ", from, " to ", to,
           ", must be one of ", NamesOf(conversion.modes));
  }
  Refuse(call, "dst: dtype ", to, " from src ", from, ", this conversion does not exist");
}

}  // namespace sfmla::sim
