/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Present so that programs which include it compile. Loading and running offline models (aclmdl...)
 * needs a graph engine and is not part of this library.
 */
#ifndef INC_EXTERNAL_ACL_ACL_MODEL_H_
#define INC_EXTERNAL_ACL_ACL_MODEL_H_

#include "acl/acl_base.h"

#endif
