// SPDX-License-Identifier: Apache-2.0
// Contracts of Fixpipe on dav-2201.
#pragma once

#include "sim/ascendc/parameters.h"
#include "sim/contracts/common.h"
#include "sim/intrinsics/fixpipe.h"

namespace sfmla::sim {

// Row-major: nSize 1..4095, mSize 1..8192, rows that do not run into each other, srcNdStride
// 0..512. Nz: nSize a multiple of 16, or of 8 with isChannelSplit, which is for float only; mSize
// 1..65535; block columns that do not run into each other. srcStride covers mSize rows. unitFlag 0,
// 2 or 3.
void CheckFixpipe(const Call& call, const AscendC::FixpipeParamsV220& params, bool row_major,
                  FixpipeType type);

// src in L0C at a multiple of 64 B; dst in GM at a whole element, or in L1 at a multiple of 32 B;
// both inside their tensors.
void CheckFixpipeOperands(const Call& call, const Argument& dst, const Argument& src,
                          int64_t element_bytes, const std::vector<Access>& accesses);

}  // namespace sfmla::sim
