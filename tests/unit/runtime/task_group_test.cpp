// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <utility>

#include "graph_case.h"
#include "scale_case.h"

namespace sfmla::test {
namespace {

struct GroupCase : ScaleCase {
  // Queues an update after which the operator of the group reads `from`.
  void UpdateInput(int32_t* from, aclrtStream updates, aclrtTaskGrp group) const {
    CHECK(aclSetRawTensorAddr(in_tensor, from) == ACLNN_SUCCESS);
    CHECK(aclmdlRICaptureTaskUpdateBegin(updates, group) == ACL_SUCCESS);
    CHECK(Run(NewExecutor(MakeLaunch()), updates) == ACLNN_SUCCESS);
    CHECK(aclmdlRICaptureTaskUpdateEnd(updates) == ACL_SUCCESS);
  }
};

}  // namespace

TEST_CASE_FIXTURE(GroupCase, "a task group takes new arguments for its operators") {
  OwnedStream stream;
  OwnedStream updates;
  aclrtTaskGrp group = nullptr;
  constexpr int32_t kOrder = ACL_ERROR_STREAM_TASK_GROUP_STATUS;
  CheckRefusal(aclmdlRICaptureTaskGrpBegin(stream.handle), ACL_ERROR_RT_STREAM_NOT_CAPTURED,
               {"not captured"});
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskGrpEnd(stream.handle, &group), kOrder, {"no task group"});
  CHECK(aclmdlRICaptureTaskGrpBegin(stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskGrpBegin(stream.handle), kOrder, {"do not nest"});
  CHECK(Run(NewExecutor(MakeLaunch()), stream.handle) == ACLNN_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpEnd(stream.handle, &group) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(stream.handle, group), ACL_ERROR_RT_STREAM_CAPTURED,
               {"captured"});
  aclmdlRI graph = EndOf(stream.handle);

  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, nullptr), ACL_ERROR_RT_PARAM_INVALID,
               {"handle"});
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), kOrder, {"UpdateBegin"});
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates.handle, group) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, group), kOrder, {"already"});
  CheckRefusal(aclrtMemsetAsync(in, 4, 0, 4, updates.handle),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP, {"aclrtMemsetAsync"});
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), ACL_ERROR_RT_INTERNAL_ERROR,
               {"0", "1"});
  Replay(graph, stream.handle);
  CheckScaled(in);

  UpdateInput(other, updates.handle, group);
  CHECK(aclrtSynchronizeStream(updates.handle) == ACL_SUCCESS);
  Replay(graph, stream.handle);
  CheckScaled(other);

  Launch renamed = MakeLaunch();
  renamed.op_name = "aclnnOther";
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates.handle, group) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(std::move(renamed)), updates.handle, nullptr, 0, "aclnnOther") == 0);
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), ACL_ERROR_RT_INTERNAL_ERROR,
               {"aclnnOther", "aclnnScale"});
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, group), ACL_ERROR_RT_PARAM_INVALID,
               {"handle", "destroyed"});
}

TEST_CASE_FIXTURE(GroupCase, "updates that follow each other without a wait all take effect") {
  OwnedStream stream;
  OwnedStream updates;
  aclrtTaskGrp group = nullptr;
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpBegin(stream.handle) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch()), stream.handle) == ACLNN_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpEnd(stream.handle, &group) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(stream.handle);
  for (int i = 1; i <= 200; ++i) {
    UpdateInput(i % 2 == 0 ? other : in, updates.handle, group);
  }
  CHECK(aclrtSynchronizeStream(updates.handle) == ACL_SUCCESS);
  Replay(graph, stream.handle);
  CheckScaled(other);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "an open task group ends the capture in failure") {
  OwnedStream stream;
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpBegin(stream.handle) == ACL_SUCCESS);
  CheckEndRefused(stream.handle, ACL_ERROR_STREAM_TASK_GROUP_STATUS, {"task group"});
}

}  // namespace sfmla::test
