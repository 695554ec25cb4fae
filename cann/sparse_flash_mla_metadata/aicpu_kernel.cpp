// SPDX-License-Identifier: Apache-2.0
// SparseFlashMlaMetadata on the AI CPU. A failure ends the stream with 507018; the sentence about
// it goes to the device log.
#include "cann/bridge/planner.h"
#include "cann/sparse_flash_mla_metadata/signature.h"
#include "cpu_kernel.h"
#include "cust_cpu_utils.h"

namespace aicpu {
namespace {

constexpr uint32_t kSuccess = 0;
constexpr uint32_t kFailure = 1;

bool ReadTiling(const CpuKernelContext& context, sfmla::cann::TilingWords* out) {
  for (size_t word = 0; word < out->size(); ++word) {
    const AttrValue* attribute = context.GetAttr(sfmla::cann::kTilingWordNames[word]);
    if (attribute == nullptr) return false;
    (*out)[word] = attribute->GetInt();
  }
  return true;
}

void* AddressOf(const Tensor* tensor) {
  return tensor == nullptr || tensor->NumElements() == 0 ? nullptr : tensor->GetData();
}

sfmla::cann::Refusal Run(const CpuKernelContext& context) {
  // Were absent operands left out, the others would be taken for them.
  if (context.GetInputsSize() != sfmla::cann::kMetadataInputs) {
    return {kFailure, "inputs: " + std::to_string(context.GetInputsSize()) + ", must be " +
                          std::to_string(sfmla::cann::kMetadataInputs)};
  }
  sfmla::cann::TilingWords tiling;
  if (!ReadTiling(context, &tiling)) return {kFailure, "tiling words: not all are there"};
  sfmla::cann::PlannerOperands operands;
  for (uint32_t slot = 0; slot < sfmla::cann::kMetadataInputs; ++slot) {
    operands[slot] = AddressOf(context.Input(slot));
  }
  operands[sfmla::metadata_operand::kMetadata] = AddressOf(context.Output(0));
  if (operands[sfmla::metadata_operand::kMetadata] == nullptr) {
    return {kFailure, "metadata: no memory, must have 1024 words"};
  }
  return sfmla::cann::WriteMetadata(tiling, operands);
}

}  // namespace

class SparseFlashMlaMetadataKernel : public CpuKernel {
 public:
  uint32_t Compute(CpuKernelContext& context) override {
    const sfmla::cann::Refusal refusal = Run(context);
    if (refusal.ok()) return kSuccess;
    CUST_KERNEL_LOG_ERROR(context, "%s", refusal.text.c_str());
    return kFailure;
  }
};

REGISTER_CPU_KERNEL("SparseFlashMlaMetadata", SparseFlashMlaMetadataKernel);

}  // namespace aicpu
