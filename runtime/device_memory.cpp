// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <iterator>
#include <mutex>

#include "acl/acl_base.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/allocator.h"
#include "runtime/memory_registry.h"

namespace sfmla {
namespace {

auto& g_memory = *new MemoryRegistry;

bool ChecksAreOff() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() && settings->check == CheckLevel::kOff;
}

// Where memory that begins with this block ends: mappings without a gap count as one allocation.
uintptr_t EndOfRunLocked(const Block& block) {
  uintptr_t end = block.allocation.begin + block.allocation.bytes;
  if (block.source != MemorySource::kMapped) return end;
  for (auto next = Memory().blocks.find(end);
       next != Memory().blocks.end() && next->second.source == MemorySource::kMapped;
       next = Memory().blocks.find(end)) {
    end += next->second.allocation.bytes;
  }
  return end;
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

MemoryRegistry& Memory() { return g_memory; }

const Block* FindBlockLocked(uintptr_t address) {
  auto next = Memory().blocks.upper_bound(address);
  if (next == Memory().blocks.begin()) return nullptr;
  const Block& block = std::prev(next)->second;
  return address - block.allocation.begin < block.reserved_bytes ? &block : nullptr;
}

bool OverlapsLocked(uintptr_t begin, size_t bytes) {
  if (FindBlockLocked(begin) != nullptr) return true;
  const auto next = Memory().blocks.upper_bound(begin);
  return next != Memory().blocks.end() && next->first - begin < bytes;
}

std::optional<Allocation> FindAllocation(const void* address) {
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Bits(address));
  if (block == nullptr) return std::nullopt;
  const bool in_slack = Bits(address) - block->allocation.begin >= block->allocation.bytes;
  return in_slack ? std::nullopt : std::optional(block->allocation);
}

MemoryReader::MemoryReader() : checks_(!ChecksAreOff()), lock_(Memory().mutex) {}

Status MemoryReader::CheckAccessible(const char* what, const void* address, uint64_t bytes,
                                     int32_t failure_code) const {
  if (bytes == 0 || !checks_) return Status::Ok();
  const Block* block = FindBlockLocked(Bits(address));
  if (block != nullptr) {
    const uintptr_t end = EndOfRunLocked(*block);
    if (Bits(address) <= end && bytes <= end - Bits(address)) return Status::Ok();
  }
  return NotAccessible(what, address, bytes, block, failure_code);
}

Status CheckAccessible(const char* what, const void* address, uint64_t bytes,
                       int32_t failure_code) {
  return MemoryReader().CheckAccessible(what, address, bytes, failure_code);
}

Status CheckStaysInside(const char* what, const void* address, size_t bytes, int32_t failure_code) {
  if (ChecksAreOff()) return Status::Ok();
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Bits(address));
  // What lies behind a registered range is the caller's too.
  if (block == nullptr || block->source == MemorySource::kCaller) return Status::Ok();
  const uintptr_t end = block->source == MemorySource::kMapped
                            ? EndOfRunLocked(*block)
                            : block->allocation.begin + block->reserved_bytes;
  if (bytes <= end - Bits(address)) return Status::Ok();
  return NotAccessible(what, address, bytes, block, failure_code);
}

}  // namespace sfmla
