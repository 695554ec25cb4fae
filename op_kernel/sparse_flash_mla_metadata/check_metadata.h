// SPDX-License-Identifier: Apache-2.0
// Whether the words a call was given are a plan for it.
#pragma once

#include "base/status.h"
#include "op_kernel/common/call_digest.h"
#include "op_kernel/sparse_flash_mla_metadata/metadata_layout.h"

namespace sfmla {

HashedWords DigestOfRecords(const Metadata& metadata);

// 507018 with "metadata: was built for ..., this call has ..." unless `metadata` is intact and was
// built for a call with the digest `call`.
Status CheckMetadata(const Metadata& metadata, const CallDigest& call);

}  // namespace sfmla
