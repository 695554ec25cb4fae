// SPDX-License-Identifier: Apache-2.0
// Stub of ge's types: numbers as published, and as aclDataType and aclFormat have them.
#pragma once

#include <cstdint>

namespace ge {

using char_t = char;
using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;

enum DataType { DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT32 = 3, DT_INT64 = 9, DT_BF16 = 27 };
enum Format { FORMAT_ND = 2 };

}  // namespace ge
