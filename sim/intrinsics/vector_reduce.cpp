// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/vector_reduce.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/contracts/vector_reduce.h"

namespace sfmla::sim {
namespace {

using AscendC::ReduceOrder;

// The active elements of one result's inputs, with their numbers in the round.
template <typename T>
struct Group {
  std::vector<T> values;
  std::vector<int64_t> lanes;
  std::vector<bool> active;
};

// Adds neighbours until one is left; what has no active element stays out.
template <typename T>
T TreeSum(Group<T> group) {
  while (group.values.size() > 1) {
    const size_t half_size = (group.values.size() + 1) / 2;
    for (size_t i = 0; i < half_size; ++i) {
      const size_t left = 2 * i;
      const size_t right = left + 1;
      const bool both = right < group.values.size() && group.active[left] && group.active[right];
      if (both) {
        group.values[i] =
            T(static_cast<float>(group.values[left]) + static_cast<float>(group.values[right]));
        group.active[i] = true;
      } else {
        const bool takes_right = right < group.values.size() && group.active[right];
        group.values[i] = group.values[takes_right ? right : left];
        group.active[i] = group.active[takes_right ? right : left];
      }
    }
    group.values.resize(half_size);
    group.active.resize(half_size);
  }
  return group.values[0];
}

// Position in the group of the first extreme among the active elements; -1 without any.
template <typename T>
int64_t FirstExtreme(const Group<T>& group, Reduction reduction) {
  int64_t best = -1;
  for (size_t i = 0; i < group.values.size(); ++i) {
    if (!group.active[i]) continue;
    const auto value = static_cast<float>(group.values[i]);
    const auto found = best < 0 ? 0.0f : static_cast<float>(group.values[best]);
    const bool beats = reduction == Reduction::kMax ? value > found : value < found;
    if (best < 0 || beats || (value != value && found == found)) best = static_cast<int64_t>(i);
  }
  return best;
}

template <typename T>
void StoreExtreme(std::byte* dst, T value, int64_t index, ReduceOrder order) {
  const auto index_bits = static_cast<uint32_t>(index);
  const auto store_index = [&](std::byte* to, size_t bytes) {
    std::memcpy(to, &index_bits, bytes);  // little endian: the low bytes are the number
  };
  switch (order) {
    case ReduceOrder::ORDER_VALUE_INDEX:
      std::memcpy(dst, &value, sizeof(T));
      return store_index(dst + sizeof(T), sizeof(T));
    case ReduceOrder::ORDER_INDEX_VALUE:
      store_index(dst, sizeof(T));
      std::memcpy(dst + sizeof(T), &value, sizeof(T));
      return;
    case ReduceOrder::ORDER_ONLY_VALUE:
      std::memcpy(dst, &value, sizeof(T));
      return;
    case ReduceOrder::ORDER_ONLY_INDEX:
      return store_index(dst, sizeof(uint32_t));
  }
}

template <typename T>
Group<T> GroupOf(const LaneOperand<const T>& src, const Lanes& lanes, int64_t repeat, int64_t first,
                 int64_t count) {
  Group<T> group;
  for (int64_t lane = first; lane < first + count; ++lane) {
    const bool active = lanes.MaskOf(repeat).Has(lane);
    group.values.push_back(active ? *src.At(repeat, lane) : T(0.0f));
    group.lanes.push_back(lane);
    group.active.push_back(active);
  }
  return group;
}

bool AnyActive(const std::vector<bool>& active) {
  return std::find(active.begin(), active.end(), true) != active.end();
}

Access ResultAccess(const Operand& dst, const Lanes& lanes, const ReducePlan& plan) {
  Access write{.space = dst.space, .kind = Access::Kind::kWrite, .operand = "dst"};
  write.begin = dst.begin;
  write.run_bytes = static_cast<uint64_t>(RoundResultBytes(plan));
  write.inner_count = static_cast<uint32_t>(lanes.repeats);
  write.inner_stride = RoundPitchBytes(plan);
  return write;
}

}  // namespace

int64_t RoundResultBytes(const ReducePlan& plan) {
  const int64_t results = kRepeatBytes / plan.element_bytes / plan.group;
  switch (plan.order) {
    case ReduceOrder::ORDER_ONLY_VALUE:
      return results * plan.element_bytes;
    case ReduceOrder::ORDER_ONLY_INDEX:
      return int64_t{sizeof(uint32_t)};
    default:
      return 2 * plan.element_bytes;
  }
}

int64_t RoundPitchBytes(const ReducePlan& plan) {
  return plan.dst_repeat_stride * RoundResultBytes(plan);
}

template <typename T>
void Reduce(std::byte* dst, const T* src, const Lanes& lanes, const ReducePlan& plan,
            const std::function<void(int64_t)>& undefined) {
  const LaneOperand<const T> elements{src, {plan.src_block_stride, plan.src_repeat_stride}};
  for (int64_t repeat = 0; repeat < lanes.repeats; ++repeat) {
    for (int64_t first = 0; first < lanes.per_repeat; first += plan.group) {
      const Group<T> group = GroupOf(elements, lanes, repeat, first, plan.group);
      const int64_t offset =
          repeat * RoundPitchBytes(plan) + first / plan.group * plan.element_bytes;
      if (!AnyActive(group.active)) {
        undefined(offset);
      } else if (plan.reduction == Reduction::kSum) {
        const T sum = TreeSum(group);
        std::memcpy(dst + offset, &sum, sizeof(T));
      } else {
        const int64_t at = FirstExtreme(group, plan.reduction);
        StoreExtreme(dst + offset, group.values[at], group.lanes[at], plan.order);
      }
    }
  }
}

template void Reduce<half>(std::byte*, const half*, const Lanes&, const ReducePlan&,
                           const std::function<void(int64_t)>&);
template void Reduce<float>(std::byte*, const float*, const Lanes&, const ReducePlan&,
                            const std::function<void(int64_t)>&);

void IssueReduce(const Call& call, const LaneChoice& choice, const Operand& dst, const Operand& src,
                 const ReducePlan& plan, bool is_half) {
  CheckReduce(call, plan, choice.repeats);
  const Lanes lanes = ResolveLanes(call, choice, plan.element_bytes);
  if (lanes.repeats == 0) return;
  const VectorArgument read{{"src", src},
                            Access::Kind::kRead,
                            plan.element_bytes,
                            {plan.src_block_stride, plan.src_repeat_stride}};
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {ResultAccess(dst, lanes, plan)};
  AppendFootprint(read, lanes, &instruction.accesses);
  Core& core = CurrentCore();
  if (core.checks()) {
    CheckReduceOperands(call, {"dst", dst}, {"src", src}, plan, instruction.accesses);
  }
  Memory& memory = core.memory(dst.space);
  instruction.execute = [=, &memory] {
    const auto undefined = [&](int64_t offset) {
      memory.MarkUnwritten(dst.begin + static_cast<uint64_t>(offset),
                           static_cast<uint64_t>(plan.element_bytes));
    };
    if (is_half) {
      Reduce(dst.host, reinterpret_cast<const half*>(src.host), lanes, plan, undefined);
    } else {
      Reduce(dst.host, reinterpret_cast<const float*>(src.host), lanes, plan, undefined);
    }
  };
  instruction.ticks = static_cast<uint32_t>(lanes.repeats);
  core.Issue(std::move(instruction));
}

}  // namespace sfmla::sim
