// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_attn_sharedkv/cpu_kernel.h"

#include "base/format.h"
#include "op_kernel/arch/cpu/attention_operands.h"
#include "op_kernel/common/call_digest.h"
#include "op_kernel/sparse_attn_sharedkv/operand_names.h"
#include "op_kernel/sparse_attn_sharedkv/tiling_data.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/metadata_layout.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/shared_lengths.h"

namespace sfmla {
namespace {

using namespace sharedkv_operand;

AttentionCall CallOf(const KernelCall& call) {
  const KernelOperands operands(call);
  AttentionCall out = AttentionCallOf(ReadTiling<SparseAttnSharedkvTiling>(call), call);
  ApplySharedKvRules(&out.lengths);
  SetLengths(operands, {kCuSeqlensQ, kCuSeqlensOriKv, kCuSeqlensCmpKv, kSequsedQ, kSequsedKv},
             &out.lengths);
  const char* const* names = kSparseAttnSharedkvOperandNames;
  SetKv(operands, names, {kOriKv, kOriBlockTable}, &out.ori);
  SetKv(operands, names, {kCmpKv, kCmpBlockTable, kCmpSparseIndices}, &out.cmp);
  SetQueries(operands, {kQ, kSinks, kAttnOut, kSoftmaxLse}, &out);
  return out;
}

// A plan says nothing of what only SparseFlashMla has, nor of its own records.
Status CheckUnusedWords(const SharedKvMetadata& metadata) {
  constexpr HashedWords CallDigest::* kUnused[] = {
      &CallDigest::seqused_cmp_kv, &CallDigest::cmp_residual_kv, &CallDigest::records};
  for (const auto unused : kUnused) {
    for (const uint32_t& word : metadata.digest.*unused) {
      if (word == 0) continue;
      const auto position = &word - reinterpret_cast<const uint32_t*>(&metadata);
      return MetadataMismatch(Str("word ", position, " is ", word, ", must be 0"));
    }
  }
  return Status::Ok();
}

// Metadata is a hint, and other planners may have written it. Only a plan of our own is known to be
// of another call.
Status CheckHint(const SharedKvMetadata& metadata, const AttentionCall& call) {
  if (metadata.magic != kSharedKvMagic || metadata.version != kSharedKvFormatVersion) {
    return Status::Ok();
  }
  SFMLA_RETURN_IF_ERROR(CheckUnusedWords(metadata));
  return CompareDigests(metadata.digest, DigestOf(call.rules, call.lengths), call.lengths.names);
}

}  // namespace

Status SparseAttnSharedkvCpuKernel(const KernelCall& call) {
  const AttentionCall attention = CallOf(call);
  SFMLA_RETURN_IF_ERROR(
      CheckHint(*KernelOperands(call).At<const SharedKvMetadata>(kMetadata), attention));
  return PlanAndRunAttention(attention);
}

}  // namespace sfmla
