// SPDX-License-Identifier: Apache-2.0
#include "cann/bridge/sparse_flash_mla_metadata.h"

#include <cstring>

#include "cann/bridge/call_parts.h"
#include "cann/sparse_flash_mla_metadata/signature.h"
#include "op_host/sparse_flash_mla_metadata/check.h"
#include "op_host/sparse_flash_mla_metadata/tiling.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/sparse_flash_mla_metadata/operand_names.h"

namespace sfmla::cann {
namespace {

SparseFlashMlaMetadataArgs ArgsOf(const SparseFlashMlaMetadataCall& call) {
  SparseFlashMlaMetadataArgs out;
  for (size_t slot = 0; slot < call.operands.size(); ++slot) {
    out.operands[slot] = OperandOf(kSparseFlashMlaMetadataOperandNames[slot], call.operands[slot]);
  }
  out.num_heads_q = call.num_heads_q;
  out.num_heads_kv = call.num_heads_kv;
  out.head_dim = call.head_dim;
  out.batch_size = call.batch_size;
  out.max_seqlen_q = call.max_seqlen_q;
  out.max_seqlen_ori_kv = call.max_seqlen_ori_kv;
  out.max_seqlen_cmp_kv = call.max_seqlen_cmp_kv;
  out.ori_topk = call.ori_topk;
  out.cmp_topk = call.cmp_topk;
  out.attributes = AttributesOf(call);
  out.has_ori_kv = call.has_ori_kv;
  out.has_cmp_kv = call.has_cmp_kv;
  return out;
}

}  // namespace

Refusal PlanCall(const SparseFlashMlaMetadataCall& call, int64_t cube_cores, int64_t vector_cores,
                 SparseFlashMlaMetadataPlan* plan) {
  const SparseFlashMlaMetadataArgs args = ArgsOf(call);
  const auto problem = CheckSparseFlashMlaMetadata(args, DeviceRules());
  if (!problem.ok()) return RefusalOf(problem.status());
  CoreCounts cores;
  cores.cube = static_cast<int32_t>(cube_cores);
  cores.vector = static_cast<int32_t>(vector_cores);
  SocTraits device = kHostCpu;
  device.kv_block_tokens = kDeviceTileTokens;
  const Launch launch = PlanSparseFlashMlaMetadata(args, problem.value(), cores, device);
  std::memcpy(plan->tiling.data(), launch.tiling.data(), sizeof(plan->tiling));
  for (size_t slot = 0; slot < plan->used.size(); ++slot) {
    plan->used[slot] = problem->uses[slot].used;
  }
  return {};
}

}  // namespace sfmla::cann
