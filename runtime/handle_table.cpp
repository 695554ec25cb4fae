// SPDX-License-Identifier: Apache-2.0
#include "runtime/handle_table.h"

#include "base/format.h"

namespace sfmla {
namespace {

static_assert(sizeof(void*) == 8, "handles are 64 bits wide");

// Bits 63..56: kind; 55..52: marker; 51..24: generation; 23..0: slot. The kind byte is neither all
// zeros nor all ones, which makes the value no address on x86-64; the marker does the same where
// the top byte of an address is ignored (AArch64).
constexpr int kKindShift = 56;
constexpr int kMarkerShift = 52;
constexpr int kGenerationShift = 24;
constexpr uint64_t kKindBase = 0x40;
constexpr uint64_t kMarker = 0xA;

constexpr const char* kKindNames[] = {"tensor",     "scalar",          "int array",   "float array",
                                      "bool array", "tensor list",     "scalar list", "op executor",
                                      "context",    "stream",          "event",       "graph",
                                      "task group", "physical memory", "data buffer"};
constexpr uint64_t kNumKinds = std::size(kKindNames);

uint64_t Bits(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

uint64_t Prefix(HandleKind kind) {
  return (kKindBase + static_cast<uint64_t>(kind)) << (kKindShift - kMarkerShift) | kMarker;
}

const char* KindName(HandleKind kind) { return kKindNames[static_cast<size_t>(kind) - 1]; }

const char* Article(HandleKind kind) {
  const char first = *KindName(kind);
  return first == 'e' || first == 'i' || first == 'o' ? "an " : "a ";
}

// Of a handle of the right kind that is not alive.
const char* EndOf(HandleKind kind) {
  if (kind == HandleKind::kTensor || kind == HandleKind::kScalar) {
    return "destroyed, on its own or with its list";
  }
  if (IsForkedChild() && EndsAtFork(kind)) return "destroyed, or made before the process forked";
  return "destroyed";
}

}  // namespace

bool EndsAtFork(HandleKind kind) {
  return kind == HandleKind::kExecutor || kind == HandleKind::kStream ||
         kind == HandleKind::kEvent || kind == HandleKind::kGraph || kind == HandleKind::kTaskGroup;
}

void* PackHandle(HandleKind kind, uint32_t generation, uint32_t slot) {
  const uint64_t bits =
      Prefix(kind) << kMarkerShift | uint64_t{generation} << kGenerationShift | slot;
  return reinterpret_cast<void*>(bits);
}

bool UnpackHandle(HandleKind kind, const void* handle, uint32_t* generation, uint32_t* slot) {
  const uint64_t bits = Bits(handle);
  if (bits >> kMarkerShift != Prefix(kind)) return false;
  *generation = static_cast<uint32_t>(bits >> kGenerationShift) & kMaxHandleGeneration;
  *slot = static_cast<uint32_t>(bits) & (kMaxHandleSlots - 1);
  return true;
}

std::string DescribeMiss(HandleKind expected, const void* handle) {
  uint32_t generation = 0;
  uint32_t slot = 0;
  if (UnpackHandle(expected, handle, &generation, &slot)) return EndOf(expected);
  for (uint64_t number = 1; number <= kNumKinds; ++number) {
    const auto kind = static_cast<HandleKind>(number);
    if (UnpackHandle(kind, handle, &generation, &slot)) {
      return Str(Article(kind), KindName(kind), ", not ", Article(expected), KindName(expected));
    }
  }
  return Str("not ", Article(expected), KindName(expected));
}

}  // namespace sfmla
