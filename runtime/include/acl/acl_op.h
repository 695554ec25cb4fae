/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Present so that programs which include it compile. The interface for single operators run by a
 * graph engine (aclop...) is not part of this library; use the aclnn two-phase operators.
 */
#ifndef INC_EXTERNAL_ACL_ACL_OP_H_
#define INC_EXTERNAL_ACL_ACL_OP_H_

#include "acl/acl_base.h"

#endif
