// SPDX-License-Identifier: Apache-2.0
// Args -> Problem: the only place that refuses a call of aclnnSparseAttnSharedkvMetadata for what
// the host sees. Always 161002, a NULL metadata tensor included.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_attn_sharedkv_metadata/args.h"
#include "op_host/sparse_attn_sharedkv_metadata/problem.h"

namespace sfmla {

Result<SparseAttnSharedkvMetadataProblem> CheckSparseAttnSharedkvMetadata(
    const SparseAttnSharedkvMetadataArgs& args, const ProductRules& product);

}  // namespace sfmla
