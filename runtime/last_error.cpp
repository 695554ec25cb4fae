// SPDX-License-Identifier: Apache-2.0
#include "runtime/last_error.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/fork.h"
#include "base/format.h"
#include "runtime/fork_order.h"

namespace sfmla {
namespace {

// A client that never reads its errors must not grow the list.
constexpr size_t kMaxPendingReports = 16;
constexpr const char* kNoMemoryForText =
    "EH0010 Resource_Error(EH0010): host memory: none left for the error text";

struct ThreadReports {
  std::deque<std::string> pending;  // newest first
  std::string taken;                // what TakeReports returned last
};

// The pointer outlives its reaper: functions called while a thread or the process ends, after
// thread-local destructors ran, make a new (then leaked) list instead of touching a dead one.
thread_local ThreadReports* t_reports = nullptr;
thread_local bool t_text_lost = false;

struct Reaper {
  ~Reaper() {
    delete t_reports;
    t_reports = nullptr;
  }
};

ThreadReports& OwnReports() {
  if (t_reports == nullptr) {
    static thread_local Reaper reaper;
    (void)reaper;
    t_reports = new ThreadReports;
  }
  return *t_reports;
}

struct SharedReports {
  ForkMutex mutex{fork_order::kErrorText};
  std::deque<std::string> pending;  // newest first
};

std::atomic<bool> g_shared{false};

// localtime_r takes a lock of the C library that a fork leaves as it is.
auto& g_calendar_mutex = *new ForkMutex(fork_order::kErrorText);

auto& g_common_reports = *new SharedReports;

struct ReportKind {
  const char* code;
  const char* title;
};

ReportKind OperatorReportKind(int32_t code, Subject subject) {
  if (subject == Subject::kWorkspaceSize) return {"EZ1010", "Invalid_Argument"};
  if (code == 161001 || code == 561103) return {"EZ1011", "Invalid_Argument_Null_Pointer"};
  if (code == 161002) return {"EZ1001", "AclNN_Parameter_Error"};
  if (code == 361001) return {"EZ9903", "AclNN_Runtime_Error"};
  return {"EZ9999", "AclNN_Inner_Error"};
}

ReportKind RuntimeReportKind(int32_t code, Subject subject) {
  if (subject == Subject::kNullArgument) return {"EE1004", "Invalid_Argument"};
  if (code == 107002 || code == 107003) return {"EE1010", "Invalid_Argument"};
  if (code / 1000 == 107) return {"EE1011", "Invalid_Argument"};
  if (code == 207000) return {"EE1005", "Not_Supported"};
  if (code / 1000 == 207) return {"EE1013", "Resource_Error"};
  if (code == 507046 || code == 507047) return {"EE1002", "Timeout"};
  if (code == 507910 || code == 507911) return {"EE1011", "Invalid_Argument"};
  return {"EE9999", "Inner_Error"};
}

ReportKind AclReportKind(int32_t code, Subject subject) {
  if (subject == Subject::kNullArgument) return {"EH0008", "Invalid_Argument"};
  if (code == 100000) return {"EH0001", "Invalid_Argument"};
  if (code == 100003) return {"EH0003", "Invalid_Argument"};
  if (code == 100006) return {"EH0004", "Invalid_Argument"};
  if (code / 1000 == 100) return {"EH0012", "Invalid_Argument"};
  if (code == 200000) return {"EH0010", "Resource_Error"};
  if (code / 1000 == 200) return {"EH0006", "Not_Supported"};
  return {"EH9999", "Inner_Error"};
}

// By the last three digits of the class: x00xxx acl layer, x07xxx runtime, x61xxx operators.
ReportKind ReportKindOf(int32_t code, Subject subject) {
  const int layer = code / 1000 % 100;
  if (layer == 61) return OperatorReportKind(code, subject);
  if (layer == 7) return RuntimeReportKind(code, subject);
  return AclReportKind(code, subject);
}

std::string Timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  {
    std::lock_guard lock(g_calendar_mutex);
    localtime_r(&now.tv_sec, &local);
  }
  std::array<char, 40> day{};
  std::array<char, 64> out{};
  std::strftime(day.data(), day.size(), "%Y-%m-%d-%H:%M:%S", &local);
  std::snprintf(out.data(), out.size(), "%s.%03ld.%03ld", day.data(), now.tv_nsec / 1000000,
                now.tv_nsec / 1000 % 1000);
  return out.data();
}

std::string FormatReport(const char* api, ReportKind kind, std::string_view text) {
  return Str(kind.code, "[PID: ", getpid(), "] ", Timestamp(), " ", kind.title, "(", kind.code,
             "): ", text, "\n        TraceBack (most recent call last):\n        ", api, "\n");
}

void Push(std::deque<std::string>* pending, std::string report) {
  pending->push_front(std::move(report));
  if (pending->size() > kMaxPendingReports) pending->pop_back();
}

void Record(const char* api, ReportKind kind, std::string_view text) {
  std::string report = FormatReport(api, kind, text);
  if (g_shared.load(std::memory_order_relaxed)) {
    std::lock_guard lock(g_common_reports.mutex);
    Push(&g_common_reports.pending, std::move(report));
  } else {
    Push(&OwnReports().pending, std::move(report));
  }
}

std::deque<std::string> TakePending() {
  if (!g_shared.load(std::memory_order_relaxed)) return std::exchange(OwnReports().pending, {});
  std::lock_guard lock(g_common_reports.mutex);
  return std::exchange(g_common_reports.pending, {});
}

}  // namespace

int32_t Report(const char* api, const Status& status) {
  if (!status.ok()) {
    Record(api, ReportKindOf(status.code(), status.subject()), status.text());
  }
  return status.code();
}

int32_t ReportException(const char* api, int32_t code, const char* what) noexcept {
  try {
    Record(api, ReportKindOf(code, Subject::kOther), what);
  } catch (...) {
    t_text_lost = true;
  }
  return code;
}

const char* TakeReports() noexcept {
  if (std::exchange(t_text_lost, false)) return kNoMemoryForText;
  try {
    const std::deque<std::string> pending = TakePending();
    if (pending.empty()) return nullptr;
    std::string& text = OwnReports().taken;
    text.clear();
    for (const std::string& report : pending) text += report;
    return text.c_str();
  } catch (...) {
    return kNoMemoryForText;
  }
}

void ShareReportsBetweenThreads(bool shared) { g_shared.store(shared); }

}  // namespace sfmla
