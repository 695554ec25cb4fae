// SPDX-License-Identifier: Apache-2.0
#include "sim/fault.h"

#include <string_view>

#include "base/format.h"
#include "sim/active_core.h"

namespace sfmla::sim {

namespace {

thread_local Core* current_core = nullptr;

}  // namespace

ActiveCore::ActiveCore(Core* core) : previous_(current_core) { current_core = core; }

ActiveCore::~ActiveCore() { current_core = previous_; }

Core* CurrentCoreOrNull() { return current_core; }

Core& CurrentCore() {
  if (current_core == nullptr) throw SimFault("kernel code ran outside of a launch");
  return *current_core;
}

std::string SiteText(const SourceLocation& where) {
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return Str(file, ":", where.line());
}

void Fault(Pipe pipe, const char* intrinsic, const SourceLocation& where,
           const std::string& reason) {
  const std::string core = current_core == nullptr ? "" : current_core->info().label + " ";
  throw SimFault(Str(core, PipeName(pipe), " ", intrinsic, " at ", SiteText(where), ": ", reason));
}

}  // namespace sfmla::sim
