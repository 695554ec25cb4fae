// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla_metadata/check_metadata.h"

#include "base/format.h"

namespace sfmla {

HashedWords DigestOfRecords(const Metadata& metadata) { return HashWords(&metadata, kHeaderBegin); }

Status CheckMetadata(const Metadata& metadata, const CallDigest& call) {
  if (metadata.magic != kMagic) {
    return MetadataMismatch(
        "was not written by aclnnSparseFlashMlaMetadata of this library (no magic number), or its "
        "planning failed");
  }
  if (metadata.version != kFormatVersion) {
    return MetadataMismatch(Str("format version ", metadata.version, ", must be ", kFormatVersion));
  }
  SFMLA_RETURN_IF_ERROR(CompareDigests(metadata.digest, call, LengthNames()));
  if (metadata.digest.records != DigestOfRecords(metadata)) {
    return MetadataMismatch("the records were changed after planning");
  }
  for (size_t i = 0; i < metadata.zero.size(); ++i) {
    if (metadata.zero[i] == 0) continue;
    return MetadataMismatch(Str("word ", kMetadataWords - metadata.zero.size() + i, " is ",
                                metadata.zero[i], ", must be 0"));
  }
  return Status::Ok();
}

}  // namespace sfmla
