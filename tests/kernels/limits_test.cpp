// SPDX-License-Identifier: Apache-2.0
// The kernels' idea of the chip against the emulator's.
#include "op_kernel/arch/dav_2201/limits.h"

#include <doctest/doctest.h>

#include <cstddef>

#include "sim/chip_memory.h"

namespace sfmla::dav_2201 {
namespace {

TEST_CASE("the kernels' limits are those of the chip") {
  const sim::ChipMemory* chip = sim::FindChipMemory(2201);
  REQUIRE(chip != nullptr);
  const auto bytes = [&](sim::Space space) { return chip->bytes[static_cast<size_t>(space)]; };
  CHECK(kL1Bytes == bytes(sim::Space::kL1));
  CHECK(kL0aBytes == bytes(sim::Space::kL0A));
  CHECK(kL0bBytes == bytes(sim::Space::kL0B));
  CHECK(kL0cBytes == bytes(sim::Space::kL0C));
  // Library calls take 8 KB of UB unless the compiler is told otherwise.
  CHECK(kUbBytes + 8 * kKibibyte <= bytes(sim::Space::kUb));
}

}  // namespace
}  // namespace sfmla::dav_2201
