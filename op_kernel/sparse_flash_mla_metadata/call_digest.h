// SPDX-License-Identifier: Apache-2.0
// The identity of a call: written by the planner, compared by the main operator.
#pragma once

#include "base/status.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/sparse_flash_mla_metadata/metadata_layout.h"

namespace sfmla {

// Leaves out what a call may legally vary: maximum lengths, core counts, and what the rules say the
// mode ignores. `records` stays {0, 0}.
CallDigest DigestOf(const AttentionRules& rules, const LengthTensors& lengths);

std::array<uint32_t, 2> DigestOfRecords(const Metadata& metadata);

// 507018 with "metadata: was built for ..., this call has ..." unless `metadata` is intact and was
// built for a call with the digest `call`.
Status CheckMetadata(const Metadata& metadata, const CallDigest& call);

}  // namespace sfmla
