// SPDX-License-Identifier: Apache-2.0
// Enumerations of the kernel language, with the values its documentation gives.
#pragma once

#include <cstdint>

#include "sim/ascendc/half.h"
#include "sim/pipe.h"
#include "sim/space.h"

// These are global in CANN too: its compiler defines them.
enum pipe_t : uint8_t {
  PIPE_S = 0,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_FIX = 10,
};

enum event_t : uint8_t {
  EVENT_ID0 = 0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

enum QuantMode_t : uint8_t {
  NoQuant = 0,
  F322F16 = 1,
  VQF322HF_PRE,
  QF322HF_PRE,
  VQF322B8_PRE,
  QF322B8_PRE,
  F322BF16 = 16,
};

namespace AscendC {

using ::bfloat16_t;
using ::half;

inline constexpr int32_t AIC = 1;
inline constexpr int32_t AIV = 2;

enum KernelMetaType : uint8_t {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_MIX_AIC_1_0,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIC_1_2,
};

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};
using QuePosition = TPosition;

enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX,
};

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint64_t { ALL = 0, DDR, UB, SEQ };

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t {
  VSEL_CMPMASK_SPR = 0,
  VSEL_TENSOR_SCALAR_MODE,
  VSEL_TENSOR_TENSOR_MODE,
};
enum class RoundMode : uint8_t {
  CAST_NONE = 0,
  CAST_RINT,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,
  CAST_TRUNC,
  CAST_ODD,
};
enum class ReduceOrder : uint8_t {
  ORDER_VALUE_INDEX = 0,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX,
};

}  // namespace AscendC

namespace sfmla::sim {

// Where a position lies. CO2 and the other positions without a memory of their own here are GM.
constexpr Space SpaceOf(AscendC::TPosition position) {
  using AscendC::TPosition;
  switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::SPM:
    case TPosition::TSCM:
      return Space::kL1;
    case TPosition::A2:
      return Space::kL0A;
    case TPosition::B2:
      return Space::kL0B;
    case TPosition::C2:
      return Space::kBias;
    case TPosition::CO1:
      return Space::kL0C;
    case TPosition::VECIN:
    case TPosition::VECOUT:
    case TPosition::VECCALC:
      return Space::kUb;
    case TPosition::C2PIPE2GM:
      return Space::kFixpipe;
    default:
      return Space::kGm;
  }
}

// The pipe behind a pipe_t other than PIPE_ALL.
constexpr Pipe PipeOf(pipe_t pipe) {
  switch (pipe) {
    case PIPE_V:
      return Pipe::kV;
    case PIPE_M:
      return Pipe::kM;
    case PIPE_MTE1:
      return Pipe::kMte1;
    case PIPE_MTE2:
      return Pipe::kMte2;
    case PIPE_MTE3:
      return Pipe::kMte3;
    case PIPE_FIX:
      return Pipe::kFix;
    default:
      return Pipe::kS;
  }
}

}  // namespace sfmla::sim
