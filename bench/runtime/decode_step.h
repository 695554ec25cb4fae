// SPDX-License-Identifier: Apache-2.0
// A decode step on the device: one new row per request, paged caches, the calls of a layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace sfmla::bench {

// Ends the program with the call and its error text unless the code is 0.
void Must(int32_t code, const char* call);

// Device memory, zeros at first, freed at the end.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Phase one, done: what phase two needs.
struct Prepared {
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
};

struct StepShape {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t context_tokens = 128;
  int64_t listed_tokens = 16;  // lanes of the list of compressed tokens
};

class DecodeStep {
 public:
  explicit DecodeStep(StepShape shape);
  ~DecodeStep();
  DecodeStep(const DecodeStep&) = delete;
  DecodeStep& operator=(const DecodeStep&) = delete;

  // Phase one of the planner, and of attention with a window and a list of compressed tokens.
  Prepared PreparePlan() const;
  Prepared PrepareAttention() const;
  // Attention over two lists with every tensor that a call can have at once: 18.
  Prepared PrepareWithAllTensors() const;

  // Both phases on the stream. The planner takes no workspace.
  void QueuePlan(aclrtStream stream) const;
  void QueueAttention(void* workspace, aclrtStream stream) const;

 private:
  aclTensor* Tensor(std::vector<int64_t> dims, aclDataType dtype);
  aclTensor* Tensor(std::vector<int64_t> dims, const std::vector<int32_t>& values);

  const StepShape shape_;
  std::vector<DeviceMemory> memory_;
  std::vector<aclTensor*> tensors_;
  aclTensor *q_, *ori_kv_, *cmp_kv_, *ori_list_, *cmp_list_, *ori_table_, *cmp_table_;
  aclTensor *cu_seqlens_q_, *seqused_q_, *seqused_ori_kv_, *seqused_cmp_kv_, *cmp_residual_kv_;
  aclTensor *ori_topk_length_, *cmp_topk_length_, *sinks_, *metadata_, *out_, *lse_;
};

}  // namespace sfmla::bench
