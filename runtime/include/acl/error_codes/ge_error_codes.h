/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of the graph engine. There is none behind this library, so none of its codes is ever
 * returned and none is defined; the header exists because acl_base.h and programs include it.
 */
#ifndef INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_
#define INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_

#include <stddef.h>

#endif
