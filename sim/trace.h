// SPDX-License-Identifier: Apache-2.0
// What ran when, in program time: every instruction takes its ticks on its pipe, and begins when
// it was issued, its pipe is free and what it waited for has happened.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/pipe.h"
#include "sim/source_location.h"

namespace sfmla::sim {

struct TraceEvent {
  int core = 0;  // CoreInfo::index
  Pipe pipe = Pipe::kS;
  const char* name = "";  // of the API
  SourceLocation where;
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void NameCore(int core, const std::string& label) = 0;
  virtual void Add(const TraceEvent& event) = 0;
};

// Keeps all events and writes them as a trace that Perfetto and chrome://tracing open: a process
// per core, a track per pipe, one tick shown as one microsecond.
class ChromeTrace : public TraceSink {
 public:
  void NameCore(int core, const std::string& label) override;
  void Add(const TraceEvent& event) override { events_.push_back(event); }
  void Write(std::ostream& out) const;
  const std::vector<TraceEvent>& events() const { return events_; }

 private:
  std::vector<std::string> labels_;
  std::vector<TraceEvent> events_;
};

}  // namespace sfmla::sim
