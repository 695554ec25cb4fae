/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base types of the offline-model interface. There is no model engine behind this library, so all
 * that remains is the common part, acl_base_rt.h.
 */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_MDL_H_
#define INC_EXTERNAL_ACL_ACL_BASE_MDL_H_

#include "acl/acl_base_rt.h"

#endif
