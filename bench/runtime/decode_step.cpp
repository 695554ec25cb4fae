// SPDX-License-Identifier: Apache-2.0
#include "decode_step.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"

namespace sfmla::bench {
namespace {

constexpr int64_t kWidth = 512;
constexpr int64_t kPageTokens = 128;
constexpr int64_t kRatio = 4;
constexpr double kScale = 0.044194173824159216;  // 1 / sqrt(512)
constexpr int64_t kWindowMask = 4, kCausalMask = 3, kWindowLeft = 127;

char g_packed[] = "TND";
char g_paged[] = "PA_BBND";

int64_t PagesFor(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

std::vector<int32_t> Filled(int64_t count, int64_t value) {
  return std::vector<int32_t>(static_cast<size_t>(count), static_cast<int32_t>(value));
}

std::vector<int32_t> Ascending(int64_t count) {
  std::vector<int32_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

void Must(int32_t code, const char* call) {
  if (code == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\n", call, code, text == nullptr ? "" : text);
  std::exit(1);
}

DeviceMemory::DeviceMemory(size_t bytes) {
  if (bytes == 0) return;
  Must(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Must(aclrtMemset(data_, bytes, 0, bytes), "aclrtMemset");
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)) {}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) Must(aclrtFree(data_), "aclrtFree");
}

aclTensor* DecodeStep::Tensor(std::vector<int64_t> dims, aclDataType dtype) {
  size_t bytes = aclDataTypeSize(dtype);
  for (const int64_t extent : dims) bytes *= static_cast<size_t>(extent);
  memory_.emplace_back(bytes);
  aclTensor* tensor = aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                      dims.data(), dims.size(), memory_.back().data());
  if (tensor == nullptr) Must(-1, "aclCreateTensor");
  tensors_.push_back(tensor);
  return tensor;
}

aclTensor* DecodeStep::Tensor(std::vector<int64_t> dims, const std::vector<int32_t>& values) {
  aclTensor* tensor = Tensor(std::move(dims), ACL_INT32);
  const size_t bytes = values.size() * sizeof(int32_t);
  Must(aclrtMemcpy(memory_.back().data(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
       "aclrtMemcpy");
  return tensor;
}

DecodeStep::DecodeStep(StepShape shape) : shape_(shape) {
  const auto [batch, heads, context, listed] = shape;
  const int64_t pages = PagesFor(context);
  const int64_t cmp_tokens = context / kRatio;
  const int64_t cmp_pages = PagesFor(cmp_tokens);
  q_ = Tensor({batch, heads, kWidth}, ACL_BF16);
  ori_kv_ = Tensor({batch * pages, kPageTokens, 1, kWidth}, ACL_BF16);
  cmp_kv_ = Tensor({batch * cmp_pages, kPageTokens, 1, kWidth}, ACL_BF16);
  ori_list_ = Tensor({batch, 1, listed}, ACL_INT32);
  cmp_list_ = Tensor({batch, 1, listed}, ACL_INT32);
  ori_table_ = Tensor({batch, pages}, Ascending(batch * pages));
  cmp_table_ = Tensor({batch, cmp_pages}, Ascending(batch * cmp_pages));
  cu_seqlens_q_ = Tensor({batch + 1}, Ascending(batch + 1));
  seqused_q_ = Tensor({batch}, Filled(batch, 1));
  seqused_ori_kv_ = Tensor({batch}, Filled(batch, context));
  seqused_cmp_kv_ = Tensor({batch}, Filled(batch, cmp_tokens));
  cmp_residual_kv_ = Tensor({batch}, Filled(batch, context % kRatio));
  ori_topk_length_ = Tensor({batch, 1}, Filled(batch, listed));
  cmp_topk_length_ = Tensor({batch, 1}, Filled(batch, listed));
  sinks_ = Tensor({heads}, ACL_FLOAT);
  metadata_ = Tensor({1024}, ACL_INT32);
  out_ = Tensor({batch, heads, kWidth}, ACL_BF16);
  lse_ = Tensor({1, batch, heads}, ACL_FLOAT);
}

DecodeStep::~DecodeStep() {
  for (aclTensor* tensor : tensors_) Must(aclDestroyTensor(tensor), "aclDestroyTensor");
}

Prepared DecodeStep::PreparePlan() const {
  Prepared out;
  Must(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
           cu_seqlens_q_, nullptr, nullptr, nullptr, seqused_ori_kv_, seqused_cmp_kv_,
           cmp_residual_kv_, nullptr, nullptr, shape_.heads, 1, kWidth, shape_.batch, 0, 0, 0, 0,
           shape_.listed_tokens, kRatio, kWindowMask, kCausalMask, kWindowLeft, 0, g_packed,
           g_paged, true, true, metadata_, &out.workspace_bytes, &out.executor),
       "phase one of the plan");
  return out;
}

Prepared DecodeStep::PrepareAttention() const {
  Prepared out;
  Must(aclnnSparseFlashMlaGetWorkspaceSize(
           q_, ori_kv_, cmp_kv_, nullptr, cmp_list_, ori_table_, cmp_table_, cu_seqlens_q_, nullptr,
           nullptr, nullptr, seqused_ori_kv_, seqused_cmp_kv_, cmp_residual_kv_, nullptr, nullptr,
           sinks_, metadata_, kScale, kRatio, kWindowMask, kCausalMask, kWindowLeft, 0, g_packed,
           g_paged, 1, false, out_, nullptr, &out.workspace_bytes, &out.executor),
       "phase one of attention");
  return out;
}

Prepared DecodeStep::PrepareWithAllTensors() const {
  Prepared out;
  Must(aclnnSparseFlashMlaGetWorkspaceSize(
           q_, ori_kv_, cmp_kv_, ori_list_, cmp_list_, ori_table_, cmp_table_, cu_seqlens_q_,
           nullptr, nullptr, seqused_q_, seqused_ori_kv_, seqused_cmp_kv_, cmp_residual_kv_,
           ori_topk_length_, cmp_topk_length_, sinks_, metadata_, kScale, kRatio, kWindowMask,
           kCausalMask, kWindowLeft, 0, g_packed, g_paged, 1, true, out_, lse_,
           &out.workspace_bytes, &out.executor),
       "phase one with all tensors");
  return out;
}

void DecodeStep::QueuePlan(aclrtStream stream) const {
  const Prepared plan = PreparePlan();
  Must(aclnnSparseFlashMlaMetadata(nullptr, plan.workspace_bytes, plan.executor, stream),
       "phase two of the plan");
}

void DecodeStep::QueueAttention(void* workspace, aclrtStream stream) const {
  const Prepared attention = PrepareAttention();
  Must(aclnnSparseFlashMla(workspace, attention.workspace_bytes, attention.executor, stream),
       "phase two of attention");
}

}  // namespace sfmla::bench
