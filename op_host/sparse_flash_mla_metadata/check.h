// SPDX-License-Identifier: Apache-2.0
// Args -> Problem: the only place that refuses a call of aclnnSparseFlashMlaMetadata for what the
// host sees. Always 161002, a NULL metadata tensor included.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_flash_mla_metadata/args.h"
#include "op_host/sparse_flash_mla_metadata/problem.h"

namespace sfmla {

Result<SparseFlashMlaMetadataProblem> CheckSparseFlashMlaMetadata(
    const SparseFlashMlaMetadataArgs& args, const ProductRules& product);

}  // namespace sfmla
