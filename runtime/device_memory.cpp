// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "acl/acl_base.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/allocator.h"

namespace sfmla {
namespace {

// Above this size pages come from the system directly: they stay untouched until they are written.
constexpr size_t kMapThresholdBytes = size_t{1} << 20;

enum class Source : uint8_t { kHeap, kMapping, kCaller };

struct Block {
  Allocation allocation;
  Source source = Source::kHeap;
  size_t reserved_bytes = 0;  // with slack
};

struct Registry {
  std::shared_mutex mutex;
  std::map<uintptr_t, Block> blocks;  // by begin; ranges do not overlap
  uint64_t device_bytes = 0;
};

Registry& Memory() {
  static auto* registry = new Registry;
  return *registry;
}

uintptr_t Bits(const void* address) { return reinterpret_cast<uintptr_t>(address); }

uint64_t BudgetBytes() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() ? settings->device_memory_bytes : 0;
}

bool ChecksAreOff() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() && settings->check == CheckLevel::kOff;
}

// The block whose range, slack included, holds the address.
const Block* FindBlockLocked(const Registry& memory, uintptr_t address) {
  auto next = memory.blocks.upper_bound(address);
  if (next == memory.blocks.begin()) return nullptr;
  const Block& block = std::prev(next)->second;
  return address - block.allocation.begin < block.reserved_bytes ? &block : nullptr;
}

bool OverlapsLocked(const Registry& memory, uintptr_t begin, size_t bytes) {
  if (FindBlockLocked(memory, begin) != nullptr) return true;
  const auto next = memory.blocks.upper_bound(begin);
  return next != memory.blocks.end() && next->first - begin < bytes;
}

void* Reserve(Source source, size_t bytes) {
  if (source == Source::kHeap) {
    void* pointer = nullptr;
    return posix_memalign(&pointer, kMemoryAlignment, bytes) == 0 ? pointer : nullptr;
  }
  void* pointer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pointer == MAP_FAILED ? nullptr : pointer;
}

void Release(const Block& block) {
  void* pointer = reinterpret_cast<void*>(block.allocation.begin);
  if (block.source == Source::kHeap) free(pointer);
  if (block.source == Source::kMapping) munmap(pointer, block.reserved_bytes);
}

Status OutOfMemory(size_t bytes, uint64_t free_bytes, uint64_t total_bytes) {
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                Str("size: ", bytes, " bytes, device memory has ", free_bytes, " free of ",
                    total_bytes, " (SFMLA_DEVICE_MEMORY sets the total)"));
}

// Takes `bytes` out of the budget, or says why not.
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

Status RefuseFree(const Registry& memory, MemoryKind kind, const void* pointer) {
  const char* name = kind == MemoryKind::kDevice ? "devPtr" : "hostPtr";
  const char* maker = kind == MemoryKind::kDevice ? "aclrtMalloc" : "aclrtMallocHost";
  const Block* block = FindBlockLocked(memory, Bits(pointer));
  const char* found = "in no live allocation";
  if (block != nullptr && block->allocation.begin != Bits(pointer)) {
    found = "inside a live allocation, not at its start";
  } else if (block != nullptr && block->source == Source::kCaller) {
    found = "registered memory of the caller";
  } else if (block != nullptr) {
    found = kind == MemoryKind::kDevice ? "pinned host memory" : "device memory";
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Str(name, ": ", pointer, " is ", found, ", must be a live result of ", maker));
}

Status NotAccessible(const char* what, const void* address, uint64_t bytes, const Block* block,
                     int32_t code) {
  if (block == nullptr) {
    return Status(
        code, Str(what, ": ", bytes, " bytes at ", address, " are in no live device allocation"));
  }
  const void* begin = reinterpret_cast<const void*>(block->allocation.begin);
  return Status(code, Str(what, ": ", bytes, " bytes at ", address, " leave their allocation of ",
                          block->allocation.bytes, " bytes at ", begin));
}

}  // namespace

std::optional<Allocation> FindAllocation(const void* address) {
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Memory(), Bits(address));
  if (block == nullptr) return std::nullopt;
  const bool in_slack = Bits(address) - block->allocation.begin >= block->allocation.bytes;
  return in_slack ? std::nullopt : std::optional(block->allocation);
}

Status CheckAccessible(const char* what, const void* address, uint64_t bytes,
                       int32_t failure_code) {
  if (bytes == 0 || ChecksAreOff()) return Status::Ok();
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Memory(), Bits(address));
  if (block != nullptr) {
    const uint64_t offset = Bits(address) - block->allocation.begin;
    const uint64_t size = block->allocation.bytes;
    if (offset <= size && bytes <= size - offset) return Status::Ok();
  }
  return NotAccessible(what, address, bytes, block, failure_code);
}

Status CheckStaysInside(const char* what, const void* address, size_t bytes, int32_t failure_code) {
  if (ChecksAreOff()) return Status::Ok();
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Memory(), Bits(address));
  if (block == nullptr) return Status::Ok();
  const size_t offset = Bits(address) - block->allocation.begin;
  if (bytes <= block->reserved_bytes - offset) return Status::Ok();
  return NotAccessible(what, address, bytes, block, failure_code);
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
  block.source = block.reserved_bytes < kMapThresholdBytes ? Source::kHeap : Source::kMapping;
  void* pointer = Reserve(block.source, block.reserved_bytes);
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

Status Free(MemoryKind kind, void* pointer) {
  Block block;
  {
    std::unique_lock lock(Memory().mutex);
    const auto found = Memory().blocks.find(Bits(pointer));
    if (found == Memory().blocks.end() || found->second.allocation.kind != kind ||
        found->second.source == Source::kCaller) {
      return RefuseFree(Memory(), kind, pointer);
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
  if (OverlapsLocked(Memory(), Bits(pointer), bytes)) {
    return Status(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                  Str("ptr: ", bytes, " bytes at ", pointer,
                      " overlap memory that is registered or allocated here already"));
  }
  Memory().blocks.emplace(
      Bits(pointer),
      Block{{Bits(pointer), bytes, MemoryKind::kPinnedHost}, Source::kCaller, bytes});
  return Status::Ok();
}

Status UnregisterHost(void* pointer) {
  std::unique_lock lock(Memory().mutex);
  const auto found = Memory().blocks.find(Bits(pointer));
  if (found == Memory().blocks.end() || found->second.source != Source::kCaller) {
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

}  // namespace sfmla
