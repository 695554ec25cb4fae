// SPDX-License-Identifier: Apache-2.0
// Where the tokens of a cache lie. Plain data, so it travels inside tiling data.
#pragma once

#include <cstdint>

namespace sfmla {

// Offsets in elements. Token j of request b starts at
//   packed   (first_token(b) + j) * token_stride
//   batched  b * outer_stride + j * token_stride
//   paged    page * outer_stride + (j % page_tokens) * token_stride, page = table[b][j /
//   page_tokens]
struct CacheGeometry {
  int64_t outer_extent = 0;  // pages (paged) or requests (batched)
  int64_t outer_stride = 0;
  int64_t token_stride = 0;
  int64_t page_tokens = 0;    // rows of a page
  int64_t table_columns = 0;  // pages a request's table row can name
  int64_t tokens = 0;  // tokens a request has room for: S (batched), T (packed), table (paged)
};

}  // namespace sfmla
