// SPDX-License-Identifier: Apache-2.0
// Named calls of SparseFlashMla: every mode, layout and kind of row, small enough for emulated
// cores.
#pragma once

#include <vector>

#include "tests/kernels/smla_case.h"

namespace sfmla::test {

// The call that everybody makes: 64 heads, a window of 128, paged caches; the mode comes from
// `cmp_ratio` and `cmp_topk`: neither SWA, a ratio HCA, both CSA.
SmlaCase DecodeCase(const char* name, std::vector<SmlaRequest> requests, int cmp_ratio = 1,
                    int cmp_topk = 0);

// One decode step of each mode.
std::vector<SmlaCase> DecodeCases();
// Layouts, strides, masks, head counts, lists, lengths and rows out of the ordinary.
std::vector<SmlaCase> UnusualCases();
// Rows of several chunks: enough keys that a plan for many cores splits them.
std::vector<SmlaCase> LongCases();

}  // namespace sfmla::test
