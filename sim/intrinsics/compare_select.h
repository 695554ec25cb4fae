// SPDX-License-Identifier: Apache-2.0
// Compare, Compares, CompareScalar and Select on PIPE_V. A comparison gives one bit per element,
// element i in bit i % 8 of byte i / 8; a selection takes bits of that form.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/ascendc/parameters.h"
#include "sim/contracts/compare_select.h"
#include "sim/intrinsics/vector_call.h"
#include "sim/source_location.h"

namespace sfmla::sim {

template <typename W>
bool Holds(W a, W b, AscendC::CMPMODE mode) {
  switch (mode) {
    case AscendC::CMPMODE::LT:
      return a < b;
    case AscendC::CMPMODE::GT:
      return a > b;
    case AscendC::CMPMODE::EQ:
      return a == b;
    case AscendC::CMPMODE::LE:
      return a <= b;
    case AscendC::CMPMODE::GE:
      return a >= b;
    case AscendC::CMPMODE::NE:
      return a != b;
  }
  return false;
}

inline void SetBit(std::byte* bits, int64_t index, bool value) {
  const auto mask = std::byte{static_cast<uint8_t>(1u << index % 8)};
  bits[index / 8] = value ? bits[index / 8] | mask : bits[index / 8] & ~mask;
}
inline bool GetBit(const std::byte* bits, int64_t index) {
  return (std::to_integer<unsigned>(bits[index / 8]) >> index % 8 & 1) != 0;
}

// Bits of all lanes, in order and without gaps.
Access BitAccess(const char* name, Access::Kind kind, const Operand& operand, int64_t elements);

// Queues a comparison or selection: `vectors` are its element operands, `bits` its bit operand.
void IssueWithBits(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& vectors,
                   const Argument& bits_argument, const Access& bits,
                   std::function<void()> execute);

// The whole rounds of a comparison, which the mask does not narrow on dav-2201.
template <typename T>
Lanes CompareLanes(int64_t repeats) {
  constexpr int64_t kPerRepeat = kRepeatBytes / int64_t{sizeof(T)};
  return Lanes::Repeated(repeats, kPerRepeat, LaneMask::Leading(kPerRepeat));
}

// second(repeat, lane) is the right side of the comparison.
template <typename T, typename U, typename Second>
void IssueCompare(const Call& call, const Lanes& lanes, const AscendC::LocalTensor<U>& dst,
                  const std::vector<VectorArgument>& sources, AscendC::CMPMODE mode,
                  Second second) {
  RequireType<U, uint8_t, int8_t>(call, "dst");
  RequireType<T, half, float, int32_t>(call, "src0");
  CheckCompareMode(call, std::is_same_v<T, int32_t>, mode);
  const Operand bits = OperandOf(dst);
  const auto first = ElementsOf<T>(sources[0]);
  IssueWithBits(
      call, lanes, sources, {"dst", bits},
      BitAccess("dst", Access::Kind::kWrite, bits, lanes.repeats * lanes.per_repeat), [=] {
        for (int64_t r = 0; r < lanes.repeats; ++r) {
          for (int64_t lane = 0; lane < lanes.per_repeat; ++lane) {
            const auto a = static_cast<Wide<T>>(*first.At(r, lane));
            SetBit(bits.host, r * lanes.per_repeat + lane, Holds(a, second(r, lane), mode));
          }
        }
      });
}

template <typename T, typename U>
void CompareTensors(const SourceLocation& where, const AscendC::LocalTensor<U>& dst,
                    const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                    AscendC::CMPMODE mode, int64_t repeats,
                    const AscendC::BinaryRepeatParams& params) {
  const VectorArgument left = Reads("src0", src0, {params.src0BlkStride, params.src0RepStride});
  const VectorArgument right = Reads("src1", src1, {params.src1BlkStride, params.src1RepStride});
  const auto second = ElementsOf<T>(right);
  IssueCompare<T>(
      {"Compare", Pipe::kV, where}, CompareLanes<T>(repeats), dst, {left, right}, mode,
      [second](int64_t r, int64_t lane) { return static_cast<Wide<T>>(*second.At(r, lane)); });
}

template <typename T, typename U>
void CompareWithScalar(const char* name, const SourceLocation& where,
                       const AscendC::LocalTensor<U>& dst, const AscendC::LocalTensor<T>& src0,
                       T src1, AscendC::CMPMODE mode, int64_t repeats,
                       const AscendC::UnaryRepeatParams& params) {
  const VectorArgument left = Reads("src0", src0, {params.srcBlkStride, params.srcRepStride});
  const auto value = static_cast<Wide<T>>(src1);
  IssueCompare<T>({name, Pipe::kV, where}, CompareLanes<T>(repeats), dst, {left}, mode,
                  [value](int64_t, int64_t) { return value; });
}

// dst = bit ? src0 : second(repeat, lane). Bits go on from round to round, or start again with each
// in mode VSEL_CMPMASK_SPR.
template <typename T, typename U, typename Second>
void IssueSelect(const Call& call, const LaneChoice& choice, const AscendC::LocalTensor<U>& mask,
                 const std::vector<VectorArgument>& vectors, AscendC::SELMODE mode, Second second) {
  RequireType<T, half, float>(call, "dst");
  RequireType<U, uint8_t, uint16_t, uint32_t, uint64_t>(call, "selMask");
  const Lanes lanes = ResolveLanes(call, choice, sizeof(T));
  const bool restarts = mode == AscendC::SELMODE::VSEL_CMPMASK_SPR;
  const Operand bits = OperandOf(mask);
  const auto dst = ElementsOf<T>(vectors[0]);
  const auto first = ElementsOf<T>(vectors[1]);
  const int64_t elements = SelectedBits(lanes, restarts);
  IssueWithBits(call, lanes, vectors, {"selMask", bits},
                BitAccess("selMask", Access::Kind::kRead, bits, elements), [=] {
                  ForEachRun(lanes, 1, [&](int64_t r, int64_t lane, int64_t) {
                    const int64_t bit = (restarts ? 0 : r * lanes.per_repeat) + lane;
                    *dst.At(r, lane) =
                        GetBit(bits.host, bit) ? *first.At(r, lane) : second(r, lane);
                  });
                });
}

template <typename T, typename U>
void SelectTensors(const SourceLocation& where, const LaneChoice& choice,
                   const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& mask,
                   const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                   AscendC::SELMODE mode, const AscendC::BinaryRepeatParams& params) {
  const Call call{"Select", Pipe::kV, where};
  CheckSelectMode(call, mode, false);
  const VectorArgument right = Reads("src1", src1, {params.src1BlkStride, params.src1RepStride});
  const auto second = ElementsOf<T>(right);
  IssueSelect<T>(call, choice, mask,
                 {Writes("dst", dst, {params.dstBlkStride, params.dstRepStride}),
                  Reads("src0", src0, {params.src0BlkStride, params.src0RepStride}), right},
                 mode, [second](int64_t r, int64_t lane) { return *second.At(r, lane); });
}

template <typename T, typename U>
void SelectOrScalar(const SourceLocation& where, const LaneChoice& choice,
                    const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& mask,
                    const AscendC::LocalTensor<T>& src0, T src1, AscendC::SELMODE mode,
                    const AscendC::BinaryRepeatParams& params) {
  const Call call{"Select", Pipe::kV, where};
  CheckSelectMode(call, mode, true);
  IssueSelect<T>(call, choice, mask,
                 {Writes("dst", dst, {params.dstBlkStride, params.dstRepStride}),
                  Reads("src0", src0, {params.src0BlkStride, params.src0RepStride})},
                 mode, [src1](int64_t, int64_t) { return src1; });
}

}  // namespace sfmla::sim

namespace AscendC {

// half, float, and int32_t for EQ only. `count` elements must be whole rounds of 256 B.
template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, sfmla::sim::U32 count,
             const SourceLocation& where = SourceLocation::current()) {
  const int64_t repeats =
      sfmla::sim::WholeRounds({"Compare", sfmla::sim::Pipe::kV, where}, count * int64_t{sizeof(T)});
  sfmla::sim::CompareTensors(where, dst, src0, src1, cmpMode, repeats, {});
}
// The mask is ignored; the bits of all rounds lie behind each other.
template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, const uint64_t, sfmla::sim::U8 repeatTime,
             const BinaryRepeatParams& repeatParams,
             const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CompareTensors(where, dst, src0, src1, cmpMode, repeatTime, repeatParams);
}

#define SFMLA_SIM_COMPARE_SCALAR(name)                                                             \
  template <typename T, typename U>                                                                \
  void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1, CMPMODE cmpMode,  \
            sfmla::sim::U32 count, const SourceLocation& where = SourceLocation::current()) {      \
    const int64_t repeats =                                                                        \
        sfmla::sim::WholeRounds({#name, sfmla::sim::Pipe::kV, where}, count * int64_t{sizeof(T)}); \
    sfmla::sim::CompareWithScalar(#name, where, dst, src0, src1, cmpMode, repeats, {});            \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1, CMPMODE cmpMode,  \
            const uint64_t, sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,      \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::CompareWithScalar(#name, where, dst, src0, src1, cmpMode, repeatTime,              \
                                  repeatParams);                                                   \
  }

SFMLA_SIM_COMPARE_SCALAR(Compares)
SFMLA_SIM_COMPARE_SCALAR(CompareScalar)
#undef SFMLA_SIM_COMPARE_SCALAR

// half and float. Between tensors: VSEL_CMPMASK_SPR (the bits of one round serve all) and
// VSEL_TENSOR_TENSOR_MODE; between tensor and scalar: VSEL_TENSOR_SCALAR_MODE. On dav-2201 these
// use the 8 KB that CANN keeps at the end of UB.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, sfmla::sim::U32 count,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::SelectTensors(where, sfmla::sim::CountLanes(count), dst, selMask, src0, src1, selMode,
                            {});
}
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE selMode, sfmla::sim::U32 count,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::SelectOrScalar(where, sfmla::sim::CountLanes(count), dst, selMask, src0, src1,
                             selMode, {});
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask, sfmla::sim::U8 repeatTime,
            const BinaryRepeatParams& repeatParams,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::SelectTensors(
      where, sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), dst,
      selMask, src0, src1, selMode, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE selMode, uint64_t mask, sfmla::sim::U8 repeatTime,
            const BinaryRepeatParams& repeatParams,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::SelectOrScalar(
      where, sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), dst,
      selMask, src0, src1, selMode, repeatParams);
}

}  // namespace AscendC
