// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/smla_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/ascendc/half.h"

namespace sfmla::test {
namespace {

constexpr uint16_t kNan = 0x7FFD;  // in both 16-bit types
constexpr int32_t kNoPage = -7;    // in table entries that nobody needs

std::vector<int32_t> Sums(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> sums(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin() + 1);
  return sums;
}

int DivideUp(int a, int b) { return (a + b - 1) / b; }

}  // namespace

SmlaCall::SmlaCall(const SmlaCase& call) : call_(call), random_(call.seed * 2 + 1) {
  MakeLengths();
  for (const bool compressed : {false, true}) {
    if (compressed && !call_.rules.has_cmp) continue;
    MakeTable(compressed);
    MakeLists(compressed);
    MakePool(compressed);
  }
  MakeQueriesAndSinks();
}

int SmlaCall::Below(int bound) {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<int>((random_ >> 33) % static_cast<uint64_t>(bound));
}

// Sum of twelve uniform values.
double SmlaCall::Normal() {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += Below(1 << 20) / double{1 << 20};
  return sum;
}

double SmlaCall::Widen(uint16_t bits) const {
  return call_.is_bfloat16 ? sim::Bfloat16BitsToFloat(bits) : sim::HalfBitsToFloat(bits);
}

uint16_t SmlaCall::Round(double value) const {
  const auto single = static_cast<float>(value);
  return call_.is_bfloat16 ? sim::FloatToBfloat16Bits(single) : sim::FloatToHalfBits(single);
}

int64_t SmlaCall::FirstQueryRow(int request) const {
  int64_t first = 0;
  for (int i = 0; i < request; ++i) first += call_.requests[static_cast<size_t>(i)].query_rows;
  return first;
}

int64_t SmlaCall::query_rows() const {
  return FirstQueryRow(static_cast<int>(call_.requests.size())) + call_.spare_query_rows;
}

int64_t SmlaCall::query_extent() const {
  return call_.rules.layout_q == Layout::kTnd ? query_rows() : call_.requests[0].query_rows;
}

int SmlaCall::UsedQueryRows(int request) const {
  const SmlaRequest& of = call_.requests[static_cast<size_t>(request)];
  return call_.has_seqused_q && of.used_query_rows >= 0 ? of.used_query_rows : of.query_rows;
}

int SmlaCall::Tokens(int request, bool compressed) const {
  const SmlaRequest& of = call_.requests[static_cast<size_t>(request)];
  return compressed ? of.cmp_tokens : of.ori_tokens;
}

int SmlaCall::MostTokens(bool compressed) const {
  int most = 1;
  for (size_t i = 0; i < call_.requests.size(); ++i) {
    most = std::max(most, Tokens(static_cast<int>(i), compressed));
  }
  return most;
}

std::vector<SmlaRow> SmlaCall::UsedRows() const {
  std::vector<SmlaRow> rows;
  for (int request = 0; request < static_cast<int>(call_.requests.size()); ++request) {
    for (int row = 0; row < UsedQueryRows(request); ++row) {
      rows.push_back({request, row, FirstQueryRow(request) + row});
    }
  }
  return rows;
}

CacheGeometry SmlaCall::Geometry(bool compressed) const {
  CacheGeometry out;
  const auto batch = static_cast<int64_t>(call_.requests.size());
  out.token_stride = kHeadDim + call_.token_padding;
  if (call_.rules.layout_kv == Layout::kPaged) {
    out.page_tokens = compressed ? call_.cmp_page_tokens : call_.ori_page_tokens;
    out.table_columns = DivideUp(MostTokens(compressed), static_cast<int>(out.page_tokens));
    out.outer_extent = batch * out.table_columns + 1;
    out.outer_stride = out.page_tokens * out.token_stride + call_.outer_padding;
    out.tokens = out.table_columns * out.page_tokens;
    return out;
  }
  if (call_.rules.layout_kv == Layout::kBsnd) {
    out.tokens = MostTokens(compressed);
    out.outer_extent = batch;
    out.outer_stride = out.tokens * out.token_stride + call_.outer_padding;
    return out;
  }
  for (int i = 0; i < static_cast<int>(batch); ++i) out.tokens += Tokens(i, compressed);
  return out;
}

int64_t SmlaCall::TokenOffset(int request, bool compressed, int token) const {
  const CacheGeometry geometry = Geometry(compressed);
  if (call_.rules.layout_kv == Layout::kTnd) {
    int64_t first = 0;
    for (int i = 0; i < request; ++i) first += Tokens(i, compressed);
    return (first + token) * geometry.token_stride;
  }
  if (call_.rules.layout_kv == Layout::kBsnd) {
    return request * geometry.outer_stride + token * geometry.token_stride;
  }
  const auto& table = compressed ? inputs_.cmp_block_table : inputs_.ori_block_table;
  const int64_t column = token / geometry.page_tokens;
  const int64_t page = table[static_cast<size_t>(request * geometry.table_columns + column)];
  return page * geometry.outer_stride + token % geometry.page_tokens * geometry.token_stride;
}

std::pair<int, int> SmlaCall::VisibleTokens(const SmlaRow& row, bool compressed) const {
  const AttentionRules& rules = call_.rules;
  const SmlaRequest& request = call_.requests[static_cast<size_t>(row.request)];
  const int used = UsedQueryRows(row.request);
  if (compressed) {
    if (rules.cmp_mask == MaskMode::kNone) return {0, request.cmp_tokens};
    const int residual = rules.uses_residual() ? request.residual : 0;
    const int prefix = request.cmp_tokens * rules.cmp_ratio + residual;
    const int complete = std::max(prefix - used + row.row + 1, 0) / rules.cmp_ratio;
    return {0, std::min(complete, request.cmp_tokens)};
  }
  const int position = request.ori_tokens - used + row.row;
  int first = 0;
  int last = request.ori_tokens;
  if (rules.ori_mask == MaskMode::kCausal) last = position + 1;
  if (rules.ori_mask == MaskMode::kWindow) {
    if (rules.window_left >= 0) first = position - rules.window_left;
    if (rules.window_right >= 0) last = position + 1 + rules.window_right;
  }
  first = std::clamp(first, 0, request.ori_tokens);
  return {first, std::clamp(last, first, request.ori_tokens)};
}

std::vector<int> SmlaCall::Attended(const SmlaRow& row, bool compressed) const {
  std::vector<int> tokens;
  const auto [first, last] = VisibleTokens(row, compressed);
  const int64_t topk = compressed ? call_.rules.cmp_topk : call_.rules.ori_topk;
  if (topk == 0) {
    for (int token = first; token < last; ++token) tokens.push_back(token);
    return tokens;
  }
  const auto& list = compressed ? inputs_.cmp_indices : inputs_.ori_indices;
  const auto& lengths = compressed ? inputs_.cmp_topk_length : inputs_.ori_topk_length;
  int64_t lanes = std::min<int64_t>(topk, last);
  if (!lengths.empty()) {
    lanes = std::min<int64_t>(lanes, lengths[static_cast<size_t>(row.global_row)]);
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int token = list[static_cast<size_t>(row.global_row * topk + lane)];
    if (token < 0) break;
    if (token >= first && token < last) tokens.push_back(token);
  }
  return tokens;
}

void SmlaCall::MakeLengths() {
  std::vector<int32_t> rows, used, ori, cmp, residual;
  for (size_t i = 0; i < call_.requests.size(); ++i) {
    rows.push_back(call_.requests[i].query_rows);
    used.push_back(UsedQueryRows(static_cast<int>(i)));
    ori.push_back(call_.requests[i].ori_tokens);
    cmp.push_back(call_.requests[i].cmp_tokens);
    residual.push_back(call_.requests[i].residual);
  }
  const bool packed = call_.rules.layout_kv == Layout::kTnd;
  if (call_.rules.layout_q == Layout::kTnd) inputs_.cu_seqlens_q = Sums(rows);
  if (call_.has_seqused_q) inputs_.seqused_q = used;
  (packed ? inputs_.cu_seqlens_ori_kv : inputs_.seqused_ori_kv) = packed ? Sums(ori) : ori;
  if (!call_.rules.has_cmp) return;
  (packed ? inputs_.cu_seqlens_cmp_kv : inputs_.seqused_cmp_kv) = packed ? Sums(cmp) : cmp;
  if (call_.rules.uses_residual()) inputs_.cmp_residual_kv = residual;
}

// Pages in random order; page 0 belongs to nobody, entries behind a request's tokens name none.
void SmlaCall::MakeTable(bool compressed) {
  if (call_.rules.layout_kv != Layout::kPaged) return;
  const CacheGeometry geometry = Geometry(compressed);
  std::vector<int32_t> pages(static_cast<size_t>(geometry.outer_extent - 1));
  std::iota(pages.begin(), pages.end(), 1);
  for (size_t i = pages.size(); i > 1; --i) {
    std::swap(pages[i - 1], pages[static_cast<size_t>(Below(static_cast<int>(i)))]);
  }
  for (int request = 0; request < static_cast<int>(call_.requests.size()); ++request) {
    const int needed =
        DivideUp(Tokens(request, compressed), static_cast<int>(geometry.page_tokens));
    for (int64_t column = needed; column < geometry.table_columns; ++column) {
      pages[static_cast<size_t>(request * geometry.table_columns + column)] = kNoPage;
    }
  }
  (compressed ? inputs_.cmp_block_table : inputs_.ori_block_table) = pages;
}

std::vector<int32_t> SmlaCall::MakeList(std::pair<int, int> visible, int topk) {
  std::vector<int32_t> list(static_cast<size_t>(topk), -1);
  if (call_.lists == ListKind::kNothing) return list;
  const int tokens = visible.second - visible.first;
  int next = visible.first;
  for (int lane = 0; lane < std::min(topk, visible.second); ++lane) {
    if (tokens == 0) break;
    if (call_.lists == ListKind::kPlain) {
      if (lane >= tokens) break;
      // A step that has no divisor in common with the number of tokens meets each of them once.
      int step = tokens / 3 + 1;
      while (std::gcd(step, tokens) != 1) ++step;
      list[static_cast<size_t>(lane)] = visible.first + lane * step % tokens;
      continue;
    }
    const int kind = Below(16);
    if (kind == 0) next = visible.second + Below(5);
    if (kind >= 1 && kind < 6) next = visible.first + Below(tokens);
    if (kind == 6 && visible.first > 0) next = Below(visible.first);
    list[static_cast<size_t>(lane)] = next++;
  }
  if (call_.lists == ListKind::kNasty && Below(3) == 0) {
    list[static_cast<size_t>(Below(topk))] = -1;
  }
  return list;
}

void SmlaCall::MakeLists(bool compressed) {
  const auto topk = static_cast<int>(compressed ? call_.rules.cmp_topk : call_.rules.ori_topk);
  if (topk == 0) return;
  auto& lists = compressed ? inputs_.cmp_indices : inputs_.ori_indices;
  auto& lengths = compressed ? inputs_.cmp_topk_length : inputs_.ori_topk_length;
  lists.assign(static_cast<size_t>(query_rows() * topk), -1);
  if (call_.has_topk_lengths) lengths.assign(static_cast<size_t>(query_rows()), topk);
  for (const SmlaRow& row : UsedRows()) {
    const std::vector<int32_t> list = MakeList(VisibleTokens(row, compressed), topk);
    std::copy(list.begin(), list.end(), lists.begin() + row.global_row * topk);
    if (!lengths.empty()) lengths[static_cast<size_t>(row.global_row)] = Below(topk + 2);
  }
}

void SmlaCall::MakePool(bool compressed) {
  const CacheGeometry geometry = Geometry(compressed);
  const int64_t outer = std::max<int64_t>(geometry.outer_extent, 1);
  const int64_t inner = geometry.page_tokens > 0 ? geometry.page_tokens : geometry.tokens;
  auto& pool = compressed ? inputs_.cmp_kv : inputs_.ori_kv;
  pool.assign(
      static_cast<size_t>((outer - 1) * geometry.outer_stride +
                          std::max<int64_t>(inner - 1, 0) * geometry.token_stride + kHeadDim),
      kNan);
  for (const SmlaRow& row : UsedRows()) {
    for (const int token : Attended(row, compressed)) {
      uint16_t* key = pool.data() + TokenOffset(row.request, compressed, token);
      if (key[0] != kNan) continue;
      for (int64_t i = 0; i < kHeadDim; ++i) key[i] = Round(Normal());
    }
  }
}

void SmlaCall::MakeQueriesAndSinks() {
  const auto used_elements = static_cast<size_t>(heads() * kHeadDim);
  inputs_.q.assign(static_cast<size_t>(query_rows()) * used_elements, kNan);
  for (const SmlaRow& row : UsedRows()) {
    for (size_t i = 0; i < used_elements; ++i) {
      inputs_.q[static_cast<size_t>(row.global_row) * used_elements + i] =
          Round(Normal() * call_.score_spread);
    }
  }
  if (!call_.has_sinks) return;
  inputs_.sinks = call_.sinks;
  for (int64_t i = static_cast<int64_t>(inputs_.sinks.size()); i < heads(); ++i) {
    inputs_.sinks.push_back(static_cast<float>(Normal()));
  }
}

}  // namespace sfmla::test
