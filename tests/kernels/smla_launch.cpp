// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/smla_launch.h"

#include <array>
#include <cmath>
#include <cstring>

#include "op_kernel/arch/dav_2201/limits.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/common/schedule.h"
#include "op_kernel/sparse_flash_mla/emulated_kernel.h"
#include "tests/kernels/smla_oracle.h"

namespace sfmla::test {
namespace {

using namespace smla_operand;
using sim::GmRange;

constexpr uint16_t kNan = 0x7FFD;
constexpr int kBlockTokens = 512;

const int32_t* Pointer(const std::vector<int32_t>& values) {
  return values.empty() ? nullptr : values.data();
}

LengthTensors LengthsOf(const SmlaCall& call) {
  const SmlaInputs& inputs = call.inputs();
  LengthTensors out(call.call().rules, static_cast<int64_t>(call.call().requests.size()));
  out.query_extent = call.query_extent();
  out.ori_extent = call.Geometry(false).tokens;
  out.cmp_extent = call.call().rules.has_cmp ? call.Geometry(true).tokens : 0;
  out.cu_seqlens_q = Pointer(inputs.cu_seqlens_q);
  out.cu_seqlens_ori_kv = Pointer(inputs.cu_seqlens_ori_kv);
  out.cu_seqlens_cmp_kv = Pointer(inputs.cu_seqlens_cmp_kv);
  out.seqused_q = Pointer(inputs.seqused_q);
  out.seqused_ori_kv = Pointer(inputs.seqused_ori_kv);
  out.seqused_cmp_kv = Pointer(inputs.seqused_cmp_kv);
  out.cmp_residual_kv = Pointer(inputs.cmp_residual_kv);
  return out;
}

Schedule PlanOf(const SmlaCall& call, int cube_cores) {
  Schedule schedule;
  const ScheduleTarget target{cube_cores, 2 * cube_cores, kBlockTokens};
  BuildSchedule(call.call().rules, LengthsOf(call), {}, target, &schedule);
  return schedule;
}

// The words of a plan; only its records matter to the kernel.
std::vector<int32_t> MetadataOf(const Schedule& schedule) {
  std::vector<int32_t> words(kMetadataWords, 0);
  std::memcpy(words.data(), &schedule, sizeof(schedule));
  return words;
}

AttentionDeviceTiling TilingOf(const SmlaCall& call, int groups) {
  AttentionDeviceTiling out;
  out.call.rules = call.call().rules;
  out.call.is_bfloat16 = call.call().is_bfloat16;
  out.call.softmax_scale = static_cast<float>(kSoftmaxScale);
  out.call.batch = static_cast<int64_t>(call.call().requests.size());
  out.call.query_extent = call.query_extent();
  out.call.query_rows = call.query_rows();
  out.call.ori = call.Geometry(false);
  if (call.call().rules.has_cmp) out.call.cmp = call.Geometry(true);
  out.call.return_softmax_lse = call.call().returns_lse;
  out.call.block_tokens = kBlockTokens;
  out.workspace = PlanDeviceWorkspace(call.call().rules, groups, kMaxSplitSlots, 0);
  return out;
}

// Operands, and the ranges that the launch may touch.
class Operands {
 public:
  template <typename T>
  void Add(Slot slot, const char* name, const std::vector<T>& values) {
    if (!values.empty()) Add(slot, name, const_cast<T*>(values.data()), values.size() * sizeof(T));
  }
  template <typename T>
  void AddOutput(Slot slot, const char* name, std::vector<T>* values) {
    if (values->empty()) return;
    Add(slot, name, values->data(), values->size() * sizeof(T));
    ranges_.back().kind = GmRange::Kind::kOutput;
  }
  void AddRange(const char* name, void* address, size_t bytes, GmRange::Kind kind) {
    ranges_.push_back({name, address, bytes, kind});
  }
  const std::array<void*, kCount>& addresses() const { return addresses_; }
  const std::vector<GmRange>& ranges() const { return ranges_; }

 private:
  void Add(Slot slot, const char* name, void* address, size_t bytes) {
    addresses_[static_cast<size_t>(slot)] = address;
    AddRange(name, address, bytes, GmRange::Kind::kInput);
  }

  std::array<void*, kCount> addresses_{};
  std::vector<GmRange> ranges_;
};

Operands InputsOf(const SmlaInputs& inputs) {
  Operands out;
  out.Add(kQ, "q", inputs.q);
  out.Add(kOriKv, "ori_kv", inputs.ori_kv);
  out.Add(kCmpKv, "cmp_kv", inputs.cmp_kv);
  out.Add(kOriSparseIndices, "ori_sparse_indices", inputs.ori_indices);
  out.Add(kCmpSparseIndices, "cmp_sparse_indices", inputs.cmp_indices);
  out.Add(kOriBlockTable, "ori_block_table", inputs.ori_block_table);
  out.Add(kCmpBlockTable, "cmp_block_table", inputs.cmp_block_table);
  out.Add(kCuSeqlensQ, "cu_seqlens_q", inputs.cu_seqlens_q);
  out.Add(kCuSeqlensOriKv, "cu_seqlens_ori_kv", inputs.cu_seqlens_ori_kv);
  out.Add(kCuSeqlensCmpKv, "cu_seqlens_cmp_kv", inputs.cu_seqlens_cmp_kv);
  out.Add(kSequsedQ, "seqused_q", inputs.seqused_q);
  out.Add(kSequsedOriKv, "seqused_ori_kv", inputs.seqused_ori_kv);
  out.Add(kSequsedCmpKv, "seqused_cmp_kv", inputs.seqused_cmp_kv);
  out.Add(kCmpResidualKv, "cmp_residual_kv", inputs.cmp_residual_kv);
  out.Add(kOriTopkLength, "ori_topk_length", inputs.ori_topk_length);
  out.Add(kCmpTopkLength, "cmp_topk_length", inputs.cmp_topk_length);
  out.Add(kSinks, "sinks", inputs.sinks);
  return out;
}

}  // namespace

SmlaOutputs Launch(const SmlaCall& call, const SmlaLaunch& launch) {
  SmlaOutputs result;
  AttentionDeviceTiling tiling = TilingOf(call, launch.groups);
  const SmlaCall& planned = launch.planned_for == nullptr ? call : *launch.planned_for;
  Schedule schedule = PlanOf(planned, launch.planned_cores);
  if (launch.change_plan) launch.change_plan(&schedule);
  const std::vector<int32_t> metadata = MetadataOf(schedule);
  std::vector<uint16_t> workspace(static_cast<size_t>(tiling.workspace.bytes) / 2, kNan);
  result.out.assign(call.inputs().q.size(), kNan);
  result.lse.assign(static_cast<size_t>(call.query_rows() * call.heads()), std::nanf(""));

  Operands operands = InputsOf(call.inputs());
  operands.Add(kMetadata, "metadata", metadata);
  operands.AddOutput(kAttnOut, "attn_out", &result.out);
  operands.AddOutput(kSoftmaxLse, "softmax_lse", &result.lse);
  operands.AddRange("workspace", workspace.data(), workspace.size() * 2, GmRange::Kind::kWorkspace);
  operands.AddRange("tiling", &tiling, sizeof(tiling), GmRange::Kind::kInput);

  sim::LaunchConfig config;
  config.groups = launch.groups;
  config.seed = launch.seed;
  config.slow = launch.slow;
  config.checks = launch.checks;
  config.ub_limit_bytes = dav_2201::kUbBytes;
  config.tiling_key = call.call().is_bfloat16 ? kBfloat16TilingKey : kFloat16TilingKey;
  result.launch = sim::LaunchKernel(
      config, [&] { RunSparseFlashMlaKernel(operands.addresses(), workspace.data(), &tiling); },
      operands.ranges());
  return result;
}

int64_t SplitRowCount(const SmlaCall& call, int planned_cores) {
  const Schedule schedule = PlanOf(call, planned_cores);
  return static_cast<int64_t>(
      SplitRowsOf(schedule, call.call().rules, LengthsOf(call), kBlockTokens, kMaxSplitSlots)
          .size());
}

}  // namespace sfmla::test
