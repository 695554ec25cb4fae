// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/format.h"
#include "runtime/refusals.h"

namespace sfmla {
namespace {

auto& g_task_groups = *new HandleTable<TaskGroup>(HandleKind::kTaskGroup);

auto& g_graphs = *new HandleTable<Graph>(HandleKind::kGraph);

// How long a replay sleeps when every node it could run waits for an event from outside.
constexpr std::chrono::microseconds kPollInterval{20};

uint32_t NextGraphId() {
  static std::atomic<uint32_t> next{0};
  return next.fetch_add(1);
}

}  // namespace

Graph::Graph(aclrtContext context) : context_(context), id_(NextGraphId()) {}

Graph::~Graph() {
  for (aclrtTaskGrp group : groups_) TaskGroups().Remove(group);
}

std::string Graph::name() const {
  std::lock_guard lock(mutex_);
  return name_;
}

void Graph::SetName(std::string name) {
  std::lock_guard lock(mutex_);
  name_ = std::move(name);
}

std::optional<size_t> Graph::LastOf(int32_t stream_id) const {
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].stream_id == stream_id) return i;
  }
  return std::nullopt;
}

size_t Graph::Append(int32_t stream_id, Task task, std::optional<size_t> after) {
  std::lock_guard lock(mutex_);
  nodes_.push_back(
      {stream_id, LastOf(stream_id), after, std::make_shared<const Task>(std::move(task))});
  return nodes_.size() - 1;
}

bool Graph::EverythingLeadsTo(int32_t stream_id) const {
  std::lock_guard lock(mutex_);
  std::vector<bool> covered(nodes_.size(), false);
  if (const std::optional<size_t> last = LastOf(stream_id)) covered[*last] = true;
  // Nodes only come after earlier ones, so one pass from the end meets every node in time.
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!covered[i]) return false;
    if (nodes_[i].previous) covered[*nodes_[i].previous] = true;
    if (nodes_[i].after) covered[*nodes_[i].after] = true;
  }
  return true;
}

void Graph::Seal() {
  std::lock_guard lock(mutex_);
  sealed_ = true;
}

bool Graph::sealed() const {
  std::lock_guard lock(mutex_);
  return sealed_;
}

std::shared_ptr<const Task> Graph::TaskOf(size_t node) const {
  std::lock_guard lock(mutex_);
  return nodes_[node].task;
}

// A copy: Replace may end the task that the node has now.
std::string Graph::NameOfNode(size_t node) const { return std::string(TaskOf(node)->name); }

// The earliest node that may run; without a task if all that could wait for an event from outside.
// Capture order is one possible order, so without such waits it is the one that is taken.
Graph::Step Graph::NextStep(const std::vector<bool>& done, size_t first, bool skip_work) const {
  const auto is_done = [&](const std::optional<size_t>& node) { return !node || done[*node]; };
  for (size_t i = first; i < nodes_.size(); ++i) {
    if (done[i] || !is_done(nodes_[i].previous) || !is_done(nodes_[i].after)) continue;
    std::shared_ptr<const Task> task = TaskOf(i);
    if (skip_work || !task->is_ready || task->is_ready()) return {i, std::move(task)};
  }
  return {};
}

void Graph::Replay(Stream* stream) {
  std::lock_guard turn(replay_mutex_);
  std::vector<bool> done(nodes_.size(), false);
  size_t first = 0;
  while (first < nodes_.size()) {
    const bool skip_work = stream->SkipsWork();
    const Step step = NextStep(done, first, skip_work);
    if (step.task == nullptr) {
      std::this_thread::sleep_for(kPollInterval);
      continue;
    }
    if (step.task->run && (step.task->kind == Task::Kind::kRecord || !skip_work)) {
      stream->KeepError(RunGuarded(*step.task));
    }
    done[step.node] = true;
    while (first < nodes_.size() && done[first]) ++first;
  }
}

void Graph::Replace(std::span<const size_t> nodes, std::vector<Task> tasks) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes_[nodes[i]].task = std::make_shared<const Task>(std::move(tasks[i]));
  }
}

std::vector<MemoryRange> Graph::Writes() const {
  std::lock_guard lock(mutex_);
  std::vector<MemoryRange> out;
  for (const Node& node : nodes_) {
    out.insert(out.end(), node.task->writes.begin(), node.task->writes.end());
  }
  return out;
}

std::string Graph::Describe() const {
  std::lock_guard lock(mutex_);
  std::string out = Str("graph ", id_, " '", name_, "': ", nodes_.size(), " nodes\n");
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    out += Str("  ", i, ": stream ", node.stream_id, ": ", node.task->name);
    if (node.after) out += Str(" after ", *node.after);
    out += "\n";
  }
  return out;
}

void Graph::AddDestroyCallback(aclrtCallback function, void* user_data) {
  std::lock_guard lock(mutex_);
  destroy_callbacks_.emplace_back(function, user_data);
}

bool Graph::RemoveDestroyCallback(aclrtCallback function) {
  std::lock_guard lock(mutex_);
  return std::erase_if(destroy_callbacks_,
                       [&](const auto& entry) { return entry.first == function; }) > 0;
}

void Graph::RunDestroyCallbacks() {
  decltype(destroy_callbacks_) callbacks;
  {
    std::lock_guard lock(mutex_);
    callbacks.swap(destroy_callbacks_);
  }
  for (const auto& [function, user_data] : callbacks) function(user_data);
}

void Graph::OwnGroup(aclrtTaskGrp group) {
  std::lock_guard lock(mutex_);
  groups_.push_back(group);
}

HandleTable<Graph>& Graphs() { return g_graphs; }

HandleTable<TaskGroup>& TaskGroups() { return g_task_groups; }

Result<std::shared_ptr<Graph>> ResolveGraph(aclmdlRI graph) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("modelRI", graph));
  std::shared_ptr<Graph> found = Graphs().Find(graph);
  if (found == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "modelRI", HandleKind::kGraph, graph);
  }
  return found;
}

namespace {

Status RequireSealed(const Graph& graph) {
  if (graph.sealed()) return Status::Ok();
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                "modelRI: its capture goes on, call aclmdlRICaptureEnd first");
}

}  // namespace

Result<uint64_t> SubmitReplay(const std::shared_ptr<Graph>& graph, Stream* stream) {
  SFMLA_RETURN_IF_ERROR(RequireSealed(*graph));
  if (graph->context() != stream->context()) {
    return Status(ACL_ERROR_RT_MODEL_CONTEXT,
                  "modelRI: captured in another context, must be of the current context");
  }
  if (stream->sink() != nullptr) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "modelRI: a replay cannot be captured or be part of a task group");
  }
  Task replay;
  replay.kind = Task::Kind::kRecord;
  replay.name = "aclmdlRIExecute";
  replay.writes = graph->Writes();
  replay.run = [graph, use = graph->Use(), stream] {
    graph->Replay(stream);
    return Status::Ok();
  };
  return stream->Submit(std::move(replay));
}

Status DestroyGraph(aclmdlRI graph) {
  const Result<std::shared_ptr<Graph>> found = ResolveGraph(graph);
  if (!found.ok()) return found.status();
  SFMLA_RETURN_IF_ERROR(RequireSealed(*found.value()));
  if (found.value()->IsRunning()) {
    return Status(ACL_ERROR_RT_MODEL_RUNNING,
                  "modelRI: a replay is queued or running, synchronise its stream first");
  }
  if (Graphs().Remove(graph) == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "modelRI", HandleKind::kGraph, graph);
  }
  found.value()->RunDestroyCallbacks();
  return Status::Ok();
}

}  // namespace sfmla
