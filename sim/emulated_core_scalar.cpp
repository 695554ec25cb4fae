// SPDX-License-Identifier: Apache-2.0
// The scalar unit's own accesses: on-chip memory directly, global memory through its cache.
#include <cstring>

#include "base/format.h"
#include "sim/bit_range.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"
#include "sim/report.h"

namespace sfmla::sim {

namespace {

Instruction ScalarInstruction(const char* name, const SourceLocation& where, const Access& access,
                              std::function<void()> execute) {
  Instruction instruction;
  instruction.name = name;
  instruction.pipe = Pipe::kS;
  instruction.where = where;
  instruction.accesses = {access};
  instruction.execute = std::move(execute);
  return instruction;
}

Access ScalarAccess(Space space, Access::Kind kind, uint64_t begin, uint64_t bytes) {
  return {.space = space, .kind = kind, .operand = "tensor", .begin = begin, .run_bytes = bytes};
}

// Without one the access is out of bounds, which Issue refuses.
std::byte* AddressOf(const Operand& tensor, uint64_t offset) {
  return tensor.host == nullptr ? nullptr : tensor.host + offset;
}

// The chip loads and stores scalars at multiples of their size, so they never cross a line.
void CheckAlignment(const char* name, const SourceLocation& where, uint64_t address,
                    uint64_t bytes) {
  if (address % bytes == 0) return;
  Fault(Pipe::kS, name, where,
        Str("tensor: address ends in ", address % kLineBytes, ", must be a multiple of ", bytes));
}

std::string ExtentText(uint64_t offset, const Operand& tensor) {
  return Str("tensor: element at byte ", offset, " of ", tensor.bytes);
}

}  // namespace

void EmulatedCore::ScalarReadLocal(const SourceLocation& where, const Operand& tensor,
                                   uint64_t offset, void* value, uint64_t bytes) {
  if (Unwinding()) return;
  if (offset + bytes > tensor.bytes) Fault(Pipe::kS, "GetValue", where, ExtentText(offset, tensor));
  const std::byte* from = AddressOf(tensor, offset);
  Issue(ScalarInstruction(
      "GetValue", where,
      ScalarAccess(tensor.space, Access::Kind::kRead, tensor.begin + offset, bytes),
      [=] { std::memcpy(value, from, bytes); }));
}

void EmulatedCore::ScalarWriteLocal(const SourceLocation& where, const Operand& tensor,
                                    uint64_t offset, const void* value, uint64_t bytes) {
  if (Unwinding()) return;
  if (offset + bytes > tensor.bytes) Fault(Pipe::kS, "SetValue", where, ExtentText(offset, tensor));
  std::byte* to = AddressOf(tensor, offset);
  Issue(ScalarInstruction(
      "SetValue", where,
      ScalarAccess(tensor.space, Access::Kind::kWrite, tensor.begin + offset, bytes),
      [=] { std::memcpy(to, value, bytes); }));
}

// An access to GM by the scalar unit or, as its own component, by the cache.
void EmulatedCore::RecordScalar(const char* name, const SourceLocation& where, const Access& access,
                                Pipe component, bool rewrite) {
  PipeState& state = At(component);
  const Accessor accessor{.component = Component(info_.index, component),
                          .time = ++state.now,
                          .site = state_.sites.Intern(name, where),
                          .known = &scalar().known,
                          .ordered_in_pipe = true,
                          .rewrite = rewrite};
  if (const std::optional<Conflict> conflict = state_.gm_log.Add(access, accessor)) {
    throw SimFault(RaceText(state_, access, accessor, *conflict));
  }
}

void EmulatedCore::CheckNotStale(const SourceLocation& where, const CacheLine& line,
                                 uint64_t mask) const {
  const std::optional<uint64_t> stale = DataCache::Difference(line, mask & ~line.dirty);
  if (!stale) return;
  Fault(Pipe::kS, "GetValue", where,
        Str("tensor: reads ", state_.gm.Describe(*stale),
            " from a data cache line older than memory, DataCacheCleanAndInvalid must drop it"));
}

void EmulatedCore::ScalarReadGm(const SourceLocation& where, uint64_t address, void* value,
                                uint64_t bytes) {
  if (Unwinding()) return;
  CheckAlignment("GetValue", where, address, bytes);
  const Access access = ScalarAccess(Space::kGm, Access::Kind::kRead, address, bytes);
  const Instruction instruction = ScalarInstruction("GetValue", where, access, [] {});
  CheckBounds(instruction);
  const GmRange& range = *state_.gm.Find(address, bytes);
  ++scalar().ticks;
  if (!checks() || range.kind == GmRange::Kind::kInput) {
    std::memcpy(value, reinterpret_cast<const void*>(address), bytes);
    return;
  }
  // Only what was not written here is read from memory.
  const uint64_t mask = DataCache::MaskOf(address, bytes);
  const CacheLine* cached = cache_.Find(address);
  if (cached == nullptr || (cached->dirty & mask) != mask) {
    RecordScalar("GetValue", where, access, Pipe::kS, false);
    CheckWritten(instruction, access);
  }
  const bool clean = cached != nullptr && cached->dirty == 0;
  if (clean && !state_.program_order() && state_.random.OneIn(4)) cache_.Drop(address);
  CacheLine& line = cache_.Fetch(address, state_.gm);
  CheckNotStale(where, line, mask);
  std::memcpy(value, line.data.data() + address % kLineBytes, bytes);
}

void EmulatedCore::ScalarWriteGm(const SourceLocation& where, uint64_t address, const void* value,
                                 uint64_t bytes) {
  if (Unwinding()) return;
  CheckAlignment("SetValue", where, address, bytes);
  const Access access = ScalarAccess(Space::kGm, Access::Kind::kWrite, address, bytes);
  CheckBounds(ScalarInstruction("SetValue", where, access, [] {}));
  ++scalar().ticks;
  if (!checks()) {
    std::memcpy(reinterpret_cast<void*>(address), value, bytes);
    return;
  }
  CacheLine& line = cache_.Fetch(address, state_.gm);
  std::memcpy(line.data.data() + address % kLineBytes, value, bytes);
  line.dirty |= DataCache::MaskOf(address, bytes);
  // The chip may evict any line at any time.
  if (!state_.program_order() && state_.random.OneIn(8)) CleanLine(where, address);
}

// Memory gets the whole line: bytes that were not written here get back what was read, whatever
// others have written since.
void EmulatedCore::WriteBack(const SourceLocation& where, CacheLine& line) {
  const char* name = "write-back";
  if (const auto lost = DataCache::Difference(line, line.valid & ~line.dirty)) {
    Fault(Pipe::kCache, name, where,
          Str("undoes a write to ", state_.gm.Describe(*lost), ", which shares a ", kLineBytes,
              "-byte line with scalar writes"));
  }
  // The written bytes last: of too many records of a cell the last stay.
  for (const bool dirty : {false, true}) {
    VisitOnes(dirty ? line.dirty : line.valid & ~line.dirty, [&](uint64_t first, uint64_t bytes) {
      const Access run =
          ScalarAccess(Space::kGm, Access::Kind::kWrite, line.address + first, bytes);
      RecordScalar(name, where, run, Pipe::kCache, !dirty);
      if (!dirty) return;
      MarkWritten(run);
      std::memcpy(reinterpret_cast<void*>(run.begin), line.data.data() + first, bytes);
    });
  }
  line.dirty = 0;
}

void EmulatedCore::CleanLine(const SourceLocation& where, uint64_t address) {
  if (Unwinding() || !checks()) return;
  CacheLine* line = cache_.Find(address);
  if (line == nullptr) return;
  if (line->dirty != 0) WriteBack(where, *line);
  cache_.Drop(address);
}

void EmulatedCore::CleanCache(const SourceLocation& where) {
  if (Unwinding()) return;
  while (const CacheLine* line = cache_.Any()) CleanLine(where, line->address);
}

void EmulatedCore::DataSyncBarrier(const SourceLocation&) {
  if (Unwinding()) return;
  scalar().known.Set(Component(info_.index, Pipe::kCache), At(Pipe::kCache).now);
  snapshot_.reset();
}

}  // namespace sfmla::sim
