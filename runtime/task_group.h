// SPDX-License-Identifier: Apache-2.0
// Giving the operators of a task group new arguments.
#pragma once

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/stream.h"

namespace sfmla {

// From now on operators that are queued on the stream are collected for the group. 107000: not a
// live group; 107027: the stream is captured; 107033: an update of a group is open there.
Status BeginGroupUpdate(Stream* stream, aclrtTaskGrp group);

// In stream order, puts what was collected in place of the group's tasks. 107033: none is open.
// 507000: not the same operators in the same order; the group stays as it is.
Status EndGroupUpdate(Stream* stream);

}  // namespace sfmla
