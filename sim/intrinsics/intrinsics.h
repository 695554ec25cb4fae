// SPDX-License-Identifier: Apache-2.0
// All instruction families. docs/emulator.md lists the calls and the document each comes from.
#pragma once

#include "sim/intrinsics/compare_select.h"
#include "sim/intrinsics/data_copy.h"
#include "sim/intrinsics/fixpipe.h"
#include "sim/intrinsics/gather.h"
#include "sim/intrinsics/load_data.h"
#include "sim/intrinsics/mmad.h"
#include "sim/intrinsics/registers.h"
#include "sim/intrinsics/vector_binary.h"
#include "sim/intrinsics/vector_broadcast.h"
#include "sim/intrinsics/vector_cast.h"
#include "sim/intrinsics/vector_reduce.h"
#include "sim/intrinsics/vector_unary.h"
