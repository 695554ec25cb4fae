// SPDX-License-Identifier: Apache-2.0
#include "runtime/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "base/format.h"
#include "runtime/fork_order.h"
#include "runtime/memory_registry.h"
#include "runtime/refusals.h"
#include "runtime/strict_memory.h"

namespace sfmla {
namespace {

// Lives as long as a handle or a mapping of it.
class PhysicalMemory {
 public:
  PhysicalMemory(int file, size_t bytes) : file_(file), bytes_(bytes) {}
  ~PhysicalMemory() {
    close(file_);
    Discharge(bytes_);
  }
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  int file() const { return file_; }
  size_t bytes() const { return bytes_; }

 private:
  const int file_;
  const size_t bytes_;
};

auto& g_physical_memories = *new HandleTable<PhysicalMemory>(HandleKind::kPhysicalMemory);

struct AddressSpace {
  ForkMutex mutex{fork_order::kAddresses};  // held before the registry's, never the other way round
  std::map<uintptr_t, size_t> reservations;
  std::map<uintptr_t, std::shared_ptr<PhysicalMemory>> mappings;  // each a block of the registry
};

auto& g_addresses = *new AddressSpace;

Status CheckGranular(const char* name, size_t value) {
  if (value > 0 && value % kMapGranularityBytes == 0) return Status::Ok();
  return Status(ACL_ERROR_INVALID_PARAM, Str(name, ": ", value, ", must be a positive multiple of ",
                                             kMapGranularityBytes, " bytes"));
}

bool HoldsMappingLocked(uintptr_t begin, size_t bytes) {
  const auto next = g_addresses.mappings.lower_bound(begin);
  return next != g_addresses.mappings.end() && next->first - begin < bytes;
}

Status CheckFreePlaceLocked(uintptr_t begin, size_t bytes) {
  auto next = g_addresses.reservations.upper_bound(begin);
  const bool reserved = next != g_addresses.reservations.begin() &&
                        begin - std::prev(next)->first < std::prev(next)->second &&
                        bytes <= std::prev(next)->second - (begin - std::prev(next)->first);
  const void* address = reinterpret_cast<const void*>(begin);
  if (!reserved) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Str("virPtr: ", bytes, " bytes at ", address,
                                                  " are not inside one reserved range"));
  }
  std::shared_lock lock(Memory().mutex);
  if (!OverlapsLocked(begin, bytes)) return Status::Ok();
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Str("virPtr: ", bytes, " bytes at ", address, " overlap what is mapped already"));
}

void* AlignUpTo(void* pages) {
  const uintptr_t bits = Bits(pages) + kMapGranularityBytes - 1;
  return reinterpret_cast<void*>(bits / kMapGranularityBytes * kMapGranularityBytes);
}

}  // namespace

Result<void*> ReserveAddresses(size_t bytes) {
  SFMLA_RETURN_IF_ERROR(CheckGranular("size", bytes));
  if (bytes > SIZE_MAX - kMapGranularityBytes) {
    return Status(ACL_ERROR_INVALID_PARAM, Str("size: ", bytes, " bytes, too large"));
  }
  const size_t all = bytes + kMapGranularityBytes;
  void* pages = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Str("size: ", bytes, " bytes, the system has no addresses left"));
  }
  void* begin = AlignUpTo(pages);
  const size_t before = Bits(begin) - Bits(pages);
  if (before > 0) munmap(pages, before);
  munmap(static_cast<char*>(begin) + bytes, kMapGranularityBytes - before);
  std::lock_guard lock(g_addresses.mutex);
  g_addresses.reservations[Bits(begin)] = bytes;
  return begin;
}

Status ReleaseAddresses(void* begin) {
  std::lock_guard lock(g_addresses.mutex);
  const auto found = g_addresses.reservations.find(Bits(begin));
  if (found == g_addresses.reservations.end()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("virPtr: ", begin, " is not the start of a reserved range"));
  }
  if (HoldsMappingLocked(found->first, found->second)) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("virPtr: memory is mapped in the range at ", begin, ", unmap it first"));
  }
  munmap(begin, found->second);
  g_addresses.reservations.erase(found);
  return Status::Ok();
}

Result<aclrtDrvMemHandle> MallocPhysical(size_t bytes) {
  SFMLA_RETURN_IF_ERROR(CheckGranular("size", bytes));
  SFMLA_RETURN_IF_ERROR(Charge(bytes));
  const int file = memfd_create("sfmla_device_memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) close(file);
    Discharge(bytes);
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Str("size: ", bytes, " bytes, the system has no memory left"));
  }
  return g_physical_memories.Insert(std::make_shared<PhysicalMemory>(file, bytes));
}

Status FreePhysical(aclrtDrvMemHandle handle) {
  if (g_physical_memories.Remove(handle) != nullptr) return Status::Ok();
  return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "handle", HandleKind::kPhysicalMemory, handle);
}

Status MapPhysical(void* begin, size_t bytes, aclrtDrvMemHandle handle) {
  const std::shared_ptr<PhysicalMemory> memory = g_physical_memories.Find(handle);
  if (memory == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "handle", HandleKind::kPhysicalMemory, handle);
  }
  SFMLA_RETURN_IF_ERROR(CheckGranular("size", bytes));
  if (bytes > memory->bytes() || Bits(begin) % kMapGranularityBytes != 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("size: ", bytes, " bytes at ", begin, ", must be at most ", memory->bytes(),
                      " and begin at a multiple of ", kMapGranularityBytes));
  }
  std::lock_guard lock(g_addresses.mutex);
  SFMLA_RETURN_IF_ERROR(CheckFreePlaceLocked(Bits(begin), bytes));
  const DeviceAccess access;  // the new pages are writable until it ends
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file(), 0) ==
      MAP_FAILED) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Str("size: ", bytes, " bytes, the system cannot map them"));
  }
  g_addresses.mappings[Bits(begin)] = memory;
  std::unique_lock registry_lock(Memory().mutex);
  Memory().blocks.emplace(
      Bits(begin), Block{{Bits(begin), bytes, MemoryKind::kDevice}, MemorySource::kMapped, bytes});
  return Status::Ok();
}

Status Unmap(void* begin) {
  std::lock_guard lock(g_addresses.mutex);
  const auto found = g_addresses.mappings.find(Bits(begin));
  if (found == g_addresses.mappings.end()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("virPtr: ", begin, " is not the start of mapped memory"));
  }
  size_t bytes = 0;
  {
    std::unique_lock registry_lock(Memory().mutex);
    const auto block = Memory().blocks.find(Bits(begin));
    bytes = block->second.allocation.bytes;
    Memory().blocks.erase(block);
  }
  // The addresses stay reserved.
  mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  g_addresses.mappings.erase(found);
  return Status::Ok();
}

}  // namespace sfmla
