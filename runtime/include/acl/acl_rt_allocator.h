/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by acl_rt.h for compatibility. Registering a custom device-memory allocator is not
 * offered: device memory comes from aclrtMalloc.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_ALLOCATOR_H_
#define INC_EXTERNAL_ACL_ACL_RT_ALLOCATOR_H_

#include "acl/acl_base_rt.h"

#endif
