// SPDX-License-Identifier: Apache-2.0
// Stub: op_executor of CANN's aclnn manual.
#pragma once

#include "aclnn/opdev/common_types.h"

struct aclOpExecutor {
  const aclTensor* CreateView(const aclTensor* tensor, const op::Shape& shape, int64_t offset);
  aclTensor* AllocTensor(const op::Shape& shape, op::DataType data_type,
                         op::Format format = op::Format::FORMAT_ND);
  uint64_t GetWorkspaceSize() const;
};

class UniqueExecutor {
 public:
  explicit UniqueExecutor(const char* function_name);
  aclOpExecutor* get() const;
  aclOpExecutor* operator->() const;
  void ReleaseTo(aclOpExecutor** executor);
};

aclnnStatus CommonOpExecutorRun(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                aclrtStream stream);
