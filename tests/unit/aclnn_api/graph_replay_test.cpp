// SPDX-License-Identifier: Apache-2.0
// A captured decode step: replays read lengths, tables and queries from device memory.
#include <doctest/doctest.h>

#include <random>

#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

constexpr int64_t kBatch = 3;
constexpr int64_t kHeads = 2;
constexpr int64_t kPages = 12;
constexpr int64_t kBlock = 16;
constexpr int64_t kColumns = 4;

// Window attention of one new row per request over a paged cache: plan, then attend.
struct DecodeStep {
  DecodeStep()
      : q(Noise(kBatch * kHeads * kDim), {kBatch, kHeads, kDim}, ACL_BF16),
        kv(Noise(kPages * kBlock * kDim), {kPages, kBlock, 1, kDim}, ACL_BF16),
        table(std::vector<int32_t>(kBatch * kColumns), {kBatch, kColumns}, ACL_INT32),
        cu_seqlens_q(std::vector<int32_t>{0, 1, 2, 3}, {kBatch + 1}, ACL_INT32),
        lengths(std::vector<int32_t>(kBatch, 1), {kBatch}, ACL_INT32),
        sinks(std::vector<float>(kHeads, 0.5f), {kHeads}, ACL_FLOAT),
        metadata(std::vector<int32_t>(1024), {1024}, ACL_INT32) {}

  std::vector<uint16_t> Noise(int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<uint16_t> out(static_cast<size_t>(count));
    for (uint16_t& value : out) {
      const float number = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      value = static_cast<uint16_t>(bits >> 16);
    }
    return out;
  }

  // New lengths, pages and queries in place.
  void Advance() {
    const auto below = [&](int64_t count) { return static_cast<int32_t>(random() % count); };
    std::vector<int32_t> new_lengths(kBatch);
    std::vector<int32_t> new_table(kBatch * kColumns);
    for (int32_t& tokens : new_lengths) tokens = below(kColumns * kBlock + 1);
    for (int32_t& page : new_table) page = below(kPages);
    Upload(lengths, new_lengths);
    Upload(table, new_table);
    Upload(q, Noise(kBatch * kHeads * kDim));
  }

  template <typename T>
  static void Upload(const DeviceTensor& to, const std::vector<T>& values) {
    const size_t bytes = values.size() * sizeof(T);
    REQUIRE(aclrtMemcpy(to.data(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
  }

  // Both operators on the stream, into `out`, which nobody waits for.
  void Queue(const DeviceTensor& out, std::vector<void*>* workspaces, aclrtStream stream) {
    char tnd[] = "TND";
    char paged[] = "PA_BBND";
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    REQUIRE(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
                cu_seqlens_q.get(), nullptr, nullptr, nullptr, lengths.get(), nullptr, nullptr,
                nullptr, nullptr, kHeads, 1, kDim, kBatch, 0, 0, 0, 0, 0, 1, 4, 0, 127, 0, tnd,
                paged, true, false, metadata.get(), &bytes, &executor) == 0);
    REQUIRE(aclnnSparseFlashMlaMetadata(nullptr, bytes, executor, stream) == 0);
    REQUIRE(aclnnSparseFlashMlaGetWorkspaceSize(
                q.get(), kv.get(), nullptr, nullptr, nullptr, table.get(), nullptr,
                cu_seqlens_q.get(), nullptr, nullptr, nullptr, lengths.get(), nullptr, nullptr,
                nullptr, nullptr, sinks.get(), metadata.get(), 0.044, 1, 4, 0, 127, 0, tnd, paged,
                1, false, out.get(), nullptr, &bytes, &executor) == 0);
    workspaces->push_back(nullptr);
    REQUIRE(aclrtMalloc(&workspaces->back(), bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    REQUIRE(aclnnSparseFlashMla(workspaces->back(), bytes, executor, stream) == 0);
  }

  std::mt19937 random{7};
  DeviceTensor q, kv, table, cu_seqlens_q, lengths, sinks, metadata;
};

}  // namespace

TEST_CASE("operator: every replay of a captured step equals a fresh call") {
  const StreamScope stream;
  DecodeStep step;
  const std::vector<uint16_t> poison(kBatch * kHeads * kDim, 0x7FC1);
  const DeviceTensor replayed(poison, {kBatch, kHeads, kDim}, ACL_BF16);
  const DeviceTensor fresh(poison, {kBatch, kHeads, kDim}, ACL_BF16);
  std::vector<void*> workspaces;
  aclmdlRI graph = nullptr;
  REQUIRE(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == 0);
  step.Queue(replayed, &workspaces, stream.get());
  REQUIRE(aclmdlRICaptureEnd(stream.get(), &graph) == 0);
  CHECK(replayed.Values<uint16_t>() == poison);

  int differences = 0;
  for (int round = 0; round < 1000; ++round) {
    step.Advance();
    REQUIRE(aclmdlRIExecuteAsync(graph, stream.get()) == 0);
    REQUIRE(aclrtSynchronizeStream(stream.get()) == 0);
    step.Queue(fresh, &workspaces, stream.get());
    REQUIRE(aclrtSynchronizeStream(stream.get()) == 0);
    REQUIRE(aclrtFree(workspaces.back()) == 0);
    workspaces.pop_back();
    differences += replayed.Values<uint16_t>() != fresh.Values<uint16_t>();
  }
  CHECK(differences == 0);
  CHECK(aclmdlRIDestroy(graph) == 0);
  for (void* workspace : workspaces) CHECK(aclrtFree(workspace) == 0);
}

}  // namespace sfmla::test
