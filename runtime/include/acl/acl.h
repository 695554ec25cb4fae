/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header most programs include: the runtime (acl_rt.h) and everything it is made of.
 *
 * A complete program without operators:
 *
 *     aclInit(NULL);
 *     aclrtSetDevice(0);
 *     void* device = NULL;
 *     aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
 *     aclrtFree(device);
 *     aclrtResetDevice(0);
 *     aclFinalize();
 *
 * Operators are declared in aclnnop/aclnn_<operator>.h, their descriptors in aclnn/acl_meta.h.
 */
#ifndef INC_EXTERNAL_ACL_ACL_H_
#define INC_EXTERNAL_ACL_ACL_H_

#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"

#endif
