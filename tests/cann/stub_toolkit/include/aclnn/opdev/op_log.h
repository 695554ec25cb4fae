// SPDX-License-Identifier: Apache-2.0
// Stub: OP_LOGE takes a code and a printf format.
#pragma once

#include <cstdio>

#define OP_LOGE(code, ...) ((void)(code), (void)std::fprintf(stderr, __VA_ARGS__))
