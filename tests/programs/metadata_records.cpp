// SPDX-License-Identifier: Apache-2.0
// SparseFlashMlaMetadata alone: plans a prefill and a decoding step (BSND, HCA) and prints the 36
// records of the cube cores and the 72 records of the vector cores of each.
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "example_common.h"

namespace {

constexpr int64_t kWords = 1024, kHeads = 64, kWidth = 512, kRatio = 128;
constexpr size_t kCubeCores = 36, kCubeWords = 9, kVectorCores = 72, kVectorWords = 8;
const char* const kCubeFields[kCubeWords] = {
    "enable",    "bn2_start", "m_start", "s2_start",
    "bn2_end",   "m_end",     "s2_end",  "first_fd_workspace_idx",
    "s2_max_num"};
const char* const kVectorFields[kVectorWords] = {
    "enable", "bn2_idx", "m_idx", "workspace_idx", "workspace_num", "m_start", "m_num", "unused"};

struct Step {
  const char* name;
  int64_t requests, rows, ori_tokens, ori_mask_mode;
};

void PrintRecord(const char* step, const char* kind, size_t core, const uint32_t* words,
                 const char* const* fields, size_t count) {
  LOG_PRINT("%s %s core %zu:", step, kind, core);
  for (size_t i = 0; i < count; ++i) LOG_PRINT(" %s %u", fields[i], words[i]);
  LOG_PRINT("\n");
}

void PrintOutResult(const char* step, const uint32_t* words) {
  for (size_t core = 0; core < kCubeCores; ++core, words += kCubeWords) {
    PrintRecord(step, "cube", core, words, kCubeFields, kCubeWords);
  }
  for (size_t core = 0; core < kVectorCores; ++core, words += kVectorWords) {
    PrintRecord(step, "vector", core, words, kVectorFields, kVectorWords);
  }
}

int Plan(Session* session, const Step& step) {
  aclTensor *cmp_residual_kv = nullptr, *metadata = nullptr;
  CHECK_CALL(CreateAclTensor(session, std::vector<int32_t>(step.requests, 0), {step.requests},
                             ACL_INT32, &cmp_residual_kv));
  // Without strides: packed.
  void *device_words = nullptr, *host_words = nullptr;
  const size_t bytes = kWords * aclDataTypeSize(ACL_INT32);
  CHECK_CALL(aclrtMalloc(&device_words, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  session->device_addresses.push_back(device_words);
  metadata =
      aclCreateTensor(&kWords, 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, &kWords, 1, device_words);
  CHECK_RET(metadata != nullptr, return ACL_ERROR_FAILURE);
  session->tensors.push_back(metadata);

  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_CALL(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, cmp_residual_kv, nullptr, nullptr,
      kHeads, 1, kWidth, step.requests, step.rows, step.ori_tokens, step.ori_tokens / kRatio, 0, 0,
      kRatio, step.ori_mask_mode, 3, 127, 0, "BSND", "BSND", true, true, metadata, &workspace_bytes,
      &executor));
  CHECK_CALL(RunAndWait(aclnnSparseFlashMlaMetadata, workspace_bytes, executor, session->stream));

  CHECK_CALL(aclrtMallocHost(&host_words, bytes));
  CHECK_CALL(aclrtMemcpy(host_words, bytes, device_words, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  PrintOutResult(step.name, static_cast<const uint32_t*>(host_words));
  CHECK_CALL(aclrtFreeHost(host_words));
  return ACL_SUCCESS;
}

int Run() {
  Session session;
  CHECK_CALL(Init(&session));
  CHECK_CALL(Plan(&session, {"prefill", 4, 1024, 1024, 4}));
  // Few rows with many tokens: rows are split, and vector cores merge the parts.
  CHECK_CALL(Plan(&session, {"decode", 2, 1, 8192, 3}));
  return Finalize(&session);
}

}  // namespace

int main() { return Run() == ACL_SUCCESS ? 0 : 1; }
