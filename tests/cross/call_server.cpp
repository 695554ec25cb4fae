// SPDX-License-Identifier: Apache-2.0
// Executes the operator calls that arrive on standard input, one after the other, through the
// public C interface, and answers each on standard output; ends with the input. The format is in
// messages.h. Exit status 1, and a line on standard error, for what is no call.
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "acl/acl.h"
#include "aclnnop/aclnn_sparse_attn_sharedkv.h"
#include "aclnnop/aclnn_sparse_attn_sharedkv_metadata.h"
#include "aclnnop/aclnn_sparse_flash_attention.h"
#include "aclnnop/aclnn_sparse_flash_attention_v2.h"
#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "messages.h"

namespace sfmla::cross {
namespace {

using Arguments = std::vector<Argument>;
using PhaseOne = std::function<aclnnStatus(Arguments&, uint64_t*, aclOpExecutor**)>;
using PhaseTwo = decltype(&aclnnSparseFlashMla);

template <typename T>
T As(Argument& argument) {
  if constexpr (std::is_same_v<T, char*> || std::is_same_v<T, const char*>) {
    return std::get<std::string>(argument).data();
  } else {
    return std::get<T>(argument);
  }
}

template <typename... Parameters, size_t... place>
aclnnStatus Apply(aclnnStatus (*function)(Parameters...), Arguments& arguments, uint64_t* bytes,
                  aclOpExecutor** executor, std::index_sequence<place...>) {
  using Types = std::tuple<Parameters...>;
  if (arguments.size() != sizeof...(place)) throw std::runtime_error("wrong number of arguments");
  return function(As<std::tuple_element_t<place, Types>>(arguments[place])..., bytes, executor);
}

// Phase one with its arguments from a message; the signature says which types they must have.
template <typename... Parameters>
PhaseOne FromMessage(aclnnStatus (*function)(Parameters...)) {
  return [function](Arguments& arguments, uint64_t* bytes, aclOpExecutor** executor) {
    return Apply(function, arguments, bytes, executor,
                 std::make_index_sequence<sizeof...(Parameters) - 2>());
  };
}

struct Operator {
  PhaseOne phase_one;
  PhaseTwo phase_two;
};

const std::map<std::string, Operator>& Operators() {
  static const std::map<std::string, Operator> operators = {
      {"aclnnSparseFlashMla",
       {FromMessage(aclnnSparseFlashMlaGetWorkspaceSize), aclnnSparseFlashMla}},
      {"aclnnSparseFlashMlaMetadata",
       {FromMessage(aclnnSparseFlashMlaMetadataGetWorkspaceSize), aclnnSparseFlashMlaMetadata}},
      {"aclnnSparseAttnSharedkv",
       {FromMessage(aclnnSparseAttnSharedkvGetWorkspaceSize), aclnnSparseAttnSharedkv}},
      {"aclnnSparseAttnSharedkvMetadata",
       {FromMessage(aclnnSparseAttnSharedkvMetadataGetWorkspaceSize),
        aclnnSparseAttnSharedkvMetadata}},
      {"aclnnSparseFlashAttention",
       {FromMessage(aclnnSparseFlashAttentionGetWorkspaceSize), aclnnSparseFlashAttention}},
      {"aclnnSparseFlashAttentionV2",
       {FromMessage(aclnnSparseFlashAttentionV2GetWorkspaceSize), aclnnSparseFlashAttentionV2}},
  };
  return operators;
}

Answer Execute(Call* call, aclrtStream stream) {
  const Operator& op = Operators().at(call->name);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  aclError code = op.phase_one(call->arguments, &bytes, &executor);
  if (code != 0) return {code, call->name + "GetWorkspaceSize", RecentReport()};
  // Workspace that a kernel reads before it writes it spoils the result.
  const Memory workspace(std::string(bytes, '\xff'));
  code = op.phase_two(workspace.data(), bytes, executor, stream);
  if (code != 0) return {code, call->name, RecentReport()};
  code = aclrtSynchronizeStream(stream);
  if (code != 0) return {code, "aclrtSynchronizeStream", RecentReport()};
  return {};
}

void Serve() {
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) {
    throw std::runtime_error(RecentReport());
  }
  Memories kept;
  for (;;) {
    Call call;
    if (!ReadCall(&kept, &call)) break;
    WriteAnswer(Execute(&call, stream), call.results);
  }
  kept.clear();
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
}

}  // namespace
}  // namespace sfmla::cross

int main() {
  try {
    sfmla::cross::Serve();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "call server: %s\n", error.what());
    return 1;
  }
}
