// SPDX-License-Identifier: Apache-2.0
// std::source_location in small: clang has that only from version 16 on.
#pragma once

#include <cstdint>

namespace sfmla::sim {

// As a default argument, `where = SourceLocation::current()` is the line of the call.
class SourceLocation {
 public:
  constexpr SourceLocation() = default;
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          uint32_t line = __builtin_LINE()) {
    SourceLocation location;
    location.file_ = file;
    location.line_ = line;
    return location;
  }

  constexpr const char* file_name() const { return file_; }
  constexpr uint32_t line() const { return line_; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0;
};

}  // namespace sfmla::sim

namespace AscendC {
using sfmla::sim::SourceLocation;
}
