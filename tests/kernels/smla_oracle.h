// SPDX-License-Identifier: Apache-2.0
// What a call of SparseFlashMla must give, in double, by the definition of the operator; and how
// far off is wrong.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/smla_case.h"

namespace sfmla::test {

// Scores are multiplied by it: the inverse root of the head dimension.
inline constexpr double kSoftmaxScale = 0.04419417382415922;

struct SmlaExpected {
  std::vector<double> out;  // (query rows, heads, kHeadDim)
  std::vector<double> lse;  // (query rows, heads)
};
SmlaExpected Expected(const SmlaCall& call);

// The first thing wrong with what was found, "" if nothing is: special values first, then the
// distance per row and head.
std::string Difference(const SmlaCall& call, const std::vector<uint16_t>& out,
                       const std::vector<float>& lse);

}  // namespace sfmla::test
