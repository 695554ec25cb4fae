// SPDX-License-Identifier: Apache-2.0
// Parameter structs of the instructions: fields, order and defaults as documented for dav-2201.
// Units and limits are stated, and checked, where sim/contracts and sim/intrinsics use them; that a
// value fits its field is checked here. As in CANN they have constructors, so kernels name all
// fields of a struct in order, or set fields one by one.
#pragma once

#include "sim/ascendc/checked.h"
#include "sim/ascendc/types.h"

namespace AscendC {

struct DataCopyParams {
  sfmla::sim::U16 blockCount = 1;
  sfmla::sim::U16 blockLen = 0;
  union {
    sfmla::sim::U16 srcGap = 0;
    sfmla::sim::U16 srcStride;
  };
  union {
    sfmla::sim::U16 dstGap = 0;
    sfmla::sim::U16 dstStride;
  };
  DataCopyParams() {}
  DataCopyParams(sfmla::sim::U16 count, sfmla::sim::U16 length, sfmla::sim::U16 source_gap,
                 sfmla::sim::U16 destination_gap)
      : blockCount(count), blockLen(length), srcGap(source_gap), dstGap(destination_gap) {}
};

struct DataCopyExtParams {
  DataCopyExtParams() = default;
  DataCopyExtParams(sfmla::sim::U16 block_count, sfmla::sim::U32 block_len,
                    sfmla::sim::U32 src_stride, sfmla::sim::U32 dst_stride,
                    sfmla::sim::U32 rsv_value)
      : blockCount(block_count),
        blockLen(block_len),
        srcStride(src_stride),
        dstStride(dst_stride),
        rsv(rsv_value) {}

  sfmla::sim::U16 blockCount = 0;
  sfmla::sim::U32 blockLen = 0;
  sfmla::sim::U32 srcStride = 0;
  sfmla::sim::U32 dstStride = 0;
  sfmla::sim::U32 rsv = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool is_pad, sfmla::sim::U8 left_padding, sfmla::sim::U8 right_padding,
                       T padding_value)
      : isPad(is_pad),
        leftPadding(left_padding),
        rightPadding(right_padding),
        paddingValue(padding_value) {}

  bool isPad = false;
  sfmla::sim::U8 leftPadding = 0;
  sfmla::sim::U8 rightPadding = 0;
  T paddingValue = T{};
};

struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool is_pad, sfmla::sim::U8 left_padding, sfmla::sim::U8 right_padding,
                    uint64_t padding_value)
      : isPad(is_pad),
        leftPadding(left_padding),
        rightPadding(right_padding),
        paddingValue(padding_value) {}

  bool isPad = false;
  sfmla::sim::U8 leftPadding = 0;
  sfmla::sim::U8 rightPadding = 0;
  uint64_t paddingValue = 0;
};

struct Nd2NzParams {
  Nd2NzParams() = default;
  Nd2NzParams(sfmla::sim::U16 nd_num, sfmla::sim::U16 n_value, sfmla::sim::U16 d_value,
              sfmla::sim::U16 src_nd_matrix_stride, sfmla::sim::U16 src_d_value,
              sfmla::sim::U16 dst_nz_c0_stride, sfmla::sim::U16 dst_nz_n_stride,
              sfmla::sim::U16 dst_nz_matrix_stride)
      : ndNum(nd_num),
        nValue(n_value),
        dValue(d_value),
        srcNdMatrixStride(src_nd_matrix_stride),
        srcDValue(src_d_value),
        dstNzC0Stride(dst_nz_c0_stride),
        dstNzNStride(dst_nz_n_stride),
        dstNzMatrixStride(dst_nz_matrix_stride) {}

  sfmla::sim::U16 ndNum = 0;
  sfmla::sim::U16 nValue = 0;
  sfmla::sim::U16 dValue = 0;
  sfmla::sim::U16 srcNdMatrixStride = 0;
  sfmla::sim::U16 srcDValue = 0;
  sfmla::sim::U16 dstNzC0Stride = 0;
  sfmla::sim::U16 dstNzNStride = 0;
  sfmla::sim::U16 dstNzMatrixStride = 0;
};

struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(sfmla::sim::U16 start_index, sfmla::sim::U8 repeat_times,
                   sfmla::sim::U16 src_stride, sfmla::sim::U8 sid_value, sfmla::sim::U16 dst_gap,
                   bool if_transpose, sfmla::sim::U8 addr_mode)
      : startIndex(start_index),
        repeatTimes(repeat_times),
        srcStride(src_stride),
        sid(sid_value),
        dstGap(dst_gap),
        ifTranspose(if_transpose),
        addrMode(addr_mode) {}

  sfmla::sim::U16 startIndex = 0;
  sfmla::sim::U8 repeatTimes = 0;
  sfmla::sim::U16 srcStride = 0;
  sfmla::sim::U8 sid = 0;
  sfmla::sim::U16 dstGap = 0;
  bool ifTranspose = false;
  sfmla::sim::U8 addrMode = 0;
};

template <typename T>
struct LoadData3DParamsV2 {
  sfmla::sim::U8 padList[4] = {0, 0, 0, 0};
  sfmla::sim::U16 l1H = 0;
  sfmla::sim::U16 l1W = 0;
  sfmla::sim::U16 channelSize = 0;
  sfmla::sim::U16 kExtension = 0;
  sfmla::sim::U16 mExtension = 0;
  sfmla::sim::U16 kStartPt = 0;
  sfmla::sim::U16 mStartPt = 0;
  sfmla::sim::U8 strideW = 1;
  sfmla::sim::U8 strideH = 1;
  sfmla::sim::U8 filterW = 1;
  sfmla::sim::U8 filterH = 1;
  sfmla::sim::U8 dilationFilterW = 1;
  sfmla::sim::U8 dilationFilterH = 1;
  bool enTranspose = false;
  bool enSmallK = false;
  T padValue = T{};
  bool filterSizeW = false;
  bool filterSizeH = false;
  bool fMatrixCtrl = false;
};

struct IsResetLoad3dConfig {
  bool isSetFMatrix = true;
  bool isSetPadding = true;
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

struct MmadParams {
  MmadParams() = default;
  MmadParams(sfmla::sim::U16 m_value, sfmla::sim::U16 n_value, sfmla::sim::U16 k_value,
             bool is_bias, int32_t fm_offset, bool en_ssparse, bool en_winograd_a,
             bool en_winograd_b)
      : m(m_value),
        n(n_value),
        k(k_value),
        isBias(is_bias),
        fmOffset(fm_offset),
        enSsparse(en_ssparse),
        enWinogradA(en_winograd_a),
        enWinogradB(en_winograd_b) {}

  sfmla::sim::U16 m = 0;
  sfmla::sim::U16 n = 0;
  sfmla::sim::U16 k = 0;
  bool isBias = false;
  int32_t fmOffset = 0;
  bool enSsparse = false;
  bool enWinogradA = false;
  bool enWinogradB = false;
  sfmla::sim::U8 unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;
  bool cmatrixInitVal = true;
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
  CO2Layout format;
  bool isToUB = false;
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(sfmla::sim::U16 n_size, sfmla::sim::U16 m_size, sfmla::sim::U16 src_stride,
                    sfmla::sim::U32 dst_stride, bool relu)
      : nSize(n_size), mSize(m_size), srcStride(src_stride), dstStride(dst_stride), reluEn(relu) {}

  sfmla::sim::U16 nSize = 0;
  sfmla::sim::U16 mSize = 0;
  sfmla::sim::U16 srcStride = 0;
  sfmla::sim::U32 dstStride = 0;
  QuantMode_t quantPre = NoQuant;
  uint64_t deqScalar = 0;
  sfmla::sim::U16 ndNum = 1;
  sfmla::sim::U16 srcNdStride = 0;
  sfmla::sim::U16 dstNdStride = 0;
  bool reluEn = false;
  sfmla::sim::U8 unitFlag = 0;
  bool isChannelSplit = false;
};

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  UnaryRepeatParams(sfmla::sim::U16 dst_blk_stride, sfmla::sim::U16 src_blk_stride,
                    sfmla::sim::U8 dst_rep_stride, sfmla::sim::U8 src_rep_stride)
      : dstBlkStride(dst_blk_stride),
        srcBlkStride(src_blk_stride),
        dstRepStride(dst_rep_stride),
        srcRepStride(src_rep_stride) {}

  sfmla::sim::U16 dstBlkStride = 1;
  sfmla::sim::U16 srcBlkStride = 1;
  sfmla::sim::U8 dstRepStride = 8;
  sfmla::sim::U8 srcRepStride = 8;
};

struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  BinaryRepeatParams(sfmla::sim::U8 dst_blk_stride, sfmla::sim::U8 src0_blk_stride,
                     sfmla::sim::U8 src1_blk_stride, sfmla::sim::U8 dst_rep_stride,
                     sfmla::sim::U8 src0_rep_stride, sfmla::sim::U8 src1_rep_stride)
      : dstBlkStride(dst_blk_stride),
        src0BlkStride(src0_blk_stride),
        src1BlkStride(src1_blk_stride),
        dstRepStride(dst_rep_stride),
        src0RepStride(src0_rep_stride),
        src1RepStride(src1_rep_stride) {}

  sfmla::sim::U8 dstBlkStride = 1;
  sfmla::sim::U8 src0BlkStride = 1;
  sfmla::sim::U8 src1BlkStride = 1;
  sfmla::sim::U8 dstRepStride = 8;
  sfmla::sim::U8 src0RepStride = 8;
  sfmla::sim::U8 src1RepStride = 8;
};

struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  BrcbRepeatParams(sfmla::sim::U16 dst_blk_stride, sfmla::sim::U16 dst_rep_stride)
      : dstBlkStride(dst_blk_stride), dstRepStride(dst_rep_stride) {}

  sfmla::sim::U16 dstBlkStride = 1;
  sfmla::sim::U16 dstRepStride = 8;
};

struct CopyRepeatParams {
  CopyRepeatParams() = default;
  CopyRepeatParams(sfmla::sim::U16 dst_stride, sfmla::sim::U16 src_stride,
                   sfmla::sim::U16 dst_repeat_size, sfmla::sim::U16 src_repeat_size)
      : dstStride(dst_stride),
        srcStride(src_stride),
        dstRepeatSize(dst_repeat_size),
        srcRepeatSize(src_repeat_size) {}

  sfmla::sim::U16 dstStride = 0;
  sfmla::sim::U16 srcStride = 0;
  sfmla::sim::U16 dstRepeatSize = 0;
  sfmla::sim::U16 srcRepeatSize = 0;
};

}  // namespace AscendC
