// SPDX-License-Identifier: Apache-2.0
// Keys of a tile into L1: straight from the pools where they lie in order, from the gathered keys
// where an index list picked them.
#pragma once

#include "op_kernel/arch/dav_2201/buffers.h"
#include "op_kernel/arch/dav_2201/tile_task.h"

namespace sfmla::dav_2201 {

// Where a token starts in its pool, in elements; and how many tokens lie behind each other from
// there on.
struct TokenRun {
  int64_t offset = 0;
  int64_t tokens = 0;
};

// Reports a block-table entry that names no page. On chips assertions are off by default; there the
// copy that follows is the fault.
template <typename T>
__aicore__ inline void RequirePage(const KernelCache<T>& cache, int64_t request, int64_t column,
                                   int64_t page) {
  const bool exists = page >= 0 && page < cache.geometry.outer_extent;
  const auto row = static_cast<int32_t>(request);
  const auto entry = static_cast<int32_t>(column);
  const auto id = static_cast<int32_t>(page);
  const auto pages = static_cast<int32_t>(cache.geometry.outer_extent);
  if (cache.is_compressed) {
    ascendc_assert(exists, "cmp_block_table[%d, %d]: page %d, must be in [0, %d)", row, entry, id,
                   pages);
  } else {
    ascendc_assert(exists, "ori_block_table[%d, %d]: page %d, must be in [0, %d)", row, entry, id,
                   pages);
  }
}

// Only block-table entries that a row needs are read.
template <typename T>
__aicore__ inline TokenRun RunAt(const KernelCache<T>& cache, Layout layout, int64_t request,
                                 int64_t first_token, int64_t token) {
  const CacheGeometry& geometry = cache.geometry;
  if (layout == Layout::kTnd) {
    const int64_t place = first_token + token;
    return {place * geometry.token_stride, geometry.tokens - place};
  }
  if (layout == Layout::kBsnd) {
    return {request * geometry.outer_stride + token * geometry.token_stride,
            geometry.tokens - token};
  }
  const int64_t slot = token % geometry.page_tokens;
  const int64_t column = token / geometry.page_tokens;
  const int64_t page = cache.block_table[request * geometry.table_columns + column];
  RequirePage(cache, request, column, page);
  return {page * geometry.outer_stride + slot * geometry.token_stride, geometry.page_tokens - slot};
}

// Rows [begin, end) of a tile, elements [first_element, first_element + elements) of each.
struct KeyWindow {
  int64_t begin;
  int64_t end;
  int64_t first_element;
  int64_t elements;

  __aicore__ inline int64_t tokens() const { return end - begin; }
};

template <typename T>
class KeyLoader {
 public:
  __aicore__ inline KeyLoader(const KernelTensors<T>& tensors, Layout layout)
      : tensors_(tensors), layout_(layout) {}

  // Brings a window into an L1 buffer as Nz with tokens() rounded up to whole fractals; rows behind
  // tokens() stay as they are.
  __aicore__ inline void Load(const TileTask& task, const KeyWindow& window,
                              const AscendC::LocalTensor<T>& unit) const {
    const int64_t ori = task.ori.size();
    const KeyWindow ori_window{window.begin, LesserOf(window.end, ori), window.first_element,
                               window.elements};
    const KeyWindow cmp_window{GreaterOf(window.begin, ori), window.end, window.first_element,
                               window.elements};
    const Destination destination{unit, window.begin, MultipleUp(window.tokens(), kFractalRows)};
    LoadPart(tensors_.ori, task, task.row.ori, task.ori.begin, ori_window, destination);
    LoadPart(tensors_.cmp, task, task.row.cmp, task.cmp.begin - ori, cmp_window, destination);
  }

 private:
  struct Destination {
    AscendC::LocalTensor<T> unit;
    int64_t first_row;  // row of the tile at the start of the unit
    int64_t rows;       // of the Nz matrix
  };

  // Candidate `row + shift` of the part lies in row `row` of the tile.
  __aicore__ inline void LoadPart(const KernelCache<T>& cache, const TileTask& task,
                                  const PartTask& part, int64_t shift, const KeyWindow& window,
                                  const Destination& destination) const {
    if (part.is_listed) {
      if (window.tokens() > 0) LoadGathered(task, window, destination);
      return;
    }
    int64_t row = window.begin;
    while (row < window.end) {
      const int64_t token = part.range.begin + row + shift;
      const TokenRun run = RunAt(cache, layout_, task.row.request, part.first_token, token);
      const int64_t tokens = LesserOf(run.tokens, window.end - row);
      LoadRows(cache.pool[static_cast<uint64_t>(run.offset + window.first_element)], tokens,
               cache.geometry.token_stride, row, window.elements, destination);
      row += tokens;
    }
  }

  __aicore__ inline void LoadGathered(const TileTask& task, const KeyWindow& window,
                                      const Destination& destination) const {
    const int64_t slot = task.index % kKeySlots * kDeviceTileTokens;
    const int64_t offset = (slot + window.begin) * kHeadDim + window.first_element;
    LoadRows(tensors_.keys[static_cast<uint64_t>(offset)], window.tokens(), kHeadDim, window.begin,
             window.elements, destination);
  }

  // The pitch of rows is limited; beyond it they are copied one by one.
  __aicore__ inline void LoadRows(const AscendC::GlobalTensor<T>& source, int64_t tokens,
                                  int64_t pitch, int64_t row, int64_t elements,
                                  const Destination& destination) const {
    const bool one_by_one = pitch > kMaxNdRowPitch;
    AscendC::Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = one_by_one ? 1 : tokens;
    params.dValue = elements;
    params.srcDValue = one_by_one ? elements : pitch;
    params.dstNzC0Stride = destination.rows;
    params.dstNzNStride = 1;
    for (int64_t i = 0; i < (one_by_one ? tokens : 1); ++i) {
      const int64_t place = (row + i - destination.first_row) * kElementsPerBlock;
      AscendC::DataCopy(destination.unit[static_cast<uint32_t>(place)],
                        source[static_cast<uint64_t>(i * pitch)], params);
    }
  }

  const KernelTensors<T>& tensors_;
  const Layout layout_;
};

}  // namespace sfmla::dav_2201
