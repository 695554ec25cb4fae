// SPDX-License-Identifier: Apache-2.0
#include "runtime/init_config.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "acl/acl_base.h"
#include "base/format.h"
#include "runtime/device.h"

namespace sfmla {
namespace {

// Digits from `position` on; returns the place behind them.
size_t SkipDigits(std::string_view text, size_t position) {
  return std::min(text.find_first_not_of("0123456789", position), text.size());
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool IsNumber(std::string_view text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  size_t end = SkipDigits(text, sign);
  if (end == sign || (text[sign] == '0' && end > sign + 1)) return false;
  if (end < text.size() && text[end] == '.') {
    const size_t fraction = end + 1;
    end = SkipDigits(text, fraction);
    if (end == fraction) return false;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const bool has_sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    const size_t exponent = end + (has_sign ? 2 : 1);
    end = SkipDigits(text, exponent);
    if (end == exponent) return false;
  }
  return end == text.size();
}

// Walks a JSON text and collects its scalars by path ("defaultDevice/default_device" -> "0").
// Strings lose their quotes, escapes stay as written; array elements share the path of their array.
class JsonWalker {
 public:
  explicit JsonWalker(std::string_view text) : text_(text) {}

  bool Walk() {
    SkipSpace();
    if (!Value("", 0)) return false;
    SkipSpace();
    return position_ == text_.size();
  }

  const std::map<std::string, std::string>& scalars() const { return scalars_; }

 private:
  static constexpr int kMaxDepth = 64;

  bool Value(const std::string& path, int depth) {
    if (depth > kMaxDepth) return false;
    if (Accept('{')) return Members(path, depth);
    if (Accept('[')) return Elements(path, depth);
    std::string scalar;
    if (Peek() == '"' ? !String(&scalar) : !Word(&scalar)) return false;
    scalars_[path] = scalar;
    return true;
  }

  bool Members(const std::string& path, int depth) {
    if (Accept('}')) return true;
    do {
      std::string key;
      if (!String(&key) || !Accept(':')) return false;
      if (!Value(path.empty() ? key : path + "/" + key, depth + 1)) return false;
    } while (Accept(','));
    return Accept('}');
  }

  bool Elements(const std::string& path, int depth) {
    if (Accept(']')) return true;
    do {
      if (!Value(path, depth + 1)) return false;
    } while (Accept(','));
    return Accept(']');
  }

  bool String(std::string* out) {
    if (Peek() != '"') return false;
    size_t end = position_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    *out = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    SkipSpace();
    return true;
  }

  // A number, true, false or null.
  bool Word(std::string* out) {
    const size_t end =
        std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", position_),
                 text_.size());
    *out = text_.substr(position_, end - position_);
    position_ = end;
    SkipSpace();
    return IsNumber(*out) || *out == "true" || *out == "false" || *out == "null";
  }

  char Peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  // Consumes the character, and the space around it, if it is next.
  bool Accept(char wanted) {
    if (Peek() != wanted) return false;
    ++position_;
    SkipSpace();
    return true;
  }

  void SkipSpace() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }

  const std::string_view text_;
  size_t position_ = 0;
  std::map<std::string, std::string> scalars_;
};

// The scalar as a small whole number, if it is one.
std::optional<int32_t> WholeNumber(const std::string& text) {
  constexpr size_t kMaxDigits = 9;
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(text);
}

}  // namespace

Result<InitConfig> ParseInitConfig(std::string_view text) {
  JsonWalker walker(text);
  if (!walker.Walk()) return Status(ACL_ERROR_PARSE_FILE, "configPath: the file is not JSON");
  InitConfig config;
  if (const auto found = walker.scalars().find("defaultDevice/default_device");
      found != walker.scalars().end()) {
    config.default_device = WholeNumber(found->second);
    if (!config.default_device || *config.default_device >= kDeviceCount) {
      return Status(ACL_ERROR_INVALID_PARAM, Str("default_device: '", found->second,
                                                 "', must be in [0, ", kDeviceCount, ")"));
    }
  }
  if (const auto found = walker.scalars().find("defaultDevice"); found != walker.scalars().end()) {
    return Status(ACL_ERROR_INVALID_PARAM, Str("defaultDevice: '", found->second,
                                               "', must be an object that has default_device"));
  }
  if (const auto found = walker.scalars().find("err_msg_mode"); found != walker.scalars().end()) {
    if (found->second != "0" && found->second != "1") {
      return Status(ACL_ERROR_INVALID_PARAM,
                    Str("err_msg_mode: '", found->second, "', must be 0 or 1"));
    }
    config.shared_error_text = found->second == "1";
  }
  return config;
}

Result<InitConfig> ReadInitConfig(const char* path) {
  if (path == nullptr || *path == '\0') return InitConfig();
  const Status unreadable(
      ACL_ERROR_INVALID_FILE,
      Str("configPath: ", path, " cannot be read, must be a JSON file, \"\" or NULL"));
  // Not a stream: it does not tell a folder from an empty file.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  if (file == nullptr) return unreadable;
  std::string text;
  std::array<char, 4096> chunk;
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk.data(), count);
  }
  if (std::ferror(file.get()) != 0) return unreadable;
  return ParseInitConfig(text);
}

}  // namespace sfmla
