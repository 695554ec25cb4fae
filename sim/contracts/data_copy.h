// SPDX-License-Identifier: Apache-2.0
// Contracts of DataCopy and DataCopyPad on dav-2201.
#pragma once

#include "sim/ascendc/parameters.h"
#include "sim/contracts/common.h"
#include "sim/intrinsics/data_copy.h"

namespace sfmla::sim {

// GM <-> UB, GM <-> L1 and UB -> UB are the paths; anything else has no pipe here.
Pipe PipeOfCopy(const char* name, const SourceLocation& where, const Operand& dst,
                const Operand& src);

// Local addresses are multiples of 32 B; bursts lie inside both tensors; UB -> UB neither reads nor
// writes the same byte twice. Kept without checks, too: indices of users, page ids above all, end
// up here, and a wild one must not read another tensor.
void CheckCopy(const Call& call, const Access& dst, const Operand& dst_operand, const Access& src,
               const Operand& src_operand);

void CheckBlocks(const Call& call, const AscendC::DataCopyParams& params);
void CheckBursts(const Call& call, const AscendC::DataCopyExtParams& params);

// Destination in UB; left and right padding of at most 32 B.
void CheckPadding(const Call& call, const Argument& dst, const PadPlan& pad);

// Counts may be 0, strides must be within their documented ranges, destination in L1 at a multiple
// of 32 B, and no two elements may go to the same place.
void CheckNdToNz(const Call& call, const Argument& dst, const AscendC::Nd2NzParams& params,
                 int64_t element_bytes);

}  // namespace sfmla::sim
