// SPDX-License-Identifier: Apache-2.0
#include "runtime/task_group.h"

#include <mutex>
#include <utility>

#include "base/format.h"
#include "runtime/capture.h"
#include "runtime/graph.h"
#include "runtime/refusals.h"

namespace sfmla {
namespace {

class GroupUpdate final : public TaskSink {
 public:
  explicit GroupUpdate(std::shared_ptr<TaskGroup> group) : group_(std::move(group)) {}

  Status Take(const Stream&, Task task) override {
    if (task.kind != Task::Kind::kOperator) {
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP,
                    Str(task.name, ": cannot be part of a task group update, operators only"));
    }
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    return Status::Ok();
  }

  std::vector<Task> TakeTasks() {
    std::lock_guard lock(mutex_);
    return std::exchange(tasks_, {});
  }

  const std::shared_ptr<TaskGroup>& group() const { return group_; }

 private:
  const std::shared_ptr<TaskGroup> group_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
};

Status CheckSameOperators(const Graph& graph, const std::vector<size_t>& nodes,
                          const std::vector<Task>& tasks) {
  if (nodes.size() != tasks.size()) {
    return Status(ACL_ERROR_RT_INTERNAL_ERROR,
                  Str("task group: ", tasks.size(), " operators were queued, must be ",
                      nodes.size(), " as in the capture"));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (graph.NameOfNode(nodes[i]) == tasks[i].name) continue;
    return Status(ACL_ERROR_RT_INTERNAL_ERROR,
                  Str("task group: operator ", i, " is ", tasks[i].name, ", must be ",
                      graph.NameOfNode(nodes[i]), " as in the capture"));
  }
  return Status::Ok();
}

}  // namespace

Status BeginGroupUpdate(Stream* stream, aclrtTaskGrp group) {
  std::shared_ptr<TaskGroup> found = TaskGroups().Find(group);
  if (found == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "handle", HandleKind::kTaskGroup, group);
  }
  SFMLA_RETURN_IF_ERROR(RefuseIfCaptured(*stream, "update a task group on it"));
  if (stream->Divert(std::make_shared<GroupUpdate>(std::move(found)))) return Status::Ok();
  return Status(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                "stream: a task group is being updated on it already");
}

Status EndGroupUpdate(Stream* stream) {
  const auto update = std::dynamic_pointer_cast<GroupUpdate>(stream->sink());
  if (update == nullptr) {
    return Status(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "stream: no task group is being updated on it, call "
                  "aclmdlRICaptureTaskUpdateBegin first");
  }
  stream->EndDiversion(update.get());
  const std::shared_ptr<Graph> graph = update->group()->graph.lock();
  if (graph == nullptr) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, "task group: its graph was destroyed");
  }
  std::vector<Task> tasks = update->TakeTasks();
  SFMLA_RETURN_IF_ERROR(CheckSameOperators(*graph, update->group()->nodes, tasks));
  Task replace;
  replace.kind = Task::Kind::kRecord;  // skipped, a later replay would run with old arguments
  replace.name = "aclmdlRICaptureTaskUpdateEnd";
  replace.run = [group = update->group(), tasks = std::move(tasks)] {
    if (const std::shared_ptr<Graph> live = group->graph.lock()) live->Replace(group->nodes, tasks);
    return Status::Ok();
  };
  return stream->Submit(std::move(replace)).status();
}

}  // namespace sfmla
