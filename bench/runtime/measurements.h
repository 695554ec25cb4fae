// SPDX-License-Identifier: Apache-2.0
// What the runtime costs around a kernel. Each prints one table.
#pragma once

namespace sfmla::bench {

// Phase one and phase two of a call whose kernel is empty, against a bare hand-off, in turns.
void MeasureCalls();

// Phase one of a call with 18 tensors, by batch.
void MeasurePhaseOne();

// Replay of a captured decode step of 60 layers against the sum of its kernels.
void MeasureReplay();

// Memory of the process in the course of 10,000 calls.
void MeasureSoak();

}  // namespace sfmla::bench
