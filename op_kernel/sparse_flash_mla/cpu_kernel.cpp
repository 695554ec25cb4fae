// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/format.h"
#include "base/thread_pool.h"
#include "op_kernel/sparse_flash_mla/row_attention.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"
#include "op_kernel/sparse_flash_mla_metadata/call_digest.h"
#include "op_kernel/sparse_flash_mla_metadata/schedule.h"

namespace sfmla {
namespace {

using namespace smla_operand;

// The first faulty table entry in the order of work, whichever thread met it.
class FaultNote {
 public:
  void Add(const TableFault& fault) {
    std::lock_guard lock(mutex_);
    if (!first_.found || Key(fault) < Key(first_)) first_ = fault;
    found_.store(true, std::memory_order_relaxed);
  }

  // Whether a fault is known that comes before this row: then nobody needs the row any more.
  bool Before(int64_t request, int64_t row) {
    if (!found_.load(std::memory_order_relaxed)) return false;
    std::lock_guard lock(mutex_);
    return std::tie(first_.request, first_.row) < std::tie(request, row);
  }

  Status ToStatus(const SparseFlashMlaTiling& tiling) const {
    if (!first_.found) return Status::Ok();
    const char* name = first_.compressed ? "cmp_block_table" : "ori_block_table";
    const int64_t pages = (first_.compressed ? tiling.cmp : tiling.ori).outer_extent;
    return Status(code::kRtAicoreException,
                  Str(name, "[", first_.request, ", ", first_.column, "]: page ", first_.page,
                      ", must be in [0, ", pages - 1, "] where a row attends to it"));
  }

 private:
  static std::tuple<int64_t, int64_t, bool, int64_t> Key(const TableFault& fault) {
    return {fault.request, fault.row, fault.compressed, fault.column};
  }

  std::mutex mutex_;
  std::atomic<bool> found_{false};
  TableFault first_;
};

class CpuKernel {
 public:
  CpuKernel(const SparseFlashMlaTiling& tiling, const KernelCall& call, const TileKernels& kernels)
      : tiling_(tiling),
        call_(call),
        kernels_(kernels),
        padded_heads_(PadHeads(tiling.rules.heads, kernels.head_alignment)),
        lengths_(Lengths()),
        metadata_(*static_cast<const Metadata*>(call.operands[kMetadata])) {}

  Status Run();

 private:
  template <typename T>
  T* Operand(Slot slot) const {
    return static_cast<T*>(call_.operands[slot]);
  }
  const int32_t* Values(Slot slot) const { return Operand<const int32_t>(slot); }

  LengthTensors Lengths() const;
  AttentionRow RowAt(int64_t request, const RequestLengths& lengths, int64_t row) const;
  ThreadScratch ScratchOf(int thread) const;
  PartialResult SlotAt(int64_t slot) const;
  const SplitRow* FindSplit(int64_t request, int64_t row) const;

  void ZeroRows(int64_t begin, int64_t end) const;
  void ZeroPaddedRows() const;
  void RunCore(const CubeRecord& record, int thread);
  void RunRow(const CubeRecord& record, const RequestLengths& lengths, int64_t request, int64_t row,
              RowAttention* attention);
  void RunSplitChunks(const CubeRecord& record, const SplitRow& split, const AttentionRow& row,
                      RowAttention* attention);
  void AddFault(TableFault fault, int64_t request, int64_t row);
  void FinishSplitRow(const SplitRow& split, int thread) const;
  void Finish(int64_t request, int64_t row, const PartialResult& total,
              const RowAttention& attention) const;

  const SparseFlashMlaTiling& tiling_;
  const KernelCall& call_;
  const TileKernels& kernels_;
  const int64_t padded_heads_;
  const LengthTensors lengths_;
  const Metadata metadata_;  // a copy: device memory may change after the check
  std::vector<SplitRow> splits_;
  FaultNote fault_;
};

LengthTensors CpuKernel::Lengths() const {
  LengthTensors out(tiling_.rules, tiling_.batch);
  out.query_extent = tiling_.query_extent;
  out.ori_extent = tiling_.ori.tokens;
  out.cmp_extent = tiling_.cmp.tokens;
  out.cu_seqlens_q = Values(kCuSeqlensQ);
  out.cu_seqlens_ori_kv = Values(kCuSeqlensOriKv);
  out.cu_seqlens_cmp_kv = Values(kCuSeqlensCmpKv);
  out.seqused_q = Values(kSequsedQ);
  out.seqused_ori_kv = Values(kSequsedOriKv);
  out.seqused_cmp_kv = Values(kSequsedCmpKv);
  out.cmp_residual_kv = Values(kCmpResidualKv);
  return out;
}

ThreadScratch CpuKernel::ScratchOf(int thread) const {
  assert(thread < tiling_.workspace.threads);
  char* base = static_cast<char*>(call_.workspace) + tiling_.workspace.scratch_offset +
               thread * tiling_.workspace.scratch_bytes;
  return ThreadScratch::At(base, padded_heads_);
}

PartialResult CpuKernel::SlotAt(int64_t slot) const {
  char* base = static_cast<char*>(call_.workspace) + tiling_.workspace.split_offset;
  return PartialResultAt(reinterpret_cast<float*>(base) + slot * SplitSlotFloats(padded_heads_),
                         padded_heads_);
}

const SplitRow* CpuKernel::FindSplit(int64_t request, int64_t row) const {
  for (const SplitRow& split : splits_) {
    if (split.request == request && split.row == row) return &split;
  }
  return nullptr;
}

AttentionRow CpuKernel::RowAt(int64_t request, const RequestLengths& lengths, int64_t row) const {
  const AttentionRules& rules = tiling_.rules;
  const int64_t global_row = lengths_.FirstQueryRow(request) + row;
  const RowCandidates candidates = CandidatesOf(rules, lengths, row);
  const auto first_token = [&](const int32_t* prefix_sums) -> int64_t {
    return prefix_sums == nullptr ? 0 : prefix_sums[request];
  };

  AttentionRow out;
  out.q = Operand<const uint16_t>(kQ) + global_row * rules.heads * kHeadDim;
  out.blocks = RowBlocks(candidates, tiling_.block_tokens);
  out.ori.cache =
      RequestCache(tiling_.ori, rules.layout_kv, Operand<const uint16_t>(kOriKv),
                   Values(kOriBlockTable), request, first_token(lengths_.cu_seqlens_ori_kv));
  out.ori.range = candidates.ori_range;
  out.ori.count = candidates.ori_count;
  if (rules.ori_topk > 0) {
    out.ori.indices = Values(kOriSparseIndices) + global_row * rules.ori_topk;
    const int32_t* topk_length = Values(kOriTopkLength);
    EndList(topk_length == nullptr ? nullptr : topk_length + global_row, &out.ori);
  }
  if (!rules.has_cmp) return out;
  out.cmp.compressed = true;
  out.cmp.cache =
      RequestCache(tiling_.cmp, rules.layout_kv, Operand<const uint16_t>(kCmpKv),
                   Values(kCmpBlockTable), request, first_token(lengths_.cu_seqlens_cmp_kv));
  out.cmp.range = {0, candidates.cmp_threshold};
  out.cmp.count = candidates.cmp_count;
  if (rules.cmp_topk > 0) {
    out.cmp.indices = Values(kCmpSparseIndices) + global_row * rules.cmp_topk;
    const int32_t* topk_length = Values(kCmpTopkLength);
    EndList(topk_length == nullptr ? nullptr : topk_length + global_row, &out.cmp);
  }
  return out;
}

void CpuKernel::ZeroRows(int64_t begin, int64_t end) const {
  const int64_t heads = tiling_.rules.heads;
  const int64_t row_elements = heads * kHeadDim;
  std::fill(Operand<uint16_t>(kAttnOut) + begin * row_elements,
            Operand<uint16_t>(kAttnOut) + end * row_elements, uint16_t{0});
  float* lse = Operand<float>(kSoftmaxLse);
  if (lse != nullptr) std::fill(lse + begin * heads, lse + end * heads, 0.0f);
}

// Rows set aside for a request but not used by it, and packed rows behind the last request.
void CpuKernel::ZeroPaddedRows() const {
  int64_t next = 0;
  for (int64_t request = 0; request < tiling_.batch; ++request) {
    const int64_t first = lengths_.FirstQueryRow(request);
    ZeroRows(first + lengths_.At(request).query, first + lengths_.AllottedQueryRows(request));
    next = first + lengths_.AllottedQueryRows(request);
  }
  ZeroRows(next, tiling_.query_rows);
}

void CpuKernel::Finish(int64_t request, int64_t row, const PartialResult& total,
                       const RowAttention& attention) const {
  const int64_t heads = tiling_.rules.heads;
  const int64_t global_row = lengths_.FirstQueryRow(request) + row;
  float* lse = Operand<float>(kSoftmaxLse);
  attention.Finish(total, Operand<const float>(kSinks),
                   Operand<uint16_t>(kAttnOut) + global_row * heads * kHeadDim,
                   lse == nullptr ? nullptr : lse + global_row * heads);
}

void CpuKernel::AddFault(TableFault fault, int64_t request, int64_t row) {
  if (!fault.found) return;
  fault.request = request;
  fault.row = row;
  fault_.Add(fault);
}

// The chunks of a split row that begin within the record.
void CpuKernel::RunSplitChunks(const CubeRecord& record, const SplitRow& split,
                               const AttentionRow& row, RowAttention* attention) {
  const bool starts_here = record.request_start == split.request && record.row_start == split.row;
  const bool ends_here = record.request_end == split.request && record.row_end == split.row;
  TableFault fault;
  for (int64_t chunk = 0; chunk < split.slot_count && !fault.found; ++chunk) {
    const int64_t block = chunk * row.blocks.blocks_per_chunk();
    if (starts_here && block < record.block_start) continue;
    if (ends_here && block >= record.block_end) break;
    attention->RunChunk(row, chunk, SlotAt(split.first_slot + chunk), &fault);
  }
  AddFault(fault, split.request, split.row);
}

void CpuKernel::RunRow(const CubeRecord& record, const RequestLengths& lengths, int64_t request,
                       int64_t row, RowAttention* attention) {
  const SplitRow* split = FindSplit(request, row);
  // A row that is not split belongs to the core that has its first block.
  const bool began_earlier =
      record.request_start == request && record.row_start == row && record.block_start > 0;
  if (split == nullptr && began_earlier) return;

  const AttentionRow attention_row = RowAt(request, lengths, row);
  attention->BeginRow(attention_row);
  if (split != nullptr) return RunSplitChunks(record, *split, attention_row, attention);

  TableFault fault;
  attention->RunRow(attention_row, &fault);
  if (fault.found) return AddFault(fault, request, row);
  Finish(request, row, attention->total(), *attention);
}

void CpuKernel::RunCore(const CubeRecord& record, int thread) {
  RowAttention attention(kernels_, tiling_, ScratchOf(thread));
  for (int64_t request = record.request_start;
       request <= record.request_end && request < tiling_.batch; ++request) {
    const RequestLengths lengths = lengths_.At(request);
    const int64_t begin = request == record.request_start ? record.row_start : 0;
    int64_t end = lengths.query;
    if (request == record.request_end) {
      end = std::min<int64_t>(end, record.row_end + (record.block_end > 0 ? 1 : 0));
    }
    for (int64_t row = begin; row < end && !fault_.Before(request, row); ++row) {
      RunRow(record, lengths, request, row, &attention);
    }
  }
}

void CpuKernel::FinishSplitRow(const SplitRow& split, int thread) const {
  const RowAttention attention(kernels_, tiling_, ScratchOf(thread));
  const PartialResult total = SlotAt(split.first_slot);
  for (int64_t chunk = 1; chunk < split.slot_count; ++chunk) {
    attention.Merge(total, SlotAt(split.first_slot + chunk));
  }
  Finish(split.request, split.row, total, attention);
}

Status CpuKernel::Run() {
  SFMLA_RETURN_IF_ERROR(CheckMetadata(metadata_, DigestOf(tiling_.rules, lengths_)));
  SFMLA_RETURN_IF_ERROR(lengths_.CheckValues(code::kRtAicoreException));
  splits_ = SplitRowsOf(metadata_, tiling_.rules, lengths_, tiling_.block_tokens,
                        tiling_.workspace.split_slots);

  ZeroPaddedRows();
  const auto enabled_end =
      std::find_if(metadata_.cube.begin(), metadata_.cube.end(),
                   [](const CubeRecord& record) { return record.enable == 0; });
  ThreadPool& pool = ProcessThreadPool();
  pool.ParallelFor(enabled_end - metadata_.cube.begin(), [&](int64_t core, int thread) {
    RunCore(metadata_.cube[static_cast<size_t>(core)], thread);
  });
  SFMLA_RETURN_IF_ERROR(fault_.ToStatus(tiling_));
  pool.ParallelFor(static_cast<int64_t>(splits_.size()), [&](int64_t i, int thread) {
    FinishSplitRow(splits_[static_cast<size_t>(i)], thread);
  });
  return Status::Ok();
}

}  // namespace

Status SparseFlashMlaCpuKernel(const KernelCall& call) {
  assert(call.tiling.size() == sizeof(SparseFlashMlaTiling));
  SparseFlashMlaTiling tiling;
  std::memcpy(&tiling, call.tiling.data(), sizeof(tiling));
  const Result<const TileKernels*>& kernels = ProcessTileKernels();
  assert(kernels.ok());  // planning asked for it
  return CpuKernel(tiling, call, *kernels.value()).Run();
}

}  // namespace sfmla
