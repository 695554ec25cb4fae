// SPDX-License-Identifier: Apache-2.0
// State of a core's program that later instructions depend on, captured when they are issued.
#pragma once

#include <cstdint>

namespace AscendC {
class TPipe;
}

namespace sfmla::sim {

struct ScalarState {
  // Vector mask: bit i of mask[0] is element i, mask[1] holds elements 64..127 of 16-bit types. In
  // counter mode mask[0] is a number of elements.
  uint64_t mask[2] = {~uint64_t{0}, ~uint64_t{0}};
  bool counter_mode = false;
  // 64 elements; where a Compare without destination leaves its result for Select.
  uint64_t compare_mask[2] = {0, 0};

  enum class Atomic : uint8_t { kNone, kAdd };
  Atomic atomic = Atomic::kNone;
  enum class AtomicType : uint8_t { kFloat, kHalf, kBfloat16, kInt32, kInt16, kInt8 };
  AtomicType atomic_type = AtomicType::kFloat;

  // FMATRIX and padding registers of LoadData 3D. `fmatrix_set` is false until the first call that
  // writes them.
  struct Load3d {
    bool fmatrix_set = false;
    uint16_t l1_height = 0;
    uint16_t l1_width = 0;
    uint8_t pad[4] = {0, 0, 0, 0};
    bool padding_set = false;
    uint32_t padding_bits = 0;
  };
  Load3d load3d;

  // SetFixpipeNz2ndFlag.
  uint16_t nd_count = 1;
  uint16_t nd_source_stride = 0;
  uint32_t nd_destination_stride = 0;

  AscendC::TPipe* tpipe = nullptr;  // the living one
};

}  // namespace sfmla::sim
