// SPDX-License-Identifier: Apache-2.0
// Stub: return codes of aclnn functions, as published.
#pragma once

constexpr int ACLNN_SUCCESS = 0;
constexpr int ACLNN_ERR_PARAM_NULLPTR = 161001;
constexpr int ACLNN_ERR_PARAM_INVALID = 161002;
constexpr int ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101;
constexpr int ACLNN_ERR_INNER_NULLPTR = 561103;
