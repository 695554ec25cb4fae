// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_attn_sharedkv_metadata/cpu_kernel.h"

#include <cstring>

#include "op_kernel/common/length_operands.h"
#include "op_kernel/common/schedule.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/partition.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/shared_lengths.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {
namespace {

using namespace sharedkv_metadata_operand;

LengthTensors LengthsOf(const SparseAttnSharedkvMetadataTiling& tiling,
                        const KernelOperands& operands) {
  LengthTensors out(tiling.rules, tiling.batch);
  ApplySharedKvRules(&out);
  out.query_extent = tiling.query_extent;
  out.ori_extent = tiling.ori_extent;
  out.cmp_extent = kUnknownExtent;
  SetLengths(operands, {kCuSeqlensQ, kCuSeqlensOriKv, kCuSeqlensCmpKv, kSequsedQ, kSequsedKv},
             &out);
  return out;
}

Status Plan(const KernelCall& call, SharedKvMetadata* out) {
  const auto tiling = ReadTiling<SparseAttnSharedkvMetadataTiling>(call);
  const LengthTensors lengths = LengthsOf(tiling, KernelOperands(call));
  SFMLA_RETURN_IF_ERROR(lengths.CheckValues(code::kRtAicpuException));
  SFMLA_RETURN_IF_ERROR(CheckPlannedRows(lengths));
  out->cube = PartitionSharedKv(tiling.rules, lengths, tiling.cube_cores);
  out->magic = kSharedKvMagic;
  out->version = kSharedKvFormatVersion;
  out->digest = DigestOf(tiling.rules, lengths);
  return Status::Ok();
}

}  // namespace

Status SparseAttnSharedkvMetadataCpuKernel(const KernelCall& call) {
  SharedKvMetadata metadata{};
  const Status status = Plan(call, &metadata);
  if (!status.ok()) metadata = SharedKvMetadata{};
  std::memcpy(call.operands[kMetadata], &metadata, sizeof(metadata));
  return status;
}

}  // namespace sfmla
