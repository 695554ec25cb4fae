// SPDX-License-Identifier: Apache-2.0
// ACLNN_API marks a function that the operator libraries export. It changes nothing for a caller.
#ifndef ACLNNOP_ACLNN_UTIL_H_
#define ACLNNOP_ACLNN_UTIL_H_

#define ACLNN_API __attribute__((visibility("default")))

#endif  // ACLNNOP_ACLNN_UTIL_H_
