// SPDX-License-Identifier: Apache-2.0
#include "sim/access_log.h"

#include <algorithm>
#include <bit>
#include <span>

namespace sfmla::sim {

namespace {

bool IsOrdered(const Record& record, const Accessor& accessor) {
  if (record.component == accessor.component &&
      (accessor.ordered_in_pipe || record.time == accessor.time)) {
    return true;
  }
  return accessor.known->At(record.component) >= record.time;
}

// Puts `added` into a slot whose record it makes redundant, or over the oldest.
void Insert(std::span<Record> slots, const Record& added, const Accessor& accessor) {
  for (Record& slot : slots) {
    const bool covered = (slot.mask & ~added.mask) == 0 && slot.atomic == added.atomic &&
                         slot.rewrite == added.rewrite && IsOrdered(slot, accessor);
    if (slot.mask == 0 || covered) {
      slot = added;
      return;
    }
  }
  std::move(slots.begin() + 1, slots.end(), slots.begin());
  slots.back() = added;
}

std::optional<Conflict> FindReadConflict(const Cell& cell, uint32_t mask,
                                         const Accessor& accessor) {
  for (const Record& read : cell.reads) {
    if ((read.mask & mask) == 0 || IsOrdered(read, accessor)) continue;
    return Conflict{read, false, 0, read.mask & mask};
  }
  return std::nullopt;
}

// Conflicts with readers come first: where a buffer is refilled too early they say why.
std::optional<Conflict> FindConflict(const Cell& cell, uint32_t mask, const Access& access,
                                     const Accessor& accessor) {
  if (access.writes() && !accessor.rewrite) {
    if (auto conflict = FindReadConflict(cell, mask, accessor)) return conflict;
  }
  for (const Record& write : cell.writes) {
    if ((write.mask & mask) == 0 || IsOrdered(write, accessor)) continue;
    if (access.kind == Access::Kind::kAtomicAdd && write.atomic) continue;
    if (write.rewrite && (accessor.rewrite || !access.writes())) continue;
    return Conflict{write, true, 0, write.mask & mask};
  }
  return std::nullopt;
}

void Note(Cell& cell, uint32_t mask, const Access& access, const Accessor& accessor) {
  const Record record{accessor.time,
                      mask,
                      accessor.site,
                      accessor.component,
                      access.kind == Access::Kind::kAtomicAdd,
                      accessor.rewrite};
  if (!access.writes()) {
    Insert(cell.reads, record, accessor);
    return;
  }
  // No conflict, so the write is behind these reads: what it orders, it orders for them.
  if (!record.atomic && !record.rewrite) {
    for (Record& read : cell.reads) {
      if ((read.mask & ~mask) == 0) read.mask = 0;
    }
  }
  Insert(cell.writes, record, accessor);
}

}  // namespace

AccessLog AccessLog::OnChip(uint64_t bytes) {
  AccessLog log;
  log.cells_.resize((bytes + kCellBytes - 1) / kCellBytes);
  return log;
}

AccessLog AccessLog::Gm() {
  AccessLog log;
  log.grows_ = true;
  return log;
}

Cell& AccessLog::At(uint64_t index) {
  if (!grows_) return cells_[index];
  const uint64_t page = index / kPageCells;
  if (page != last_index_) {
    std::unique_ptr<Page>& found = pages_[page];
    if (!found) found = std::make_unique<Page>();
    last_index_ = page;
    last_page_ = found.get();
  }
  return (*last_page_)[index % kPageCells];
}

std::optional<Conflict> AccessLog::AddRun(uint64_t begin, uint64_t bytes, const Access& access,
                                          const Accessor& accessor) {
  const uint64_t end = begin + bytes;
  while (begin < end) {
    const uint64_t first = begin % kCellBytes;
    const uint64_t length = std::min(kCellBytes - first, end - begin);
    const auto mask = static_cast<uint32_t>(((uint64_t{1} << length) - 1) << first);
    Cell& cell = At(begin / kCellBytes);
    if (std::optional<Conflict> conflict = FindConflict(cell, mask, access, accessor)) {
      const auto shared = static_cast<uint32_t>(conflict->bytes);
      conflict->begin = begin - first + static_cast<uint64_t>(std::countr_zero(shared));
      conflict->bytes =
          static_cast<uint64_t>(32 - std::countl_zero(shared) - std::countr_zero(shared));
      return conflict;
    }
    Note(cell, mask, access, accessor);
    begin += length;
  }
  return std::nullopt;
}

std::optional<Conflict> AccessLog::Add(const Access& access, const Accessor& accessor) {
  std::optional<Conflict> conflict;
  VisitRuns(access, [&](uint64_t begin, uint64_t bytes) {
    conflict = AddRun(begin, bytes, access, accessor);
    return !conflict;
  });
  return conflict;
}

}  // namespace sfmla::sim
