// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla_metadata/cpu_kernel.h"

#include <cstring>

#include "base/format.h"
#include "op_kernel/common/length_operands.h"
#include "op_kernel/common/schedule.h"
#include "op_kernel/sparse_flash_mla_metadata/check_metadata.h"
#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla {
namespace {

using namespace metadata_operand;

LengthTensors LengthsOf(const SparseFlashMlaMetadataTiling& tiling, const KernelCall& call) {
  LengthTensors out(tiling.rules, tiling.batch);
  out.query_extent = tiling.query_extent;
  out.ori_extent = tiling.ori_extent;
  out.cmp_extent = tiling.cmp_extent;
  SetLengths(KernelOperands(call),
             {kCuSeqlensQ, kCuSeqlensOriKv, kCuSeqlensCmpKv, kSequsedQ, kSequsedOriKv,
              kSequsedCmpKv, kCmpResidualKv},
             &out);
  return out;
}

// One length for each row of q; those of used rows count and are not negative.
Status CheckTopkLengths(const char* name, const int32_t* values, int64_t count,
                        const LengthTensors& lengths) {
  if (values == nullptr) return Status::Ok();
  for (int64_t request = 0; request < lengths.batch; ++request) {
    const int64_t first = lengths.FirstQueryRow(request);
    const int64_t end = first + lengths.At(request).query;
    if (end > count) {
      return Status(code::kRtAicpuException,
                    Str(name, ": ", count, " elements, must be at least ", end,
                        ", one for each query row up to request ", request));
    }
    for (int64_t row = first; row < end; ++row) {
      if (values[row] < 0) {
        return Status(code::kRtAicpuException,
                      Str(name, "[", row, "]: ", values[row], ", must be at least 0"));
      }
    }
  }
  return Status::Ok();
}

Status Plan(const SparseFlashMlaMetadataTiling& tiling, const KernelCall& call, Metadata* out) {
  const LengthTensors lengths = LengthsOf(tiling, call);
  SFMLA_RETURN_IF_ERROR(lengths.CheckValues(code::kRtAicpuException));
  SFMLA_RETURN_IF_ERROR(CheckPlannedRows(lengths));
  const KernelOperands operands(call);
  const TopkLengths topk{operands.Integers(kOriTopkLength), operands.Integers(kCmpTopkLength)};
  SFMLA_RETURN_IF_ERROR(
      CheckTopkLengths("ori_topk_length", topk.ori, tiling.ori_topk_lengths, lengths));
  SFMLA_RETURN_IF_ERROR(
      CheckTopkLengths("cmp_topk_length", topk.cmp, tiling.cmp_topk_lengths, lengths));

  BuildSchedule(tiling.rules, lengths, topk,
                {tiling.cube_cores, tiling.vector_cores, tiling.block_tokens}, &out->schedule);
  out->magic = kMagic;
  out->version = kFormatVersion;
  out->digest = DigestOf(tiling.rules, lengths);
  out->digest.records = DigestOfRecords(*out);
  return Status::Ok();
}

}  // namespace

Status SparseFlashMlaMetadataCpuKernel(const KernelCall& call) {
  const auto tiling = ReadTiling<SparseFlashMlaMetadataTiling>(call);
  Metadata metadata{};
  Status status = Plan(tiling, call, &metadata);
  if (!status.ok()) metadata = Metadata{};
  std::memcpy(call.operands[kMetadata], &metadata, sizeof(metadata));
  return status;
}

}  // namespace sfmla
