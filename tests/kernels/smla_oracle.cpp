// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/smla_oracle.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace sfmla::test {
namespace {

struct KeyRow {
  const uint16_t* elements;
};

std::vector<KeyRow> KeysOf(const SmlaCall& call, const SmlaRow& row) {
  std::vector<KeyRow> keys;
  for (const bool compressed : {false, true}) {
    if (compressed && !call.call().rules.has_cmp) continue;
    const auto& pool = compressed ? call.inputs().cmp_kv : call.inputs().ori_kv;
    for (const int token : call.Attended(row, compressed)) {
      keys.push_back({pool.data() + call.TokenOffset(row.request, compressed, token)});
    }
  }
  return keys;
}

// Softmax with a sink over all keys at once.
void ExpectHead(const SmlaCall& call, const std::vector<KeyRow>& keys, const uint16_t* query,
                double sink, double* out, double* lse) {
  std::vector<double> scores;
  double max = sink;
  for (const KeyRow& key : keys) {
    double score = 0;
    for (int64_t i = 0; i < kHeadDim; ++i) {
      score += call.Widen(query[i]) * call.Widen(key.elements[i]);
    }
    scores.push_back(score * kSoftmaxScale);
    max = std::max(max, scores.back());
  }
  *lse = max;
  if (std::isinf(max)) return;  // an infinite sink takes everything
  double sum = std::exp(sink - max);
  for (const double score : scores) sum += std::exp(score - max);
  for (size_t k = 0; k < keys.size(); ++k) {
    const double weight = std::exp(scores[k] - max) / sum;
    for (int64_t i = 0; i < kHeadDim; ++i) out[i] += weight * call.Widen(keys[k].elements[i]);
  }
  *lse = max + std::log(sum);
}

// Rounding of probabilities and outputs to the 16-bit type, with room for the order of sums.
double Tolerance(const SmlaCall& call) { return call.call().is_bfloat16 ? 8e-3 : 1e-3; }

std::string HeadDifference(const SmlaCall& call, const uint16_t* found, const double* expected) {
  double largest = 0;
  for (int64_t i = 0; i < kHeadDim; ++i) largest = std::max(largest, std::fabs(expected[i]));
  for (int64_t i = 0; i < kHeadDim; ++i) {
    const double value = call.Widen(found[i]);
    if (std::isfinite(value) && std::fabs(value - expected[i]) <= Tolerance(call) * largest) {
      continue;
    }
    return Str("element ", i, ": ", value, ", expected ", expected[i]);
  }
  return "";
}

}  // namespace

SmlaExpected Expected(const SmlaCall& call) {
  SmlaExpected result;
  const auto heads = static_cast<size_t>(call.heads());
  result.out.assign(static_cast<size_t>(call.query_rows()) * heads * kHeadDim, 0.0);
  result.lse.assign(static_cast<size_t>(call.query_rows()) * heads, 0.0);
  for (const SmlaRow& row : call.UsedRows()) {
    const std::vector<KeyRow> keys = KeysOf(call, row);
    if (keys.empty()) continue;
    for (size_t head = 0; head < heads; ++head) {
      const size_t at = static_cast<size_t>(row.global_row) * heads + head;
      const auto& sinks = call.inputs().sinks;
      ExpectHead(call, keys, call.inputs().q.data() + at * kHeadDim,
                 sinks.empty() ? -INFINITY : double{sinks[head]}, result.out.data() + at * kHeadDim,
                 &result.lse[at]);
    }
  }
  return result;
}

std::string Difference(const SmlaCall& call, const std::vector<uint16_t>& out,
                       const std::vector<float>& lse) {
  const SmlaExpected expected = Expected(call);
  const auto heads = static_cast<size_t>(call.heads());
  for (size_t at = 0; at < expected.lse.size(); ++at) {
    const std::string where = Str("row ", at / heads, ", head ", at % heads, ", ");
    const std::string of_head =
        HeadDifference(call, out.data() + at * kHeadDim, expected.out.data() + at * kHeadDim);
    if (!of_head.empty()) return where + of_head;
    if (!call.call().returns_lse) continue;
    const double wanted = expected.lse[at];
    const bool fits = std::isinf(wanted)
                          ? lse[at] == wanted
                          : std::fabs(lse[at] - wanted) <= 2e-5 * std::max(1.0, std::fabs(wanted));
    if (!fits) return Str(where, "LSE: ", lse[at], ", expected ", wanted);
  }
  return "";
}

}  // namespace sfmla::test
