// SPDX-License-Identifier: Apache-2.0
// The order in which fork() takes the locks of the runtime (base/fork.h), and what a child keeps.
//
// Memory, contexts, descriptors and settings are in the child as they were. What has threads, or
// locks that are held for longer, ends there: streams with their captures and subscriptions,
// events, graphs, executors. Their handles are refused; default streams are made anew.
#pragma once

namespace sfmla::fork_order {

// Ascending: who holds a lock waits for those behind it only. The locks of base come last.
inline constexpr int kInit = 1;
inline constexpr int kDevices = 2;
inline constexpr int kReports = 3;
inline constexpr int kAddresses = 4;
inline constexpr int kCaptures = 5;
inline constexpr int kHandles = 6;  // all handle tables: none is used under another
inline constexpr int kDeviceAccess = 7;
inline constexpr int kMemory = 8;
inline constexpr int kErrorText = 9;

}  // namespace sfmla::fork_order
