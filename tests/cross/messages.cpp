// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <cstdio>
#include <stdexcept>

#include "acl/acl.h"

namespace sfmla::cross {
namespace {

void ReadBytes(void* out, size_t count) {
  if (std::fread(out, 1, count, stdin) != count) throw std::runtime_error("a call is cut off");
}

template <typename T>
T Read() {
  static_assert(sizeof(T) == 8);
  T value;
  ReadBytes(&value, sizeof(value));
  return value;
}

std::string ReadText() {
  std::string text(Read<uint64_t>(), '\0');
  ReadBytes(text.data(), text.size());
  return text;
}

std::vector<int64_t> ReadNumbers() {
  std::vector<int64_t> numbers(Read<uint64_t>());
  ReadBytes(numbers.data(), numbers.size() * sizeof(int64_t));
  return numbers;
}

std::shared_ptr<const Memory> ReadMemory(Memories* kept, Call* call) {
  const auto place = Read<int64_t>();
  if (place >= 0) return kept->at(static_cast<size_t>(place));
  Memories& owners = place == -1 ? *kept : call->results;
  return owners.emplace_back(std::make_shared<const Memory>(ReadText()));
}

const aclTensor* ReadTensor(const Memories& memories) {
  const auto memory = Read<int64_t>();
  const auto begin = Read<int64_t>();
  const auto dtype = static_cast<aclDataType>(Read<int64_t>());
  const std::vector<int64_t> dims = ReadNumbers();
  const std::vector<int64_t> strides = ReadNumbers();
  const auto offset = Read<int64_t>();
  const auto storage_elements = Read<int64_t>();
  char* data = memory < 0 ? nullptr : memories.at(static_cast<size_t>(memory))->data() + begin;
  const aclTensor* tensor =
      aclCreateTensor(dims.data(), dims.size(), dtype, strides.empty() ? nullptr : strides.data(),
                      offset, ACL_FORMAT_ND, &storage_elements, 1, data);
  if (tensor == nullptr) throw std::runtime_error("aclCreateTensor");
  return tensor;
}

Argument ReadArgument(const Memories& memories) {
  switch (Read<Kind>()) {
    case Kind::kNull:
      return static_cast<const aclTensor*>(nullptr);
    case Kind::kTensor:
      return ReadTensor(memories);
    case Kind::kInteger:
      return Read<int64_t>();
    case Kind::kReal:
      return Read<double>();
    case Kind::kTruth:
      return Read<int64_t>() != 0;
    case Kind::kText:
      return ReadText();
  }
  throw std::runtime_error("an argument of unknown kind");
}

void Write(const void* bytes, size_t count) {
  if (std::fwrite(bytes, 1, count, stdout) != count) throw std::runtime_error("nobody listens");
}

void WriteText(const std::string& text) {
  const uint64_t size = text.size();
  Write(&size, sizeof(size));
  Write(text.data(), text.size());
}

}  // namespace

std::string RecentReport() {
  const char* report = aclGetRecentErrMsg();
  return report == nullptr ? "" : report;
}

Memory::Memory(const std::string& bytes) : size_(bytes.size()) {
  if (size_ == 0) return;
  if (aclrtMalloc(&data_, size_, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
      aclrtMemcpy(data_, size_, bytes.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) {
    throw std::runtime_error(RecentReport());
  }
}

Memory::~Memory() {
  if (data_ != nullptr) aclrtFree(data_);
}

std::string Memory::Bytes() const {
  std::string bytes(size_, '\0');
  if (aclrtMemcpy(bytes.data(), size_, data_, size_, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS) {
    throw std::runtime_error(RecentReport());
  }
  return bytes;
}

Call::~Call() {
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<const aclTensor*>(&argument);
    if (tensor != nullptr && *tensor != nullptr) aclDestroyTensor(*tensor);
  }
}

bool ReadCall(Memories* kept, Call* call) {
  const int first = std::getc(stdin);
  if (first == EOF) return false;
  std::ungetc(first, stdin);
  call->name = ReadText();
  if (Read<int64_t>() != 0) kept->clear();
  const auto memories = Read<uint64_t>();
  for (uint64_t i = 0; i < memories; ++i) call->memories.push_back(ReadMemory(kept, call));
  const auto arguments = Read<uint64_t>();
  for (uint64_t i = 0; i < arguments; ++i) {
    call->arguments.push_back(ReadArgument(call->memories));
  }
  return true;
}

void WriteAnswer(const Answer& answer, const Memories& results) {
  Write(&answer.code, sizeof(answer.code));
  WriteText(answer.function);
  WriteText(answer.report);
  for (const auto& memory : results) WriteText(memory->Bytes());
  std::fflush(stdout);
}

}  // namespace sfmla::cross
