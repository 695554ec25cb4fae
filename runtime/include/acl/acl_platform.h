/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decorations that the other headers use. None of them changes a prototype.
 *
 * ACL_FUNC_VISIBILITY          default symbol visibility while the library itself is built (with
 *                              FUNC_VISIBILITY defined); nothing for everybody else.
 * ACL_DEPRECATED               marks an enumerator or a function that new code should not use.
 * ACL_DEPRECATED_MESSAGE(m)    the same, with the advice `m`.
 */
#ifndef INC_EXTERNAL_ACL_ACL_PLATFORM_H_
#define INC_EXTERNAL_ACL_ACL_PLATFORM_H_

#include <stddef.h>

#ifndef ACL_FUNC_VISIBILITY
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

#ifndef ACL_DEPRECATED
#define ACL_DEPRECATED __attribute__((deprecated))
#endif
#ifndef ACL_DEPRECATED_MESSAGE
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#endif

#endif
