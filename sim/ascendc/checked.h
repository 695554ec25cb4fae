// SPDX-License-Identifier: Apache-2.0
// Integers that refuse values they cannot hold, where the chip would silently take some of the
// bits.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/format.h"
#include "sim/fault.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// Takes the place of uint8_t, uint16_t or uint32_t in parameter structs and argument lists. A value
// outside of T's range is a fault at the line that passes or assigns it.
template <typename T>
class Checked {
 public:
  constexpr Checked() = default;
  template <typename U>
    requires(std::is_integral_v<U> || std::is_enum_v<U>)
  constexpr Checked(U value,  // NOLINT(runtime/explicit)
                    const SourceLocation& where = SourceLocation::current())
      : value_(static_cast<T>(value)) {
    if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool>) {
      if (!std::in_range<T>(value)) Refuse(Str(value), where);
    }
  }
  constexpr operator T() const { return value_; }  // NOLINT(runtime/explicit)

 private:
  [[noreturn]] static void Refuse(const std::string& found, const SourceLocation& where) {
    Fault(Pipe::kS, "parameter", where,
          Str("value ", found, " does not fit the ", 8 * sizeof(T), "-bit field"));
  }

  T value_ = 0;
};

using U8 = Checked<uint8_t>;
using U16 = Checked<uint16_t>;
using U32 = Checked<uint32_t>;

}  // namespace sfmla::sim
