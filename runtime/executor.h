// SPDX-License-Identifier: Apache-2.0
// A frozen launch: what phase one of an operator leaves behind and phase two turns into a task.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "base/status.h"
#include "runtime/tensor.h"
#include "runtime/view_memory.h"

namespace sfmla {

inline constexpr size_t kMaxOperands = 24;

// One operand slot of an operator, in argument order: inputs, then outputs. Absent optional
// operands keep their slot.
struct Operand {
  const char* name = "";              // static storage
  const aclTensor* handle = nullptr;  // nullptr: absent
  bool is_output = false;
  bool used = false;    // a present operand that the call ignores is never touched
  ViewBytes covered{};  // by `desc` if it is used; NewExecutor fills it in
  TensorDesc desc{};    // as seen in phase one; meaningful when present

  bool present() const { return handle != nullptr; }
};

// A used input whose view is not contiguous is copied, in stream order, into a workspace slice; the
// kernel then gets the address of the slice.
struct ContiguousCopy {
  size_t operand = 0;
  uint64_t workspace_offset = 0;
};

struct Launch {
  std::string op_name;    // "aclnnSparseFlashMla"; begins the text of stream errors
  std::string kernel_id;  // key of the kernel registry
  std::vector<std::byte> tiling;
  std::vector<Operand> operands;  // at most kMaxOperands
  std::vector<ContiguousCopy> copies;
  uint64_t workspace_bytes = 0;  // what phase one reports; copies are part of it
  bool nothing_to_do = false;    // phase two succeeds without queueing a kernel
};

// Phase one: hands a launch over to a new executor, single use until made repeatable.
aclOpExecutor* NewExecutor(Launch launch);

// Executors that were neither consumed nor destroyed.
size_t LiveExecutors();

// Phase two: consumes the executor (unless repeatable) into a task of `stream`. Nothing is waited
// for; addresses are read from the tensors now, and the descriptors may be destroyed afterwards.
// `op_name` must be the operator that made the executor. Errors: 161001 executor or workspace NULL,
// 161002 workspace too small / workspace or an output in the memory of another operand / executor
// consumed or of another operator / tensor destroyed, 361001 no context or stream of another
// context.
Status RunExecutor(const char* op_name, void* workspace, uint64_t workspace_bytes,
                   aclOpExecutor* executor, aclrtStream stream);

// The C functions on executors, see acl_meta.h for their codes.
Status MakeRepeatable(aclOpExecutor* executor);
Status DestroyExecutor(aclOpExecutor* executor);

enum class OperandRange : uint8_t { kInputs, kOutputs, kAll };
// Points `tensor` at `address` and makes it operand `index` of the range.
Status RebindOperand(aclOpExecutor* executor, OperandRange range, size_t index, aclTensor* tensor,
                     void* address);

}  // namespace sfmla
