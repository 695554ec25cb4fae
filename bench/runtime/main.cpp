// SPDX-License-Identifier: Apache-2.0
// sfmla_runtime_bench [calls] [phase-one] [replay] [soak]: what the runtime costs; all without
// arguments. Tables in Markdown; docs/performance.md says what was found.
#include <cstdio>
#include <cstring>

#include "decode_step.h"
#include "measurements.h"

namespace {

struct Part {
  const char* name;
  void (*measure)();
};

constexpr Part kParts[] = {{"calls", sfmla::bench::MeasureCalls},
                           {"phase-one", sfmla::bench::MeasurePhaseOne},
                           {"replay", sfmla::bench::MeasureReplay},
                           {"soak", sfmla::bench::MeasureSoak}};

const Part* Find(const char* name) {
  for (const Part& part : kParts) {
    if (std::strcmp(part.name, name) == 0) return &part;
  }
  return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (Find(arguments[i]) != nullptr) continue;
    std::fprintf(stderr, "%s: must be calls, phase-one, replay or soak\n", arguments[i]);
    return 2;
  }
  sfmla::bench::Must(aclrtSetDevice(0), "aclrtSetDevice");
  for (const Part& part : kParts) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted = wanted || Find(arguments[i]) == &part;
    if (wanted) part.measure();
  }
  sfmla::bench::Must(aclrtResetDevice(0), "aclrtResetDevice");
}
