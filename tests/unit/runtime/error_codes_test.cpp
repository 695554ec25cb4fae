// SPDX-License-Identifier: Apache-2.0
// The numbers in base/status.h are those of the public headers, and the headers' own are the
// platform's.
#include <doctest/doctest.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/op_errno.h"
#include "base/status.h"

namespace sfmla {

static_assert(code::kOk == ACL_SUCCESS && code::kOk == ACLNN_SUCCESS &&
              code::kOk == ACL_RT_SUCCESS);
static_assert(code::kAclInvalidParam == ACL_ERROR_INVALID_PARAM);
static_assert(code::kRtParamInvalid == ACL_ERROR_RT_PARAM_INVALID);
static_assert(code::kRtContextNull == ACL_ERROR_RT_CONTEXT_NULL);
static_assert(code::kRtStreamContext == ACL_ERROR_RT_STREAM_CONTEXT);
static_assert(code::kRtMemoryAllocation == ACL_ERROR_RT_MEMORY_ALLOCATION);
static_assert(code::kRtAicoreException == ACL_ERROR_RT_AICORE_EXCEPTION);
static_assert(code::kRtAicpuException == ACL_ERROR_RT_AICPU_EXCEPTION);
static_assert(code::kAclnnParamNullptr == ACLNN_ERR_PARAM_NULLPTR);
static_assert(code::kAclnnParamInvalid == ACLNN_ERR_PARAM_INVALID);
static_assert(code::kAclnnRuntimeError == ACLNN_ERR_RUNTIME_ERROR);
static_assert(code::kAclnnInner == ACLNN_ERR_INNER);
static_assert(code::kAclnnInnerFindKernel == ACLNN_ERR_INNER_FIND_KERNEL_ERROR);
static_assert(code::kAclnnInnerNullptr == ACLNN_ERR_INNER_NULLPTR);

// Structures cross the C boundary by layout.
static_assert(sizeof(aclrtMemLocation) == 8 && sizeof(aclrtPtrAttributes) == 28);
static_assert(sizeof(aclrtPhysicalMemProp) == 32 && sizeof(aclrtMemcpyBatchAttr) == 32);
static_assert(sizeof(aclrtStreamAttrValue) == 16 && sizeof(aclDataType) == 4);

TEST_CASE("the operator layer starts and ends without effect") {
  CHECK(aclnnInit("/no/such/file") == OK);
  CHECK(aclnnFinalize() == ACLNN_SUCCESS);
}

}  // namespace sfmla
