// SPDX-License-Identifier: Apache-2.0
// A captured graph: tasks by value in the order in which they were captured, with the edges that
// events made between streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/handle_table.h"
#include "runtime/stream.h"

namespace sfmla {

class Graph {
 public:
  explicit Graph(aclrtContext context);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  aclrtContext context() const { return context_; }
  uint32_t id() const { return id_; }
  std::string name() const;
  void SetName(std::string name);

  // Building, before Seal: a node of one captured stream, which comes after the last one of that
  // stream and, if given, after the node `after`. A task without `run` is an edge only.
  size_t Append(int32_t stream_id, Task task, std::optional<size_t> after);
  // Whether the last node of `stream_id` comes after every node, directly or through others.
  bool EverythingLeadsTo(int32_t stream_id) const;
  void Seal();
  bool sealed() const;

  // Runs every node once, after all nodes it comes after, on the worker of `stream`, which keeps
  // the errors and decides what they skip. Replays of one graph take turns.
  void Replay(Stream* stream);

  // While the result lives the graph counts as running.
  std::shared_ptr<void> Use() const { return use_; }
  bool IsRunning() const { return use_.use_count() > 1; }

  // Puts new tasks into nodes; a replay that has not reached them runs the new ones.
  void Replace(std::span<const size_t> nodes, std::vector<Task> tasks);
  std::string NameOfNode(size_t node) const;

  // What a replay may write; empty unless tasks say what they write.
  std::vector<MemoryRange> Writes() const;

  // One line per node, for a reader.
  std::string Describe() const;

  // Called by aclmdlRIDestroy, in the order of registration.
  void AddDestroyCallback(aclrtCallback function, void* user_data);
  // False if it was not registered.
  bool RemoveDestroyCallback(aclrtCallback function);
  void RunDestroyCallbacks();

  // Handles of task groups, which end with the graph.
  void OwnGroup(aclrtTaskGrp group);

 private:
  struct Node {
    int32_t stream_id = 0;
    std::optional<size_t> previous;  // of the same stream
    std::optional<size_t> after;
    std::shared_ptr<const Task> task;
  };

  struct Step {
    size_t node = 0;
    std::shared_ptr<const Task> task;
  };

  std::shared_ptr<const Task> TaskOf(size_t node) const;
  std::optional<size_t> LastOf(int32_t stream_id) const;
  Step NextStep(const std::vector<bool>& done, size_t first, bool skip_work) const;

  const aclrtContext context_;
  const uint32_t id_;
  const std::shared_ptr<int> use_ = std::make_shared<int>();
  std::mutex replay_mutex_;  // one replay at a time

  mutable std::mutex mutex_;  // guards what follows; never held while a task runs
  std::vector<Node> nodes_;   // only the tasks change after Seal
  bool sealed_ = false;
  std::string name_;
  std::vector<std::pair<aclrtCallback, void*>> destroy_callbacks_;
  std::vector<aclrtTaskGrp> groups_;
};

HandleTable<Graph>& Graphs();

// The graph behind a handle. 100000: NULL; 107000: not a live graph.
Result<std::shared_ptr<Graph>> ResolveGraph(aclmdlRI graph);

// Queues a replay on a stream of the graph's context. 107004: of another context; 107000: still
// captured; 207000: the stream is captured itself.
Result<uint64_t> SubmitReplay(const std::shared_ptr<Graph>& graph, Stream* stream);

// 107037: it is running; 107000: still captured, or not a live graph.
Status DestroyGraph(aclmdlRI graph);

// Nodes of a graph that can be given new tasks together.
struct TaskGroup {
  std::weak_ptr<Graph> graph;
  std::vector<size_t> nodes;
};

HandleTable<TaskGroup>& TaskGroups();

}  // namespace sfmla
