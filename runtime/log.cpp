// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.h"

#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "base/format.h"
#include "base/settings.h"

namespace sfmla {
namespace {

constexpr std::array kLevelNames = {"DEBUG", "INFO", "WARNING", "ERROR"};

}  // namespace

void Log(aclLogLevel level, std::string_view text) {
  const Result<Settings>& settings = ProcessSettings();
  if (!settings.ok() || level < settings->log_level) return;
  const std::string line =
      Str("[", kLevelNames[static_cast<size_t>(level)], "] SFMLA(", getpid(), "): ", text, "\n");
  std::fputs(line.c_str(), settings->log_to_stdout ? stdout : stderr);
}

}  // namespace sfmla

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  if (logLevel < ACL_DEBUG || logLevel > ACL_ERROR || fmt == nullptr) return;
  constexpr size_t kMaxTextBytes = 2048;
  std::array<char, kMaxTextBytes> text{};
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(text.data(), text.size(), fmt, arguments);
  va_end(arguments);
  const auto shown = [](const char* given) { return given == nullptr ? "" : given; };
  sfmla::Log(logLevel, sfmla::Str(shown(func), " ", shown(file), ":", line, ": ", text.data()));
}
