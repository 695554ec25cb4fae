// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_attn_sharedkv_metadata/partition.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "op_kernel/common/schedule.h"

namespace sfmla {
namespace {

constexpr int64_t kTileTokens = 512;

// Cost of something that one core does without a break.
struct UnitCost {
  int64_t total = 0;
  int64_t last_tile = 0;  // the part of it that comes last
};

void AddTiles(int64_t pairs, int64_t tokens, UnitCost* cost) {
  if (tokens <= 0) return;
  const int64_t tail = (tokens - 1) % kTileTokens + 1;
  cost->last_tile = BlockCost(pairs, tail);
  cost->total += (tokens - tail) / kTileTokens * BlockCost(pairs, kTileTokens) + cost->last_tile;
}

// The row blocks of one request and what they cost.
class RequestCosts {
 public:
  RequestCosts(const AttentionRules& rules, const RequestLengths& lengths)
      : rules_(rules),
        tokens_(lengths.ori),
        rows_(std::min(lengths.query, lengths.ori)),
        pairs_per_block_(SharedKvPairsPerBlock(rules)) {}

  int64_t blocks() const { return CeilDiv(rows_ * rules_.heads, pairs_per_block_); }

  // Long lists under many heads have a cost formula of their own, fitted to a device upstream.
  bool fitted() const {
    constexpr int64_t kFittedHeads = 128, kFittedTopk = 1024;
    if (!rules_.has_cmp || rules_.heads != kFittedHeads || rules_.cmp_topk != kFittedTopk) {
      return false;
    }
    return rows_ >= tokens_ || tokens_ - rows_ + 1 < rules_.cmp_topk * rules_.cmp_ratio;
  }

  UnitCost At(int64_t block) const {
    const int64_t first_pair = block * pairs_per_block_;
    const int64_t end_pair = std::min(first_pair + pairs_per_block_, rows_ * rules_.heads);
    const TokenRange window = Window(first_pair / rules_.heads, (end_pair - 1) / rules_.heads);
    UnitCost cost;
    AddTiles(end_pair - first_pair, window.size(), &cost);
    AddTiles(end_pair - first_pair, CompressedTokens(window.end), &cost);
    if (fitted()) cost.total = FittedTotal(window.end);
    return cost;
  }

 private:
  // Tokens that any of the rows sees. The published cost knows no right window.
  TokenRange Window(int64_t first_row, int64_t last_row) const {
    if (rules_.ori_mask == MaskMode::kNone) return {0, tokens_};
    const bool unlimited =
        rules_.ori_mask == MaskMode::kCausal || rules_.window_left == kUnlimitedWindow;
    const int64_t first_position = tokens_ - rows_ + first_row;
    const int64_t begin = unlimited ? 0 : first_position - rules_.window_left;
    return {std::max<int64_t>(begin, 0), tokens_ - rows_ + last_row + 1};
  }

  int64_t CompressedTokens(int64_t window_end) const {
    if (!rules_.has_cmp) return 0;
    const int64_t groups = window_end / rules_.cmp_ratio;
    return rules_.cmp_topk > 0 ? std::min(groups, rules_.cmp_topk) : groups;
  }

  int64_t FittedTotal(int64_t window_end) const {
    const int64_t full_list_tokens = rules_.cmp_topk * rules_.cmp_ratio;
    const int64_t tokens = std::min(full_list_tokens, window_end);
    const int64_t cost = 15 * CeilDiv(pairs_per_block_, 16) + 5 * CeilDiv(tokens, 64);
    if (tokens == full_list_tokens) return cost - cost / 21;
    if (tokens < 2048) return cost - cost / 18;
    return tokens > 2048 && tokens < 3392 ? cost + cost / 7 : cost;
  }

  const AttentionRules& rules_;
  int64_t tokens_;
  int64_t rows_;  // that have a place in the sequence
  int64_t pairs_per_block_;
};

// One core being filled.
struct Load {
  int64_t limit = 0;
  int64_t used = 0;

  // The last tile may stick out by half; a unit with a fitted cost by a fifth.
  bool HasRoomFor(const UnitCost& unit, bool fitted) const {
    if (fitted) return 5 * (limit - used) > 4 * unit.total;
    return limit + unit.last_tile / 2 >= used + unit.total;
  }
};

class Partition {
 public:
  Partition(const AttentionRules& rules, const LengthTensors& lengths)
      : rules_(rules), lengths_(lengths), left_of_request_(static_cast<size_t>(lengths.batch)) {
    for (int64_t request = 0; request < lengths.batch; ++request) Measure(request);
  }

  SharedKvCubeRecords Run(int64_t cores) {
    SharedKvCubeRecords out{};
    if (left_ == 0) {
      request_ = lengths_.batch;
      Close({}, &out[0]);
    }
    for (int64_t core = 0; left_ > 0; ++core) {
      const SharedKvCubeRecord start = Position();
      Load load{std::max(left_ / (cores - core), largest_block_)};
      TakeRequests(&load);
      TakeBlocks(&load);
      left_ -= load.used;
      Close(start, &out[static_cast<size_t>(core)]);
    }
    return out;
  }

 private:
  void Measure(int64_t request) {
    const RequestCosts costs(rules_, lengths_.At(request));
    UnitCost& sum = left_of_request_[static_cast<size_t>(request)];
    for (int64_t block = 0; block < costs.blocks(); ++block) {
      const UnitCost cost = costs.At(block);
      sum = {sum.total + cost.total, cost.last_tile};
      largest_block_ = std::max(largest_block_, cost.total);
    }
    left_ += sum.total;
  }

  void TakeRequests(Load* load) {
    for (; request_ < lengths_.batch; ++request_, block_ = 0) {
      const UnitCost& rest = left_of_request_[static_cast<size_t>(request_)];
      const bool fitted = RequestCosts(rules_, lengths_.At(request_)).fitted();
      if (rest.total > 0 && !load->HasRoomFor(rest, fitted)) return;
      load->used += rest.total;
    }
  }

  // Never the last block of a request: with it TakeRequests would have taken the rest.
  void TakeBlocks(Load* load) {
    if (request_ == lengths_.batch) return;
    const RequestCosts costs(rules_, lengths_.At(request_));
    for (UnitCost cost = costs.At(block_); load->HasRoomFor(cost, costs.fitted());
         cost = costs.At(block_)) {
      load->used += cost.total;
      left_of_request_[static_cast<size_t>(request_)].total -= cost.total;
      ++block_;
    }
  }

  SharedKvCubeRecord Position() const {
    SharedKvCubeRecord out{};
    out.request_start = static_cast<uint32_t>(request_);
    out.row_block_start = static_cast<uint32_t>(block_);
    return out;
  }

  void Close(const SharedKvCubeRecord& start, SharedKvCubeRecord* out) const {
    *out = start;
    out->enable = 1;
    out->request_end = static_cast<uint32_t>(request_);
    out->row_block_end = static_cast<uint32_t>(block_);
  }

  const AttentionRules& rules_;
  const LengthTensors& lengths_;
  std::vector<UnitCost> left_of_request_;
  int64_t left_ = 0;
  int64_t largest_block_ = 0;
  int64_t request_ = 0;
  int64_t block_ = 0;
};

}  // namespace

SharedKvCubeRecords PartitionSharedKv(const AttentionRules& rules, const LengthTensors& lengths,
                                      int64_t cube_cores) {
  return Partition(rules, lengths).Run(cube_cores);
}

}  // namespace sfmla
