// SPDX-License-Identifier: Apache-2.0
// One operator call as bytes, and its answer. All numbers are 8 bytes, little endian; text and
// memory are their length in bytes, then these bytes. server.py writes calls and reads answers.
//
//   call      name of the phase-two function (text)
//             whether the server forgets the memories it has kept (0 or 1)
//             number of memories; each: -1 and its bytes: new, and kept for later calls
//                                       -2 and its bytes: new, comes back, is not kept
//                                       n: the one kept as number n, counted from 0
//             number of arguments of phase one without the last two; each: a Kind, then
//               kNull     nothing
//               kTensor   memory (-1: none), byte in it where the storage begins, aclDataType,
//                         rank, dims, number of strides (0: contiguous), strides in elements,
//                         offset of element 0 in elements, elements of the storage
//               kInteger, kReal, kTruth   the value
//               kText     text
//   answer    code of the first function that did not return 0, or 0; its name; aclGetRecentErrMsg
//             the memories that come back, in order
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "aclnn/acl_meta.h"

namespace sfmla::cross {

enum class Kind : int64_t { kNull, kTensor, kInteger, kReal, kTruth, kText };

// Takes the pending text of aclGetRecentErrMsg; "" when there is none.
std::string RecentReport();

// Device memory with the bytes of a message, NULL for none of them; freed with the object. Throws
// std::runtime_error.
class Memory {
 public:
  explicit Memory(const std::string& bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  char* data() const { return static_cast<char*>(data_); }
  std::string Bytes() const;

 private:
  void* data_ = nullptr;
  size_t size_;
};

using Memories = std::vector<std::shared_ptr<const Memory>>;
using Argument = std::variant<const aclTensor*, int64_t, double, bool, std::string>;

struct Call {
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();  // destroys the tensors

  std::string name;
  Memories memories;
  Memories results;  // those of them that come back
  std::vector<Argument> arguments;
};

struct Answer {
  int64_t code = 0;
  std::string function;
  std::string report;
};

// The next call of standard input, memory and tensors made; false at its end. Throws
// std::runtime_error for a message that is cut off or malformed.
bool ReadCall(Memories* kept, Call* call);

// To standard output.
void WriteAnswer(const Answer& answer, const Memories& results);

}  // namespace sfmla::cross
