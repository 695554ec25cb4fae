// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocator.h"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>

#include "acl/acl_base.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/memory_registry.h"
#include "runtime/strict_memory.h"

namespace sfmla {
namespace {

// Above this size pages come from the system directly: they stay untouched until they are written.
constexpr size_t kMapThresholdBytes = size_t{1} << 20;
constexpr size_t kHugePageBytes = size_t{2} << 20;
static_assert(kHugePageBytes >= kMapThresholdBytes);  // so what has large pages begins at a page

uint64_t BudgetBytes() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() ? settings->device_memory_bytes : 0;
}

MemorySource SourceFor(MemoryKind kind, size_t bytes) {
  if (kind == MemoryKind::kDevice && IsStrict()) return MemorySource::kFenced;
  return bytes < kMapThresholdBytes ? MemorySource::kHeap : MemorySource::kPages;
}

// Pinned memory is the host's own and must be there when it is promised; pages of the device are
// counted against its budget instead.
void* Reserve(MemorySource source, MemoryKind kind, size_t bytes) {
  if (source == MemorySource::kFenced) return ReserveFenced(bytes);
  void* pointer = nullptr;
  if (source == MemorySource::kHeap) {
    return posix_memalign(&pointer, kMemoryAlignment, bytes) == 0 ? pointer : nullptr;
  }
  const int reserve = kind == MemoryKind::kDevice ? MAP_NORESERVE : 0;
  pointer =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
  return pointer == MAP_FAILED ? nullptr : pointer;
}

void Release(const Block& block) {
  void* pointer = reinterpret_cast<void*>(block.allocation.begin);
  if (block.source == MemorySource::kHeap) free(pointer);
  if (block.source == MemorySource::kPages) munmap(pointer, block.reserved_bytes);
  if (block.source == MemorySource::kFenced) ReleaseFenced(pointer, block.reserved_bytes);
}

Status OutOfMemory(size_t bytes, uint64_t free_bytes, uint64_t total_bytes) {
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                Str("size: ", bytes, " bytes, device memory has ", free_bytes, " free of ",
                    total_bytes, " (SFMLA_DEVICE_MEMORY sets the total)"));
}

const char* DescribeUnfreeable(const Block* block, MemoryKind kind, const void* pointer) {
  if (block == nullptr) return "in no live allocation";
  if (block->source == MemorySource::kMapped) return "mapped memory";
  if (block->allocation.begin != Bits(pointer)) return "inside a live allocation, not at its start";
  if (block->source == MemorySource::kCaller) return "registered memory of the caller";
  return kind == MemoryKind::kDevice ? "pinned host memory" : "device memory";
}

Status RefuseFree(MemoryKind kind, const void* pointer) {
  const char* name = kind == MemoryKind::kDevice ? "devPtr" : "hostPtr";
  const char* maker = kind == MemoryKind::kDevice ? "aclrtMalloc" : "aclrtMallocHost";
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Str(name, ": ", pointer, " is ",
                    DescribeUnfreeable(FindBlockLocked(Bits(pointer)), kind, pointer),
                    ", must be a live result of ", maker));
}

bool IsFreeable(const Block& block, MemoryKind kind) {
  return block.allocation.kind == kind && block.source != MemorySource::kCaller &&
         block.source != MemorySource::kMapped;
}

}  // namespace

Status Charge(size_t bytes) {
  std::unique_lock lock(Memory().mutex);
  const uint64_t total = BudgetBytes();
  const uint64_t used = Memory().device_bytes;
  const uint64_t free_bytes = total > used ? total - used : 0;
  if (bytes > free_bytes) return OutOfMemory(bytes, free_bytes, total);
  Memory().device_bytes += bytes;
  return Status::Ok();
}

void Discharge(size_t bytes) {
  std::unique_lock lock(Memory().mutex);
  Memory().device_bytes -= bytes;
}

Result<void*> Allocate(MemoryKind kind, size_t bytes) {
  if (bytes > SIZE_MAX - 2 * kMemorySlackBytes) {
    return Status(ACL_ERROR_INVALID_PARAM, Str("size: ", bytes, " bytes, too large to round up"));
  }
  const bool is_device = kind == MemoryKind::kDevice;
  if (is_device) SFMLA_RETURN_IF_ERROR(Charge(bytes));
  Block block;
  block.reserved_bytes =
      (bytes + kMemorySlackBytes - 1) / kMemorySlackBytes * kMemorySlackBytes + kMemorySlackBytes;
  block.source = SourceFor(kind, block.reserved_bytes);
  const DeviceAccess access;  // fresh pages are writable until it ends
  void* pointer = Reserve(block.source, kind, block.reserved_bytes);
  if (pointer == nullptr) {
    if (is_device) Discharge(bytes);
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Str("size: ", bytes, " bytes, the system has no memory left"));
  }
  block.allocation = {Bits(pointer), bytes, kind};
  std::unique_lock lock(Memory().mutex);
  Memory().blocks.emplace(block.allocation.begin, block);
  return pointer;
}

void AskForHugePages(void* pointer, size_t bytes) {
  if (bytes >= kHugePageBytes) madvise(pointer, bytes, MADV_HUGEPAGE);
}

Status Free(MemoryKind kind, void* pointer) {
  if (kind == MemoryKind::kDevice) WarnBeforeFree(pointer);
  Block block;
  {
    std::unique_lock lock(Memory().mutex);
    const auto found = Memory().blocks.find(Bits(pointer));
    if (found == Memory().blocks.end() || !IsFreeable(found->second, kind)) {
      return RefuseFree(kind, pointer);
    }
    block = found->second;
    Memory().blocks.erase(found);
    if (kind == MemoryKind::kDevice) Memory().device_bytes -= block.allocation.bytes;
  }
  Release(block);
  return Status::Ok();
}

Status RegisterHost(void* pointer, size_t bytes) {
  std::unique_lock lock(Memory().mutex);
  if (bytes > UINTPTR_MAX - Bits(pointer)) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Str("size: ", bytes, " bytes at ", pointer, " leave the address space"));
  }
  if (OverlapsLocked(Bits(pointer), bytes)) {
    return Status(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                  Str("ptr: ", bytes, " bytes at ", pointer,
                      " overlap memory that is registered or allocated here already"));
  }
  Memory().blocks.emplace(
      Bits(pointer),
      Block{{Bits(pointer), bytes, MemoryKind::kPinnedHost}, MemorySource::kCaller, bytes});
  return Status::Ok();
}

Status UnregisterHost(void* pointer) {
  std::unique_lock lock(Memory().mutex);
  const auto found = Memory().blocks.find(Bits(pointer));
  if (found == Memory().blocks.end() || found->second.source != MemorySource::kCaller) {
    return Status(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                  Str("ptr: ", pointer, " is not the start of registered memory"));
  }
  Memory().blocks.erase(found);
  return Status::Ok();
}

MemoryInfo DeviceMemoryInfo() {
  std::shared_lock lock(Memory().mutex);
  const uint64_t total = BudgetBytes();
  const uint64_t used = Memory().device_bytes;
  return {total > used ? total - used : 0, total};
}

MemoryUse DeviceMemoryUse() {
  std::shared_lock lock(Memory().mutex);
  MemoryUse use;
  for (const auto& [begin, block] : Memory().blocks) {
    if (block.allocation.kind != MemoryKind::kDevice) continue;
    ++use.allocations;
    use.bytes += block.allocation.bytes;
  }
  return use;
}

}  // namespace sfmla
