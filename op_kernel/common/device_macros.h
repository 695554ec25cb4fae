// SPDX-License-Identifier: Apache-2.0
// Qualifiers that vanish on the host. Headers that a kernel shares with the host use these, and
// nothing of the standard library that CANN's compiler does not have on the device.
#pragma once

#if defined(__CCE_AICORE__)
#define SFMLA_DEVICE __aicore__
#else
#define SFMLA_DEVICE
#endif
