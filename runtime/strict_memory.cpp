// SPDX-License-Identifier: Apache-2.0
#include "runtime/strict_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "acl/acl_base.h"
#include "base/fork.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/fork_order.h"
#include "runtime/memory_registry.h"

namespace sfmla {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating type, -1 in every integer type
constexpr unsigned char kRedZone = 0xA5;
constexpr size_t kMinRedZoneBytes = 256;  // behind a block; before it lies a whole page

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Bytes of the pages from the block's first byte on.
size_t FencedBytes(size_t block_bytes) {
  const size_t page = PageBytes();
  return (block_bytes + kMinRedZoneBytes + page - 1) / page * page;
}

void ProtectAll(int protection) {
  std::shared_lock lock(Memory().mutex);
  for (const auto& [begin, block] : Memory().blocks) {
    if (block.source == MemorySource::kFenced) {
      mprotect(reinterpret_cast<void*>(begin - PageBytes()),
               PageBytes() + FencedBytes(block.reserved_bytes), protection);
    } else if (block.source == MemorySource::kMapped) {
      mprotect(reinterpret_cast<void*>(begin), block.allocation.bytes, protection);
    }
  }
}

struct Access {
  ForkMutex mutex{fork_order::kDeviceAccess, [this] { EndAtFork(); }};  // while protection changes
  int users = 0;

  // The threads of the users are not in the child.
  void EndAtFork() {
    if (std::exchange(users, 0) > 0) ProtectAll(PROT_NONE);
  }
};

auto& g_access = *new Access;

bool WasWritten(const unsigned char* zone, size_t bytes) {
  return std::any_of(zone, zone + bytes, [](unsigned char byte) { return byte != kRedZone; });
}

void Warn(const std::string& text) { std::fputs(Str("sfmla: ", text, "\n").c_str(), stderr); }

struct sigaction g_previous_action;

// A fault ends the process anyway; the line says what it may mean. Only calls that are safe here.
void ExplainFault(int, siginfo_t*, void*) {
  constexpr std::string_view kText =
      "sfmla: memory fault: under SFMLA_CHECK=strict the host must not touch device memory, but "
      "use "
      "aclrtMemcpy, and must not free it before the work that uses it has run\n";
  const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  (void)written;
  sigaction(SIGSEGV, &g_previous_action, nullptr);  // the access is made again, and ends there
}

void ExplainFaultsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = &ExplainFault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &g_previous_action);
  });
}

// The work that may write to the range and is not done, as "name on stream id"; "": none.
std::string PendingWriter(uintptr_t begin, size_t bytes) {
  for (const auto& stream : Streams().Select([](const Stream&) { return true; })) {
    const std::string name = stream->PendingWriter({begin, bytes});
    if (!name.empty()) return Str(name, " queued on stream ", stream->id());
  }
  return "";
}

}  // namespace

bool IsStrict() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() && settings->check == CheckLevel::kStrict;
}

DeviceAccess::DeviceAccess() {
  if (!IsStrict()) return;
  std::lock_guard lock(g_access.mutex);
  if (g_access.users++ == 0) ProtectAll(PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  if (!IsStrict()) return;
  std::lock_guard lock(g_access.mutex);
  if (--g_access.users == 0) ProtectAll(PROT_NONE);
}

void* ReserveFenced(size_t bytes) {
  ExplainFaultsOnce();
  const size_t page = PageBytes();
  const size_t fenced = FencedBytes(bytes);
  void* pages = mmap(nullptr, page + fenced, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  auto* block = static_cast<unsigned char*>(pages) + page;
  std::memset(pages, kRedZone, page);
  std::memset(block, kPoison, bytes);
  std::memset(block + bytes, kRedZone, fenced - bytes);
  return block;
}

void ReleaseFenced(void* pointer, size_t bytes) {
  munmap(static_cast<unsigned char*>(pointer) - PageBytes(), PageBytes() + FencedBytes(bytes));
}

Status CheckRedZones(const char* what, const void* address) {
  if (!IsStrict()) return Status::Ok();
  std::shared_lock lock(Memory().mutex);
  const Block* block = FindBlockLocked(Bits(address));
  if (block == nullptr || block->source != MemorySource::kFenced) return Status::Ok();
  auto* begin = reinterpret_cast<unsigned char*>(block->allocation.begin);
  unsigned char* before = begin - PageBytes();
  unsigned char* behind = begin + block->reserved_bytes;
  const size_t behind_bytes = FencedBytes(block->reserved_bytes) - block->reserved_bytes;
  const bool before_written = WasWritten(before, PageBytes());
  if (!before_written && !WasWritten(behind, behind_bytes)) return Status::Ok();
  std::memset(before, kRedZone, PageBytes());
  std::memset(behind, kRedZone, behind_bytes);
  return Status(
      ACL_ERROR_RT_AICORE_EXCEPTION,
      Str(what, ": memory ", before_written ? "before" : "behind", " the allocation of ",
          block->allocation.bytes, " bytes at ", static_cast<const void*>(begin), " was written"));
}

void WarnBeforeFree(const void* pointer) {
  if (!IsStrict()) return;
  const std::optional<Allocation> found = FindAllocation(pointer);
  if (!found || found->begin != Bits(pointer)) return;
  const DeviceAccess access;
  const Status zones = CheckRedZones("aclrtFree: devPtr", pointer);
  if (!zones.ok()) Warn(zones.text());
  const std::string writer = PendingWriter(found->begin, found->bytes);
  if (writer.empty()) return;
  Warn(Str("aclrtFree: devPtr: ", found->bytes, " bytes at ", pointer, " are freed while ", writer,
           " may write them, synchronise first"));
}

void WarnBeforeRead(const void* address, size_t bytes) {
  if (!IsStrict()) return;
  const std::string writer = PendingWriter(Bits(address), bytes);
  if (writer.empty()) return;
  Warn(Str("aclrtMemcpy: src: ", bytes, " bytes at ", address, " are read while ", writer,
           " may write them, synchronise first"));
}

}  // namespace sfmla
