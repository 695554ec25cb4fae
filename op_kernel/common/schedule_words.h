// SPDX-License-Identifier: Apache-2.0
// All records of a plan, as host code builds them and as they lie in the metadata.
#pragma once

#include <array>

#include "op_kernel/common/schedule_records.h"

namespace sfmla {

struct Schedule {
  std::array<CubeRecord, kCubeRecords> cube;
  std::array<VectorRecord, kVectorRecords> vector;
};

static_assert(sizeof(Schedule) == kCubeRecords * 9 * 4 + kVectorRecords * 8 * 4);

}  // namespace sfmla
