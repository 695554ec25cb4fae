/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types, enumerations and error codes shared by every acl header. Both -I<prefix>/include and
 * -I<prefix>/include/acl find the error codes.
 */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_H_
#define INC_EXTERNAL_ACL_ACL_BASE_H_

#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

#endif
