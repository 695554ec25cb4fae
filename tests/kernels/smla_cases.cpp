// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/smla_cases.h"

#include <cmath>

namespace sfmla::test {
namespace {

SmlaCase Packed(SmlaCase call) {
  call.rules.layout_q = Layout::kTnd;
  call.rules.layout_kv = Layout::kTnd;
  return call;
}
SmlaCase Batched(SmlaCase call) {
  call.rules.layout_kv = Layout::kBsnd;
  return call;
}
SmlaCase WithHeads(SmlaCase call, int heads) {
  call.rules.heads = heads;
  return call;
}
SmlaCase WithLists(SmlaCase call, ListKind lists, bool lengths) {
  call.lists = lists;
  call.has_topk_lengths = lengths;
  return call;
}
SmlaCase WithOriginalMask(SmlaCase call, MaskMode mask, int left, int right) {
  call.rules.ori_mask = mask;
  call.rules.window_left = left;
  call.rules.window_right = right;
  return call;
}

// Compressed rows and residual that belong to so many original tokens.
SmlaRequest Prefix(int query_rows, int tokens, int ratio) {
  return {query_rows, -1, tokens, tokens / ratio, tokens % ratio};
}

std::vector<SmlaCase> LayoutCases() {
  std::vector<SmlaCase> cases;
  cases.push_back(Packed(DecodeCase("packed CSA", {Prefix(3, 150, 4), Prefix(1, 77, 4)}, 4, 24)));
  cases.push_back(Batched(DecodeCase("batched HCA", {Prefix(2, 300, 16), Prefix(2, 129, 16)}, 16)));
  cases.push_back(DecodeCase("packed queries, paged keys", {Prefix(2, 150, 4)}, 4, 24));
  cases.back().rules.layout_q = Layout::kTnd;
  cases.back().spare_query_rows = 2;
  cases.push_back(DecodeCase("padded pages and tokens", {Prefix(1, 200, 4)}, 4, 32));
  cases.back().token_padding = 24;
  cases.back().outer_padding = 1000;
  cases.back().ori_page_tokens = 7;
  cases.back().cmp_page_tokens = 128;
  cases.push_back(DecodeCase("tokens too far apart for a layout change", {{1, -1, 20, 0, 0}}));
  cases.back().token_padding = 70000;
  cases.back().ori_page_tokens = 8;
  return cases;
}

std::vector<SmlaCase> RowCases() {
  std::vector<SmlaCase> cases;
  cases.push_back(
      DecodeCase("unused and empty rows",
                 {{3, 2, 130, 0, 0}, {3, 0, 10, 0, 0}, {3, 3, 0, 0, 0}, {3, 3, 1, 0, 0}}));
  cases.back().has_seqused_q = true;
  cases.push_back(WithOriginalMask(DecodeCase("rows before the first key", {{6, -1, 3, 0, 0}}),
                                   MaskMode::kCausal, -1, -1));
  cases.push_back(WithOriginalMask(DecodeCase("a window to both sides", {{5, -1, 90, 0, 0}}),
                                   MaskMode::kWindow, 20, 3));
  cases.push_back(
      WithOriginalMask(DecodeCase("no mask", {Prefix(2, 70, 4)}, 4, 10), MaskMode::kNone, -1, -1));
  cases.back().rules.cmp_mask = MaskMode::kNone;
  cases.back().has_topk_lengths = true;
  cases.push_back(DecodeCase("without sinks and LSE", {{2, -1, 33, 0, 0}}));
  cases.back().has_sinks = false;
  cases.back().returns_lse = false;
  cases.push_back(WithHeads(DecodeCase("infinite sinks", {{1, -1, 33, 0, 0}}), 4));
  cases.back().sinks = {INFINITY, -INFINITY, 1e4f, -1e4f};
  cases.push_back(DecodeCase("scores far apart", {Prefix(1, 400, 2)}, 2));
  cases.back().score_spread = 30.0;
  return cases;
}

// Key counts around the edges of fractals, steps, units and tiles.
std::vector<SmlaCase> EdgeCases() {
  std::vector<SmlaRequest> requests;
  for (const int tokens :
       {1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513}) {
    requests.push_back({1, -1, tokens, 0, 0});
  }
  std::vector<SmlaCase> cases;
  cases.push_back(
      WithOriginalMask(DecodeCase("edges of tiles", requests), MaskMode::kCausal, -1, -1));
  cases.back().rules.heads = 5;
  for (SmlaRequest& request : requests) request = {1, -1, 3, request.ori_tokens, 1};
  cases.push_back(DecodeCase("edges of listed tiles", requests, 2, 600));
  cases.back().rules.heads = 5;
  return cases;
}

std::vector<SmlaCase> ListCases() {
  std::vector<SmlaCase> cases;
  const SmlaCase csa = DecodeCase("CSA", {Prefix(2, 800, 4), Prefix(2, 60, 4)}, 4, 100);
  for (const bool lengths : {false, true}) {
    cases.push_back(WithLists(csa, ListKind::kNasty, lengths));
    cases.back().name = lengths ? "nasty lists with lengths" : "nasty lists";
  }
  cases.push_back(WithLists(csa, ListKind::kNothing, false));
  cases.back().name = "empty lists";
  cases.push_back(WithOriginalMask(DecodeCase("listed original tokens", {{2, -1, 300, 0, 0}}),
                                   MaskMode::kNone, -1, -1));
  cases.back().rules.ori_topk = 65;
  cases.back().has_topk_lengths = true;
  cases.push_back(DecodeCase("both parts listed", {Prefix(2, 300, 4)}, 4, 50));
  cases.back().rules.ori_topk = 40;
  cases.back().lists = ListKind::kNasty;
  cases.push_back(DecodeCase("only the original part listed", {Prefix(2, 300, 4)}, 4, 0));
  cases.back().rules.ori_topk = 40;
  cases.back().lists = ListKind::kNasty;
  return cases;
}

std::vector<SmlaCase> HeadCases() {
  std::vector<SmlaCase> cases;
  for (const int heads : {1, 3, 8, 17, 33, 127, 128}) {
    cases.push_back(WithHeads(DecodeCase("heads", {Prefix(1, 140, 4)}, 4, 20), heads));
    cases.back().name = std::to_string(heads) + " heads";
    cases.back().is_bfloat16 = heads % 2 == 0;
  }
  return cases;
}

}  // namespace

SmlaCase DecodeCase(const char* name, std::vector<SmlaRequest> requests, int cmp_ratio,
                    int cmp_topk) {
  SmlaCase call;
  call.name = name;
  call.rules.heads = 16;
  call.rules.layout_kv = Layout::kPaged;
  call.rules.has_ori = 1;
  call.rules.ori_mask = MaskMode::kWindow;
  call.rules.window_left = 127;
  call.rules.window_right = 0;
  call.rules.has_cmp = cmp_ratio > 1;
  call.rules.cmp_ratio = cmp_ratio;
  call.rules.cmp_mask = cmp_ratio > 1 ? MaskMode::kCausal : MaskMode::kNone;
  call.rules.cmp_topk = cmp_topk;
  call.requests = std::move(requests);
  return call;
}

std::vector<SmlaCase> DecodeCases() {
  std::vector<SmlaCase> cases;
  for (const bool is_bfloat16 : {false, true}) {
    cases.push_back(DecodeCase("SWA", {{1, -1, 200, 0, 0}, {1, -1, 40, 0, 0}}));
    cases.push_back(DecodeCase("HCA", {Prefix(1, 5000, 128), Prefix(1, 127, 128)}, 128));
    cases.push_back(DecodeCase("CSA", {Prefix(1, 3000, 4), Prefix(1, 130, 4)}, 4, 512));
    for (size_t i = cases.size() - 3; i < cases.size(); ++i) {
      cases[i].is_bfloat16 = is_bfloat16;
      cases[i].rules.heads = is_bfloat16 ? 64 : 16;
    }
  }
  return cases;
}

std::vector<SmlaCase> UnusualCases() {
  std::vector<SmlaCase> cases;
  for (const auto& group : {LayoutCases(), RowCases(), EdgeCases(), ListCases(), HeadCases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

std::vector<SmlaCase> LongCases() {
  std::vector<SmlaCase> cases;
  cases.push_back(WithOriginalMask(DecodeCase("dense, five chunks", {{2, -1, 4700, 0, 0}}),
                                   MaskMode::kCausal, -1, -1));
  cases.push_back(DecodeCase("CSA, three chunks", {Prefix(1, 9000, 4), Prefix(1, 40, 4)}, 4, 2300));
  cases.back().rules.heads = 20;
  cases.push_back(WithLists(DecodeCase("CSA, chunks of absent keys", {Prefix(2, 9000, 4)}, 4, 2300),
                            ListKind::kNasty, false));
  return cases;
}

}  // namespace sfmla::test
