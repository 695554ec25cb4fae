// SPDX-License-Identifier: Apache-2.0
// The matrix registers of AMX, each up to 16 rows of 64 bytes, as far as the products use them.
// They belong to a thread. Here and in amx_products_impl.h an AMX tile is a register; elsewhere a
// tile is the keys multiplied at once.
//
// With SFMLA_AMX_IN_SOFTWARE they are memory, and what uses them can be tested without AMX: results
// are those of the "Operation" sections of Intel's instruction set reference, and what would raise
// #GP or #UD traps. Included once per instruction set, like vector.h.
#pragma once

#include <stdint.h>
#include <string.h>

#include "op_kernel/arch/cpu/tile_kernels.h"

#ifndef SFMLA_ISA_NAMESPACE
#error "define SFMLA_ISA_NAMESPACE before including this header"
#endif

namespace sfmla::SFMLA_ISA_NAMESPACE {

constexpr int kAmxTiles = 8;
constexpr int kAmxRows = 16;
constexpr int kAmxRowBytes = 64;
constexpr int kAmxColumns = 16;  // float32 numbers, or pairs of 16-bit ones, in a row

// The operand of LDTILECFG.
struct AmxShapes {
  // 0 rows: the tile is not used.
  void SetRows(int tile, int count) {
    rows[tile] = static_cast<uint8_t>(count);
    row_bytes[tile] = count > 0 ? kAmxRowBytes : 0;
  }

  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(AmxShapes) == 64);

#if defined(SFMLA_AMX_IN_SOFTWARE)
inline void TrapUnless(bool is_allowed) {
  if (!is_allowed) __builtin_trap();
}

struct AmxState {
  AmxShapes shapes;
  uint32_t tiles[kAmxTiles][kAmxRows][kAmxColumns];
};

inline AmxState& ThreadAmxState() {
  static thread_local AmxState state;
  return state;
}

inline int RowsInUse(int tile) {
  const int rows = ThreadAmxState().shapes.rows[tile];
  TrapUnless(rows > 0);
  return rows;
}

inline float DenormalAsZero(float value) {
  return __builtin_fabsf(value) < 0x1p-126f ? __builtin_copysignf(0.0f, value) : value;
}

inline float FloatOfBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// The number in the low half of `bits` as the products take it: TDPBF16PS takes denormal bfloat16
// for 0, but "TDPFP16PS: Input FP16 denormals are always handled and not treated as zero", and as
// float32, in which both go on alike, they are none.
template <ElementType kType>
inline float AmxElement(uint32_t bits) {
  if (kType == ElementType::kBfloat16) return DenormalAsZero(FloatOfBits(bits << 16));
  const uint32_t magnitude = (bits & 0x7FFFu) << 13;
  const uint32_t infinite_or_nan = (bits & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0;
  const float finite = FloatOfBits(magnitude) * 0x1p112f;
  uint32_t widened;
  memcpy(&widened, &finite, sizeof(widened));
  return FloatOfBits(widened | infinite_or_nan | (bits & 0x8000u) << 16);
}

// The elements of an AMX tile of pairs.
struct AmxElements {
  float even[kAmxRows][kAmxColumns];
  float odd[kAmxRows][kAmxColumns];
};

template <ElementType kType>
inline void ReadElements(int tile, AmxElements* elements) {
  for (int row = 0; row < RowsInUse(tile); ++row) {
    const uint32_t* pairs = ThreadAmxState().tiles[tile][row];
    for (int n = 0; n < kAmxColumns; ++n) {
      elements->even[row][n] = AmxElement<kType>(pairs[n]);
      elements->odd[row][n] = AmxElement<kType>(pairs[n] >> 16);
    }
  }
}

// sum + row x matrix. Even and odd elements have sums of their own.
inline void AddRowProducts(const AmxElements& left, int row, int pairs, const AmxElements& right,
                           uint32_t* sum) {
  float even[kAmxColumns] = {};
  float odd[kAmxColumns] = {};
  for (int k = 0; k < pairs; ++k) {
    const float left_even = left.even[row][k];
    const float left_odd = left.odd[row][k];
    for (int n = 0; n < kAmxColumns; ++n) {
      even[n] = DenormalAsZero(__builtin_fmaf(left_even, right.even[k][n], even[n]));
      odd[n] = DenormalAsZero(__builtin_fmaf(left_odd, right.odd[k][n], odd[n]));
    }
  }
  float total[kAmxColumns];
  memcpy(total, sum, sizeof(total));
  for (int n = 0; n < kAmxColumns; ++n) {
    total[n] = DenormalAsZero(DenormalAsZero(total[n]) + DenormalAsZero(even[n] + odd[n]));
  }
  memcpy(sum, total, sizeof(total));
}
#endif

// Also makes all tiles zero. What the tiles hold slows down context switches until they are
// released.
inline void ConfigureAmx(const AmxShapes& shapes) {
#if defined(SFMLA_AMX_IN_SOFTWARE)
  TrapUnless(shapes.palette == 1 && shapes.start_row == 0);
  for (int tile = 0; tile < kAmxTiles; ++tile) {
    TrapUnless(shapes.rows[tile] <= kAmxRows && shapes.row_bytes[tile] <= kAmxRowBytes);
  }
  ThreadAmxState() = {shapes, {}};
#else
  // Not the intrinsics: in GCC's, a tile must be a literal, and loads do not count as reading
  // memory.
  asm volatile("ldtilecfg %0" : : "m"(shapes));
#endif
}

inline void ReleaseAmx() {
#if defined(SFMLA_AMX_IN_SOFTWARE)
  ThreadAmxState() = {};
#else
  asm volatile("tilerelease");
#endif
}

template <int kTile>
inline void ZeroAmxTile() {
#if defined(SFMLA_AMX_IN_SOFTWARE)
  RowsInUse(kTile);
  memset(ThreadAmxState().tiles[kTile], 0, sizeof(ThreadAmxState().tiles[kTile]));
#else
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
#endif
}

// Rows lie `stride` bytes apart.
template <int kTile>
inline void LoadAmxTile(const void* from, int64_t stride) {
#if defined(SFMLA_AMX_IN_SOFTWARE)
  ZeroAmxTile<kTile>();
  for (int row = 0; row < RowsInUse(kTile); ++row) {
    memcpy(ThreadAmxState().tiles[kTile][row], static_cast<const char*>(from) + row * stride,
           kAmxRowBytes);
  }
#else
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
#endif
}

template <int kTile>
inline void StoreAmxTile(void* to, int64_t stride) {
#if defined(SFMLA_AMX_IN_SOFTWARE)
  for (int row = 0; row < RowsInUse(kTile); ++row) {
    memcpy(static_cast<char*>(to) + row * stride, ThreadAmxState().tiles[kTile][row], kAmxRowBytes);
  }
#else
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
#endif
}

// sum[m][n] += sum over pairs k of left[m][k] . right[k][n], in float32.
template <ElementType kType, int kSum, int kLeft, int kRight>
inline void AddAmxProducts() {
  static_assert(kSum != kLeft && kSum != kRight && kLeft != kRight);
#if defined(SFMLA_AMX_IN_SOFTWARE)
  AmxState& state = ThreadAmxState();
  TrapUnless(RowsInUse(kSum) == RowsInUse(kLeft));
  TrapUnless(RowsInUse(kRight) * 4 == state.shapes.row_bytes[kLeft]);
  AmxElements left, right;
  ReadElements<kType>(kLeft, &left);
  ReadElements<kType>(kRight, &right);
  for (int row = 0; row < RowsInUse(kSum); ++row) {
    AddRowProducts(left, row, RowsInUse(kRight), right, state.tiles[kSum][row]);
  }
#else
  if constexpr (kType == ElementType::kBfloat16) {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  } else {
    asm volatile("tdpfp16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  }
#endif
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
