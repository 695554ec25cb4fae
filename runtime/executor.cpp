// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "base/format.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/handle_table.h"
#include "runtime/kernel_registry.h"
#include "runtime/kernel_task.h"
#include "runtime/memory_overlap.h"
#include "runtime/refusals.h"
#include "runtime/strict_memory.h"

namespace sfmla {
namespace {

// Once per call, for any number of runs.
Launch WithCoveredBytes(Launch launch) {
  for (Operand& operand : launch.operands) {
    if (!operand.present() || !operand.used) continue;
    const Result<ViewBytes> covered = CoveredBytes(operand.desc);
    assert(covered.ok());  // the operator's checks refuse such views
    operand.covered = covered.value();
  }
  return launch;
}

struct Executor {
  explicit Executor(Launch given)
      : launch(std::make_shared<const Launch>(WithCoveredBytes(std::move(given)))) {
    for (const Operand& operand : launch->operands) tensors.push_back(operand.handle);
  }

  const std::shared_ptr<const Launch> launch;
  std::mutex mutex;                       // guards what follows, and spans a phase two
  std::vector<const aclTensor*> tensors;  // per operand; aclSetTensorAddr may replace them
  bool repeatable = false;
  bool spent = false;
};

auto& g_executors = *new HandleTable<Executor>(HandleKind::kExecutor);

Status Spent(const aclOpExecutor* handle) {
  return Status(ACLNN_ERR_PARAM_INVALID, Str("executor: already consumed by a phase two, or ",
                                             DescribeMiss(HandleKind::kExecutor, handle),
                                             "; call phase one again or make it repeatable"));
}

Result<std::shared_ptr<Executor>> FindForRun(const char* op_name, aclOpExecutor* handle) {
  if (handle == nullptr) return NullArgument(ACLNN_ERR_PARAM_NULLPTR, "executor");
  std::shared_ptr<Executor> executor = g_executors.Find(handle);
  if (executor == nullptr) {
    uint32_t generation = 0;
    uint32_t slot = 0;
    if (UnpackHandle(HandleKind::kExecutor, handle, &generation, &slot)) return Spent(handle);
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, "executor", HandleKind::kExecutor, handle);
  }
  if (executor->launch->op_name != op_name) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Str("executor: made by phase one of ", executor->launch->op_name,
                      ", must be made by that of ", op_name));
  }
  return executor;
}

Status CheckWorkspace(const Launch& launch, const void* workspace, uint64_t workspace_bytes) {
  if (workspace == nullptr && workspace_bytes > 0) {
    return NullArgument(ACLNN_ERR_PARAM_NULLPTR, "workspace");
  }
  if (workspace_bytes < launch.workspace_bytes) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Str("workspaceSize: ", workspace_bytes, " bytes, must be at least ",
                      launch.workspace_bytes, " as reported by phase one"),
                  Subject::kWorkspaceSize);
  }
  return Status::Ok();
}

Result<std::shared_ptr<Stream>> FindStreamForRun(aclrtStream handle) {
  Result<std::shared_ptr<Stream>> stream = ResolveOwnStream(handle);
  if (stream.ok()) return stream;
  return Status(ACLNN_ERR_RUNTIME_ERROR,
                Str(stream.status().text(), " (", stream.status().code(), ")"));
}

// Addresses as the tensors have them now.
Status ReadAddresses(const Launch& launch, const std::vector<const aclTensor*>& tensors,
                     std::array<void*, kMaxOperands>* data) {
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    if (!launch.operands[i].present() || !launch.operands[i].used) continue;
    const std::shared_ptr<Tensor> tensor = FindTensor(tensors[i]);
    if (tensor == nullptr) {
      return Status(ACLNN_ERR_PARAM_INVALID,
                    Str(launch.operands[i].name,
                        ": tensor destroyed after phase one, must stay until phase two returned"));
    }
    void* address = tensor->data.load();
    if (address == nullptr && launch.operands[i].desc.num_elements() > 0) {
      return Status(
          ACLNN_ERR_PARAM_INVALID,
          Str(launch.operands[i].name,
              ": data address NULL, which is for planning only, must be set by phase two"));
    }
    (*data)[i] = address;
  }
  return Status::Ok();
}

TensorDesc AsOfNow(const Call& call, size_t operand) {
  TensorDesc desc = call.launch->operands[operand].desc;
  desc.data = call.data[operand];
  return desc;
}

TensorDesc WorkspaceOf(const Call& call) {
  TensorDesc desc;
  desc.rank = 1;
  desc.dims[0] = static_cast<int64_t>(call.launch->workspace_bytes);
  desc.strides[0] = 1;
  desc.dtype = ACL_UINT8;
  desc.data = call.workspace;
  return desc;
}

// What is written has memory of its own. Phase one has compared the addresses that it saw.
Status CheckOwnMemory(const Call& call) {
  const std::vector<Operand>& operands = call.launch->operands;
  const auto is_new = [&](size_t i) { return call.data[i] != operands[i].desc.data; };
  const TensorDesc workspace = WorkspaceOf(call);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].present() || !operands[i].used) continue;
    const TensorDesc desc = AsOfNow(call, i);
    if (SharesMemory(workspace, desc)) {
      return Status(ACLNN_ERR_PARAM_INVALID, SharedMemoryText("workspace", operands[i].name));
    }
    if (!operands[i].is_output) continue;
    for (size_t other = 0; other < operands.size(); ++other) {
      const bool may_share = other != i && operands[other].present() && operands[other].used &&
                             (is_new(i) || is_new(other));
      if (may_share && SharesMemory(desc, AsOfNow(call, other))) {
        return Status(ACLNN_ERR_PARAM_INVALID,
                      SharedMemoryText(operands[i].name, operands[other].name));
      }
    }
  }
  return Status::Ok();
}

// Queues the call. The caller holds the executor's mutex.
Status Enqueue(Executor* executor, Call call, Stream* stream) {
  const Launch& launch = *executor->launch;
  SFMLA_RETURN_IF_ERROR(ReadAddresses(launch, executor->tensors, &call.data));
  SFMLA_RETURN_IF_ERROR(CheckOwnMemory(call));
  if (launch.nothing_to_do) return Status::Ok();
  call.kernel = FindKernel(CurrentDeviceKind(), launch.kernel_id);
  if (call.kernel == nullptr) {
    return Status(ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                  Str(launch.op_name, ": no kernel '", launch.kernel_id, "' for this device"));
  }
  Task task;
  task.kind = Task::Kind::kOperator;
  task.name = launch.op_name;
  if (IsStrict()) task.writes = WritesOf(call);
  task.run = [call = std::move(call)] { return RunCall(call); };
  const Result<uint64_t> position = stream->Submit(std::move(task));
  if (position.ok()) return Status::Ok();
  return Status(ACLNN_ERR_RUNTIME_ERROR,
                Str(position.status().text(), " (", position.status().code(), ")"));
}

Result<std::shared_ptr<Executor>> FindForControl(aclOpExecutor* handle) {
  if (handle == nullptr) return NullArgument(ACLNN_ERR_INNER_NULLPTR, "executor");
  std::shared_ptr<Executor> executor = g_executors.Find(handle);
  if (executor == nullptr) {
    return DeadHandle(ACLNN_ERR_INNER, "executor", HandleKind::kExecutor, handle);
  }
  return executor;
}

// The position of operand `index` of the range among all operands; none if there is no such one.
std::optional<size_t> LocateOperand(const Launch& launch, OperandRange range, size_t index) {
  const auto first_output =
      static_cast<size_t>(std::find_if(launch.operands.begin(), launch.operands.end(),
                                       [](const Operand& operand) { return operand.is_output; }) -
                          launch.operands.begin());
  const size_t begin = range == OperandRange::kOutputs ? first_output : 0;
  const size_t end = range == OperandRange::kInputs ? first_output : launch.operands.size();
  if (index >= end - begin) return std::nullopt;
  return begin + index;
}

}  // namespace

aclOpExecutor* NewExecutor(Launch launch) {
  return static_cast<aclOpExecutor*>(
      g_executors.Insert(std::make_shared<Executor>(std::move(launch))));
}

size_t LiveExecutors() { return g_executors.Count(); }

Status RunExecutor(const char* op_name, void* workspace, uint64_t workspace_bytes,
                   aclOpExecutor* executor, aclrtStream stream) {
  const Result<std::shared_ptr<Executor>> found = FindForRun(op_name, executor);
  if (!found.ok()) return found.status();
  Executor& live = *found.value();
  SFMLA_RETURN_IF_ERROR(CheckWorkspace(*live.launch, workspace, workspace_bytes));
  const Result<std::shared_ptr<Stream>> own_stream = FindStreamForRun(stream);
  if (!own_stream.ok()) return own_stream.status();
  std::lock_guard lock(live.mutex);
  if (live.spent) return Spent(executor);
  Call call;
  call.launch = live.launch;
  call.workspace = static_cast<std::byte*>(workspace);
  call.workspace_bytes = workspace_bytes;
  SFMLA_RETURN_IF_ERROR(Enqueue(&live, std::move(call), own_stream.value().get()));
  if (!live.repeatable) {
    live.spent = true;
    g_executors.Remove(executor);
  }
  return Status::Ok();
}

Status MakeRepeatable(aclOpExecutor* executor) {
  const Result<std::shared_ptr<Executor>> found = FindForControl(executor);
  if (!found.ok()) return found.status();
  std::lock_guard lock(found.value()->mutex);
  found.value()->repeatable = true;
  return Status::Ok();
}

Status DestroyExecutor(aclOpExecutor* executor) {
  const Result<std::shared_ptr<Executor>> found = FindForControl(executor);
  if (!found.ok()) return found.status();
  if (g_executors.Remove(executor) != nullptr) return Status::Ok();
  return DeadHandle(ACLNN_ERR_INNER, "executor", HandleKind::kExecutor, executor);
}

Status RebindOperand(aclOpExecutor* executor, OperandRange range, size_t index, aclTensor* tensor,
                     void* address) {
  if (tensor == nullptr) return NullArgument(ACLNN_ERR_INNER_NULLPTR, "tensor");
  const std::shared_ptr<Tensor> live_tensor = FindTensor(tensor);
  if (live_tensor == nullptr) {
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, "tensor", HandleKind::kTensor, tensor);
  }
  // Before the executor is looked at: clients rely on the tensor being updated in any case.
  live_tensor->data = address;
  const Result<std::shared_ptr<Executor>> found = FindForControl(executor);
  if (!found.ok()) return found.status();
  const Launch& launch = *found.value()->launch;
  const std::optional<size_t> position = LocateOperand(launch, range, index);
  if (!position) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Str("index: ", index, ", ", launch.op_name, " has no such operand"));
  }
  if (!launch.operands[*position].present()) {
    return Status(
        ACLNN_ERR_PARAM_INVALID,
        Str("index: ", index, ", ", launch.operands[*position].name, " was absent in phase one"));
  }
  std::lock_guard lock(found.value()->mutex);
  found.value()->tensors[*position] = tensor;
  return Status::Ok();
}

}  // namespace sfmla
