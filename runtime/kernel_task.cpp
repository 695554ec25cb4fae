// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_task.h"

#include <exception>
#include <span>

#include "base/format.h"
#include "runtime/contiguous_copy.h"
#include "runtime/device_memory.h"
#include "runtime/strict_memory.h"

namespace sfmla {
namespace {

Status Inside(const Launch& launch, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), Str(launch.op_name, ": ", status.text()));
}

Status CheckMemory(const Call& call) {
  constexpr int32_t kCode = ACL_ERROR_RT_AICORE_EXCEPTION;
  const Launch& launch = *call.launch;
  const MemoryReader memory;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const Operand& operand = launch.operands[i];
    if (!operand.present() || !operand.used) continue;
    SFMLA_RETURN_IF_ERROR(
        CheckViewMemory(memory, operand.name, call.data[i], operand.covered, kCode));
  }
  return memory.CheckAccessible("workspace", call.workspace, launch.workspace_bytes, kCode);
}

// SFMLA_CHECK=strict: outputs and the workspace, whose red zones only this call wrote.
Status CheckWritten(const Call& call) {
  const Launch& launch = *call.launch;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    if (!launch.operands[i].used || !launch.operands[i].is_output) continue;
    SFMLA_RETURN_IF_ERROR(CheckRedZones(launch.operands[i].name, call.data[i]));
  }
  return CheckRedZones("workspace", call.workspace);
}

void* FirstElement(const Operand& operand, void* data) {
  if (!operand.present() || !operand.used || data == nullptr) return nullptr;
  return static_cast<std::byte*>(data) + operand.covered.first;
}

// Runs on the stream's worker.
Status Execute(const Call& call) {
  const Launch& launch = *call.launch;
  SFMLA_RETURN_IF_ERROR(CheckMemory(call));
  const DeviceAccess access;
  std::array<void*, kMaxOperands> first_elements{};
  std::array<uint64_t, kMaxOperands> bytes{};
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const Operand& operand = launch.operands[i];
    first_elements[i] = FirstElement(operand, call.data[i]);
    if (first_elements[i] == nullptr) continue;
    bytes[i] = static_cast<uint64_t>(operand.covered.end - operand.covered.first);
  }
  for (const ContiguousCopy& copy : launch.copies) {
    TensorDesc desc = launch.operands[copy.operand].desc;
    desc.data = call.data[copy.operand];
    std::byte* slice = call.workspace + copy.workspace_offset;
    GatherContiguous(desc, slice);
    first_elements[copy.operand] = slice;
    bytes[copy.operand] = static_cast<uint64_t>(desc.num_elements() * DataTypeBytes(desc.dtype));
  }
  KernelCall kernel_call;
  kernel_call.tiling = launch.tiling;
  kernel_call.operands = std::span(first_elements.data(), launch.operands.size());
  kernel_call.operand_bytes = std::span(bytes.data(), launch.operands.size());
  kernel_call.workspace = call.workspace;
  kernel_call.workspace_bytes = call.workspace_bytes;
  Status status = call.kernel(kernel_call);
  if (!status.ok()) return status;
  return CheckWritten(call);
}

}  // namespace

Status RunCall(const Call& call) {
  const std::string& op_name = call.launch->op_name;
  try {
    return Inside(*call.launch, Execute(call));
  } catch (const std::exception& error) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, Str(op_name, ": exception: ", error.what()));
  } catch (...) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, Str(op_name, ": unknown exception"));
  }
}

std::vector<MemoryRange> WritesOf(const Call& call) {
  const Launch& launch = *call.launch;
  std::vector<MemoryRange> out;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const Operand& operand = launch.operands[i];
    if (!operand.used || !operand.is_output) continue;
    const auto begin = reinterpret_cast<uintptr_t>(call.data[i]);
    out.push_back({begin + static_cast<uintptr_t>(operand.covered.begin),
                   static_cast<size_t>(operand.covered.end - operand.covered.begin)});
  }
  if (launch.workspace_bytes > 0) {
    out.push_back({reinterpret_cast<uintptr_t>(call.workspace), launch.workspace_bytes});
  }
  return out;
}

}  // namespace sfmla
