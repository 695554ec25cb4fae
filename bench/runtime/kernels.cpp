// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <atomic>

#include "clock.h"
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"
#include "op_kernel/sparse_flash_mla_metadata/cpu_kernel.h"
#include "runtime/kernel_registry.h"

namespace sfmla::bench {
namespace {

std::atomic<double> g_seconds{0};

Status Empty(const KernelCall&) { return Status::Ok(); }

template <KernelFn kernel>
Status Timed(const KernelCall& call) {
  const double start = WallSeconds();
  Status status = kernel(call);
  g_seconds = g_seconds + (WallSeconds() - start);
  return status;
}

}  // namespace

void UseEmptyKernels() { KernelRegistry().Add(DeviceKind::kCpu, kSparseFlashMlaKernel, &Empty); }

void UseTimedKernels() {
  KernelRegistry().Add(DeviceKind::kCpu, kSparseFlashMlaKernel, &Timed<SparseFlashMlaCpuKernel>);
  KernelRegistry().Add(DeviceKind::kCpu, kSparseFlashMlaMetadataKernel,
                       &Timed<SparseFlashMlaMetadataCpuKernel>);
}

double TakeKernelSeconds() { return g_seconds.exchange(0); }

}  // namespace sfmla::bench
