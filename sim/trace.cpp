// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.h"

#include <ostream>

#include "sim/fault.h"

namespace sfmla::sim {

namespace {

// Names of APIs, cores and source files hold nothing that JSON needs escaped but these.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Perfetto takes thread 0, and the thread with the number of its process, for the main thread, and
// would draw that pipe into another one: ids are positive, and no two of them the same.
void WriteIds(std::ostream& out, int core, int pipe) {
  const int process = core + 1;
  out << R"("pid":)" << process << R"(,"tid":)" << 10 * process + pipe + 1;
}

void WriteName(std::ostream& out, const char* kind, size_t core, int pipe,
               const std::string& name) {
  out << R"({"ph":"M","name":")" << kind << "\",";
  WriteIds(out, static_cast<int>(core), pipe);
  out << R"(,"args":{"name":)" << Quoted(name) << "}},\n";
}

}  // namespace

void ChromeTrace::NameCore(int core, const std::string& label) {
  if (labels_.size() <= static_cast<size_t>(core)) labels_.resize(static_cast<size_t>(core) + 1);
  labels_[static_cast<size_t>(core)] = label;
}

void ChromeTrace::Write(std::ostream& out) const {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (size_t core = 0; core < labels_.size(); ++core) {
    WriteName(out, "process_name", core, 0, labels_[core]);
    for (int pipe = 0; pipe < kPipes; ++pipe) {
      WriteName(out, "thread_name", core, pipe, PipeName(static_cast<Pipe>(pipe)));
    }
  }
  const char* separator = "";
  for (const TraceEvent& event : events_) {
    out << separator << R"({"ph":"X","name":)" << Quoted(event.name) << ',';
    WriteIds(out, event.core, static_cast<int>(event.pipe));
    out << R"(,"ts":)" << event.begin_ticks << R"(,"dur":)" << event.end_ticks - event.begin_ticks
        << R"(,"args":{"site":)" << Quoted(SiteText(event.where)) << "}}";
    separator = ",\n";
  }
  // A trailing comma after the names would be no JSON.
  if (events_.empty()) out << R"({"ph":"M","name":"process_labels","pid":1,"tid":11,"args":{}})";
  out << "\n]}\n";
}

}  // namespace sfmla::sim
