// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/common/call_digest.h"

#include <cstring>
#include <string>

#include "base/format.h"

namespace sfmla {
namespace {

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

HashedWords HashTensor(const int32_t* values, int64_t count) {
  if (values == nullptr) return {0, 0};
  return HashWords(values, count);
}

std::string LayoutText(uint32_t value, const LengthNames& names) {
  if (value == static_cast<uint32_t>(Layout::kPaged)) return names.paged_layout;
  return value < static_cast<uint32_t>(Layout::kPaged) ? kLayoutNames[value]
                                                       : std::to_string(value);
}

std::string SignedText(uint32_t value, const LengthNames&) {
  return std::to_string(static_cast<int32_t>(value));
}

struct WordField {
  const char* name;
  uint32_t CallDigest::* word;
  std::string (*text)(uint32_t, const LengthNames&);
};

constexpr WordField kWordFields[] = {
    {"layout_q", &CallDigest::layout_q, LayoutText},
    {"layout_kv", &CallDigest::layout_kv, LayoutText},
    {"num_heads_q", &CallDigest::heads, SignedText},
    {"head_dim", &CallDigest::head_dim, SignedText},
    {"batch_size", &CallDigest::batch, SignedText},
    {"has_ori_kv", &CallDigest::has_ori_kv, SignedText},
    {"has_cmp_kv", &CallDigest::has_cmp_kv, SignedText},
    {"cmp_ratio", &CallDigest::cmp_ratio, SignedText},
    {"ori_topk", &CallDigest::ori_topk, SignedText},
    {"cmp_topk", &CallDigest::cmp_topk, SignedText},
    {"ori_mask_mode", &CallDigest::ori_mask_mode, SignedText},
    {"cmp_mask_mode", &CallDigest::cmp_mask_mode, SignedText},
    {"ori_win_left", &CallDigest::window_left, SignedText},
    {"ori_win_right", &CallDigest::window_right, SignedText},
};

Status TensorMismatch(const char* name, bool planned_with, bool called_with) {
  if (planned_with && called_with) {
    return MetadataMismatch(Str("was built for other values of ", name, " than this call has"));
  }
  return MetadataMismatch(Str("was built ", planned_with ? "with " : "without ", name,
                              ", this call is made ", called_with ? "with" : "without", " it"));
}

Status CompareTensors(const CallDigest& plan, const CallDigest& call, const LengthNames& names) {
  struct TensorField {
    const char* name;
    HashedWords CallDigest::* hash;
  };
  const TensorField fields[] = {
      {names.cu_seqlens_q, &CallDigest::cu_seqlens_q},
      {names.cu_seqlens_ori_kv, &CallDigest::cu_seqlens_ori_kv},
      {"cu_seqlens_cmp_kv", &CallDigest::cu_seqlens_cmp_kv},
      {names.seqused_q, &CallDigest::seqused_q},
      {names.seqused_ori_kv, &CallDigest::seqused_ori_kv},
      {"seqused_cmp_kv", &CallDigest::seqused_cmp_kv},
      {"cmp_residual_kv", &CallDigest::cmp_residual_kv},
  };
  constexpr HashedWords kAbsent = {0, 0};
  for (const TensorField& field : fields) {
    const HashedWords& planned = plan.*field.hash;
    const HashedWords& called = call.*field.hash;
    if (planned != called) return TensorMismatch(field.name, planned != kAbsent, called != kAbsent);
  }
  return Status::Ok();
}

}  // namespace

HashedWords HashWords(const void* words, int64_t count) {
  uint64_t hash = Mix(0x5346'4D4C'41u, static_cast<uint64_t>(count));
  const auto* bytes = static_cast<const unsigned char*>(words);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + i * 4, 4);
    hash = Mix(hash, word);
  }
  return {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32) | 1u};
}

CallDigest DigestOf(const AttentionRules& rules, const LengthTensors& lengths) {
  CallDigest out{};
  out.layout_q = static_cast<uint32_t>(rules.layout_q);
  out.layout_kv = static_cast<uint32_t>(rules.layout_kv);
  out.heads = static_cast<uint32_t>(rules.heads);
  out.head_dim = kHeadDim;
  out.ori_mask_mode = static_cast<uint32_t>(rules.ori_mask);
  out.cmp_mask_mode = static_cast<uint32_t>(rules.cmp_mask);
  out.window_left = static_cast<uint32_t>(rules.window_left);
  out.window_right = static_cast<uint32_t>(rules.window_right);
  out.cmp_ratio = static_cast<uint32_t>(rules.cmp_ratio);
  out.ori_topk = static_cast<uint32_t>(rules.ori_topk);
  out.cmp_topk = static_cast<uint32_t>(rules.cmp_topk);
  out.has_ori_kv = rules.has_ori;
  out.has_cmp_kv = rules.has_cmp;
  out.batch = static_cast<uint32_t>(lengths.batch);
  out.cu_seqlens_q = HashTensor(lengths.cu_seqlens_q, lengths.batch + 1);
  out.cu_seqlens_ori_kv = HashTensor(lengths.cu_seqlens_ori_kv, lengths.batch + 1);
  out.cu_seqlens_cmp_kv = HashTensor(lengths.cu_seqlens_cmp_kv, lengths.batch + 1);
  out.seqused_q = HashTensor(lengths.seqused_q, lengths.batch);
  out.seqused_ori_kv = HashTensor(lengths.seqused_ori_kv, lengths.batch);
  out.seqused_cmp_kv = HashTensor(lengths.seqused_cmp_kv, lengths.batch);
  out.cmp_residual_kv = HashTensor(lengths.cmp_residual_kv, lengths.batch);
  return out;
}

Status MetadataMismatch(const std::string& text) {
  return Status(code::kRtAicpuException, "metadata: " + text);
}

Status CompareDigests(const CallDigest& plan, const CallDigest& call, const LengthNames& names) {
  for (const WordField& field : kWordFields) {
    const uint32_t planned = plan.*field.word;
    const uint32_t called = call.*field.word;
    if (planned != called) {
      return MetadataMismatch(Str("was built for ", field.name, " ", field.text(planned, names),
                                  ", this call has ", field.text(called, names)));
    }
  }
  return CompareTensors(plan, call, names);
}

}  // namespace sfmla
