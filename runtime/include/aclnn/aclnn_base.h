/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of the operator layer. Both calls are optional: aclInit and aclrtSetDevice are
 * enough to use operators.
 */
#ifndef OP_API_OP_API_COMMON_INC_EXTERNAL_ACLNN_BASE_H
#define OP_API_OP_API_COMMON_INC_EXTERNAL_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Does nothing and returns 0. `configPath` is not read and may be NULL. May be called before or
// after aclInit, any number of times.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);

// Does nothing and returns 0. Executors and descriptors stay valid.
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

// Some adapters bracket the two phases of an operator with these calls, with (NULL, false), if the
// library has them. Nothing needs to be set up here: they do nothing, and the first returns 0.
ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void* reserved, bool shared);
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void* reserved, bool shared);
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void* reserved, bool shared);

#ifdef __cplusplus
}
#endif

#endif
