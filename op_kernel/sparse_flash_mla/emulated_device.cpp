// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/emulated_device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/settings.h"
#include "op_kernel/arch/dav_2201/limits.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/sparse_flash_mla/emulated_kernel.h"
#include "op_kernel/sparse_flash_mla/length_operands.h"
#include "op_kernel/sparse_flash_mla/operand_names.h"
#include "op_kernel/sparse_flash_mla_metadata/check_metadata.h"
#include "sim/launch.h"
#include "sim/trace.h"

namespace sfmla {
namespace {

using namespace smla_operand;
using sim::GmRange;

bool IsOutput(int slot) { return slot == kAttnOut || slot == kSoftmaxLse; }

uintptr_t EndOf(const GmRange& range) {
  return reinterpret_cast<uintptr_t>(range.address) + range.bytes;
}

// Views of one allocation may overlap, as two caches in shared pages do: they become one range.
std::vector<GmRange> Merged(std::vector<GmRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const GmRange& a, const GmRange& b) { return a.address < b.address; });
  std::vector<GmRange> out;
  for (GmRange& range : ranges) {
    if (out.empty() || EndOf(out.back()) <= reinterpret_cast<uintptr_t>(range.address)) {
      out.push_back(std::move(range));
      continue;
    }
    GmRange& last = out.back();
    const uintptr_t begin = reinterpret_cast<uintptr_t>(last.address);
    last.bytes = std::max(EndOf(last), EndOf(range)) - begin;
    last.name += Str(" and ", range.name);
    if (last.kind != range.kind) last.kind = GmRange::Kind::kInOut;
  }
  return out;
}

std::vector<GmRange> RangesOf(const KernelCall& call, AttentionDeviceTiling* tiling) {
  std::vector<GmRange> out;
  for (int slot = 0; slot < kCount; ++slot) {
    const auto i = static_cast<size_t>(slot);
    if (call.operand_bytes[i] == 0) continue;
    const auto kind = IsOutput(slot) ? GmRange::Kind::kOutput : GmRange::Kind::kInput;
    out.push_back({kSparseFlashMlaOperandNames[i], call.operands[i], call.operand_bytes[i], kind});
  }
  const DeviceWorkspace& workspace = tiling->workspace;
  out.push_back({"workspace", static_cast<char*>(call.workspace) + workspace.scores,
                 static_cast<uint64_t>(workspace.bytes - workspace.scores),
                 GmRange::Kind::kWorkspace});
  out.push_back({"tiling", tiling, sizeof(*tiling), GmRange::Kind::kInput});
  return Merged(std::move(out));
}

sim::LaunchConfig ConfigOf(const AttentionDeviceTiling& tiling, sim::TraceSink* trace) {
  const EmulatorSettings& settings = ProcessSettings()->emulator;
  sim::LaunchConfig out;
  out.groups = static_cast<int>(tiling.workspace.groups);
  out.seed = settings.seed;
  out.checks = settings.checks;
  out.ub_limit_bytes = dav_2201::kUbBytes;
  out.tiling_key = tiling.call.is_bfloat16 ? kBfloat16TilingKey : kFloat16TilingKey;
  if (!settings.trace_file.empty()) out.trace = trace;
  return out;
}

Status WriteTrace(const sim::ChromeTrace& trace) {
  const std::string& file = ProcessSettings()->emulator.trace_file;
  if (file.empty()) return Status::Ok();
  std::ofstream out(file);
  trace.Write(out);
  if (out.flush()) return Status::Ok();
  return Status(code::kRtAicpuException,
                Str("environment variable SFMLA_SIM_TRACE: '", file, "' cannot be written"));
}

}  // namespace

Status SparseFlashMlaEmulatedKernel(const KernelCall& call) {
  auto tiling = ReadTiling<AttentionDeviceTiling>(call);
  const KernelOperands operands(call);
  LengthTensors lengths = LengthTensorsOf(tiling.call);
  SetLengths(operands, &lengths);
  SFMLA_RETURN_IF_ERROR(
      CheckMetadata(*operands.At<const Metadata>(kMetadata), DigestOf(tiling.call.rules, lengths)));
  SFMLA_RETURN_IF_ERROR(lengths.CheckValues(code::kRtAicoreException));

  sim::ChromeTrace trace;
  const sim::LaunchResult result = sim::LaunchKernel(
      ConfigOf(tiling, &trace),
      [&] { RunSparseFlashMlaKernel(call.operands, call.workspace, &tiling); },
      RangesOf(call, &tiling));
  SFMLA_RETURN_IF_ERROR(WriteTrace(trace));
  return result.ok() ? Status::Ok() : Status(code::kRtAicoreException, result.fault);
}

}  // namespace sfmla
