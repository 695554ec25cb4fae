// SPDX-License-Identifier: Apache-2.0
// The tiling data of the planner as attributes of an AI CPU operator, which gets no tiling data:
// the same bytes, a 64-bit word an attribute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla::cann {

inline constexpr size_t kTilingWords = sizeof(SparseFlashMlaMetadataTiling) / sizeof(int64_t);
static_assert(sizeof(SparseFlashMlaMetadataTiling) % sizeof(int64_t) == 0);

using TilingWords = std::array<int64_t, kTilingWords>;

inline constexpr const char* kTilingWordNames[] = {
    "tiling_0",  "tiling_1",  "tiling_2",  "tiling_3",  "tiling_4",  "tiling_5",
    "tiling_6",  "tiling_7",  "tiling_8",  "tiling_9",  "tiling_10", "tiling_11",
    "tiling_12", "tiling_13", "tiling_14", "tiling_15", "tiling_16"};
static_assert(std::size(kTilingWordNames) == kTilingWords);

}  // namespace sfmla::cann
