// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad: GM <-> UB, GM <-> L1 and UB -> UB.
//
//   path                 pipe   forms
//   GM -> UB or L1       MTE2   count, DataCopyParams; UB: DataCopyPad; L1: Nd2NzParams
//   UB or L1 -> GM       MTE3   count, DataCopyParams; UB: DataCopyPad; with atomic addition if set
//   UB -> UB             V      count, DataCopyParams
//
// Local addresses are multiples of 32 B, GM addresses of 1 B. Gaps run from the end of a block to
// the start of the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/ascendc/parameters.h"
#include "sim/ascendc/tensors.h"
#include "sim/intrinsics/registers.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// bursts pieces of burst_bytes bytes; piece i starts i * pitch bytes behind the first.
struct BurstPlan {
  int64_t bursts = 0;
  int64_t burst_bytes = 0;
  int64_t src_pitch = 0;
  int64_t dst_pitch = 0;
};
void CopyBursts(std::byte* dst, const std::byte* src, const BurstPlan& plan);

// What DataCopyPad writes around each burst: `left` bytes before it and `right` bytes behind it of
// `value` (one element, repeated), and then up to a multiple of 32 B.
struct PadPlan {
  enum class Fill : uint8_t {
    kFirstElement,  // neither padding nor a value: the burst's first element
    kNothing,       // padding without a value: what the chip leaves there is not defined
    kValue,         // the value in left and right padding; what follows them is not defined
  };
  int64_t left = 0;
  int64_t right = 0;
  Fill fill = Fill::kFirstElement;
  std::byte value[8] = {};
  int64_t value_bytes = 0;
};
int64_t PaddedRowBytes(const BurstPlan& plan, const PadPlan& pad);
void CopyPadded(std::byte* dst, const std::byte* src, const BurstPlan& plan, const PadPlan& pad);

// matrices row-major matrices of rows x columns elements become Nz matrices: element (r, c) of
// matrix i goes to byte
//   i * dst_matrix_stride + c / C0 * dst_c0_stride + r * dst_row_stride + c % C0 * element_bytes
// and the rest of the last block of 32 B of a row is filled with zeros.
struct NdToNzPlan {
  int64_t matrices, rows, columns, element_bytes;
  int64_t src_matrix_stride, src_row_stride;                 // bytes
  int64_t dst_matrix_stride, dst_c0_stride, dst_row_stride;  // bytes
};
void CopyNdToNz(std::byte* dst, const std::byte* src, const NdToNzPlan& plan);

// The calls below, without the types.
void IssueCopy(const char* name, const SourceLocation& where, const Operand& dst,
               const Operand& src, const BurstPlan& plan,
               std::optional<ScalarState::AtomicType> atomic_type);
void IssuePadded(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const BurstPlan& plan, const PadPlan& pad);
void IssueNdToNz(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const AscendC::Nd2NzParams& params, int64_t element_bytes);

// Plans of the parameter structs, after their limits have been checked.
BurstPlan CountPlan(int64_t count, int64_t element_bytes);
BurstPlan BlockPlan(const SourceLocation& where, const AscendC::DataCopyParams& params);
BurstPlan PadInPlan(const SourceLocation& where, const AscendC::DataCopyExtParams& params,
                    const PadPlan& pad);
BurstPlan PadOutPlan(const SourceLocation& where, const AscendC::DataCopyExtParams& params);

template <typename T>
PadPlan PadPlanOf(const AscendC::DataCopyPadExtParams<T>& params) {
  PadPlan pad{.left = params.leftPadding * int64_t{sizeof(T)},
              .right = params.rightPadding * int64_t{sizeof(T)},
              .value_bytes = sizeof(T)};
  if (params.isPad) {
    pad.fill = PadPlan::Fill::kValue;
    std::memcpy(pad.value, &params.paddingValue, sizeof(T));
  } else if (pad.left != 0 || pad.right != 0) {
    pad.fill = PadPlan::Fill::kNothing;
  }
  return pad;
}

template <typename T, template <typename> typename Dst, template <typename> typename Src>
void Copy(const char* name, const SourceLocation& where, const Dst<T>& dst, const Src<T>& src,
          const BurstPlan& plan) {
  IssueCopy(name, where, OperandOf(dst), OperandOf(src), plan, AtomicTypeOf<T>());
}

inline AscendC::DataCopyExtParams Extended(const AscendC::DataCopyParams& params) {
  return {uint16_t{params.blockCount}, uint16_t{params.blockLen}, uint16_t{params.srcStride},
          uint16_t{params.dstStride}, 0};
}

}  // namespace sfmla::sim

namespace AscendC {

// dst[i] = src[i] for i < count, where count * sizeof(T) is cut down to a multiple of 32 B.
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, sfmla::sim::U32 count,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::CountPlan(count, sizeof(T)));
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, sfmla::sim::U32 count,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::CountPlan(count, sizeof(T)));
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, sfmla::sim::U32 count,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::CountPlan(count, sizeof(T)));
}

// blockCount 1..4095 blocks of blockLen 1..65535 x 32 B, gaps in 32 B on both sides.
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::BlockPlan(where, params));
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::BlockPlan(where, params));
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopy", where, dst, src, sfmla::sim::BlockPlan(where, params));
}

// ndNum 0..4095 matrices of nValue 0..16384 rows of dValue 0..65535 elements, row pitch srcDValue
// 1..65535 elements, to Nz in L1: dstNzNStride and dstNzC0Stride 1..16384 x 32 B from row to row
// and from block column to block column, matrix strides in elements. Rows from nValue up are not
// written; a count of 0 does nothing.
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueNdToNz(where, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(src), params,
                          sizeof(T));
}

// GM -> UB: blockCount 1..4095 bursts of blockLen 1..2097151 B, srcStride B apart, to rows that
// start on 32 B, dstStride x 32 B apart. Paddings are in elements, at most 32 B each.
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyExtParams& params, const DataCopyPadExtParams<T>& pad_params,
                 const SourceLocation& where = SourceLocation::current()) {
  const sfmla::sim::PadPlan pad = sfmla::sim::PadPlanOf(pad_params);
  sfmla::sim::IssuePadded(where, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(src),
                          sfmla::sim::PadInPlan(where, params, pad), pad);
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyParams& params, const DataCopyPadParams& pad_params,
                 const SourceLocation& where = SourceLocation::current()) {
  DataCopyPadExtParams<T> pad{pad_params.isPad, uint8_t{pad_params.leftPadding},
                              uint8_t{pad_params.rightPadding}, T{}};
  std::memcpy(&pad.paddingValue, &pad_params.paddingValue, sizeof(T));
  DataCopyPad(dst, src, sfmla::sim::Extended(params), pad, where);
}

// UB -> GM: the mirror image; exactly blockLen bytes per burst are written.
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& params,
                 const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Copy("DataCopyPad", where, dst, src, sfmla::sim::PadOutPlan(where, params));
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& params,
                 const SourceLocation& where = SourceLocation::current()) {
  DataCopyPad(dst, src, sfmla::sim::Extended(params), where);
}

}  // namespace AscendC
