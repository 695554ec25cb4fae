// SPDX-License-Identifier: Apache-2.0
// Makes the kernels known to the runtime when the library is loaded.
#include "op_kernel/sparse_attn_sharedkv/cpu_kernel.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/cpu_kernel.h"
#include "op_kernel/sparse_flash_attention/cpu_kernel.h"
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"
#include "op_kernel/sparse_flash_mla/emulated_device.h"
#include "op_kernel/sparse_flash_mla_metadata/cpu_kernel.h"
#include "runtime/kernel_registry.h"

namespace sfmla {
namespace {

[[gnu::constructor]] void RegisterKernels() {
  KernelSink& registry = KernelRegistry();
  registry.Add(DeviceKind::kCpu, kSparseAttnSharedkvKernel, SparseAttnSharedkvCpuKernel);
  registry.Add(DeviceKind::kCpu, kSparseAttnSharedkvMetadataKernel,
               SparseAttnSharedkvMetadataCpuKernel);
  registry.Add(DeviceKind::kCpu, kSparseFlashAttentionKernel, SparseFlashAttentionCpuKernel);
  registry.Add(DeviceKind::kCpu, kSparseFlashMlaKernel, SparseFlashMlaCpuKernel);
  registry.Add(DeviceKind::kCpu, kSparseFlashMlaMetadataKernel, SparseFlashMlaMetadataCpuKernel);
  // On hardware the planner runs on the processor beside the cores; here too.
  registry.Add(DeviceKind::kAscend910b, kSparseFlashMlaKernel, SparseFlashMlaEmulatedKernel);
  registry.Add(DeviceKind::kAscend910b, kSparseFlashMlaMetadataKernel,
               SparseFlashMlaMetadataCpuKernel);
}

}  // namespace
}  // namespace sfmla
