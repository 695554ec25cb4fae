// SPDX-License-Identifier: Apache-2.0
// A paged, packed call of SparseFlashMla and its planner, or of SparseAttnSharedkv and its, through
// the C interface, for tests of the whole path.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_sparse_attn_sharedkv.h"
#include "aclnnop/aclnn_sparse_attn_sharedkv_metadata.h"
#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"

namespace sfmla::test {

// Device memory with a descriptor on it.
class DeviceTensor {
 public:
  template <typename T>
  DeviceTensor(const std::vector<T>& values, std::vector<int64_t> dims, aclDataType dtype)
      : bytes_(values.size() * sizeof(T)) {
    if (bytes_ > 0) {
      REQUIRE(aclrtMalloc(&data_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
      std::memcpy(data_, values.data(), bytes_);
    }
    tensor_ = aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                              dims.data(), dims.size(), data_);
    REQUIRE(tensor_ != nullptr);
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;
  ~DeviceTensor() {
    aclDestroyTensor(tensor_);
    if (data_ != nullptr) aclrtFree(data_);
  }

  const aclTensor* get() const { return tensor_; }
  void* data() const { return data_; }
  template <typename T>
  std::vector<T> Values() const {
    std::vector<T> out(bytes_ / sizeof(T));
    if (bytes_ > 0) std::memcpy(out.data(), data_, bytes_);
    return out;
  }

 private:
  size_t bytes_;
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

// The device made current, and a stream.
class StreamScope {
 public:
  StreamScope() {
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    REQUIRE(aclrtCreateStream(&stream_) == ACL_SUCCESS);
  }
  ~StreamScope() {
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
  }
  aclrtStream get() const { return stream_; }
  // Code of the synchronise, with the recent error text.
  aclError Synchronize(std::string* text = nullptr) const {
    const aclError code = aclrtSynchronizeStream(stream_);
    const char* message = aclGetRecentErrMsg();
    if (text != nullptr) *text = message == nullptr ? "" : message;
    return code;
  }

 private:
  aclrtStream stream_ = nullptr;
};

// Phase two with a workspace that lives until the stream has passed it; the code and text of the
// synchronise.
aclError RunPhaseTwo(decltype(&aclnnSparseFlashMla) phase_two, uint64_t workspace_bytes,
                     aclOpExecutor* executor, const StreamScope& stream, std::string* text);

constexpr int64_t kDim = 512;

// Host arrays of one call: TND queries, paged caches, CSA when cmp_indices is not empty.
struct OperatorCall {
  int64_t heads = 4;
  int64_t ori_block = 16;
  int64_t cmp_block = 8;
  int64_t ori_pages = 32;
  int64_t cmp_pages = 16;
  int64_t columns = 8;
  int64_t topk = 8;
  int64_t cmp_ratio = 4;
  bool has_cmp = true;
  std::vector<int32_t> cu_seqlens_q{0};
  std::vector<int32_t> seqused_ori_kv, seqused_cmp_kv, cmp_residual_kv;
  std::vector<int32_t> ori_table, cmp_table, cmp_indices;
  std::vector<uint16_t> q, ori_kv, cmp_kv;
  std::vector<float> sinks;
  std::vector<int32_t> metadata = std::vector<int32_t>(1024, 0x7f7f7f7f);

  int64_t batch() const { return static_cast<int64_t>(cu_seqlens_q.size()) - 1; }
  int64_t rows = 0;  // of q; may be more than the prefix sums cover
};

// Requests of (query rows, original tokens) with shuffled pages and random data.
OperatorCall MakeCall(const std::vector<std::pair<int32_t, int32_t>>& requests, uint32_t seed,
                      bool zero_query = false);

struct OperatorResult {
  aclError plan_code = 0;
  aclError code = 0;  // of the synchronise after the main operator
  std::string text;
  std::vector<uint16_t> out;
  std::vector<float> lse;
  std::vector<int32_t> metadata;
};

struct CallOptions {
  bool plan = true;  // false: use call.metadata as it is
};

OperatorResult Run(const OperatorCall& call, const StreamScope& stream, CallOptions options = {});

// The same call of SparseAttnSharedkv, which has the lengths of the compressed cache from those of
// the original one. seqused_q too if there is one.
struct SharedKvOptions {
  bool plan = true;
  bool dense = false;  // all groups instead of the list
  int64_t window_right = 0;
  int64_t ori_stride = 0;  // attributes
  int64_t cmp_stride = 0;
  std::vector<int32_t> seqused_q = {};
};
OperatorResult RunSharedKv(const OperatorCall& call, const StreamScope& stream,
                           const SharedKvOptions& options = {});

}  // namespace sfmla::test
