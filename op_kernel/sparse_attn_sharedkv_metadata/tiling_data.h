// SPDX-License-Identifier: Apache-2.0
// What op_host tells the planning kernel of SparseAttnSharedkv.
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_call.h"

namespace sfmla {

struct SparseAttnSharedkvMetadataTiling {
  AttentionRules rules;
  int64_t batch = 0;
  int64_t query_extent = 0;  // lengths where no tensor says more
  int64_t ori_extent = 0;
  int64_t cube_cores = 0;
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(std::is_trivially_copyable_v<SparseAttnSharedkvMetadataTiling>);
static_assert(sizeof(SparseAttnSharedkvMetadataTiling) ==
              sizeof(AttentionRules) + 4 * sizeof(int64_t));

// Operand slots, in the order of the C arguments.
namespace sharedkv_metadata_operand {
enum Slot : int {
  kCuSeqlensQ,
  kCuSeqlensOriKv,
  kCuSeqlensCmpKv,
  kSequsedQ,
  kSequsedKv,
  kMetadata,
  kCount
};
}  // namespace sharedkv_metadata_operand

}  // namespace sfmla
