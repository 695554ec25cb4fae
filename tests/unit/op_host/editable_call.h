// SPDX-License-Identifier: Apache-2.0
// What the tests of all checks share: a valid call to spoil one operand or attribute of at a time.
// No device memory: data pointers stay NULL, as in planning.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "op_host/common/operand.h"
#include "op_host/common/product_rules.h"

namespace sfmla::test {

inline OperandArg TensorOf(const char* name, aclDataType dtype,
                           std::initializer_list<int64_t> dims) {
  OperandArg out;
  out.name = name;
  // Only compared with NULL below; what it points to is never looked at.
  out.handle = reinterpret_cast<const aclTensor*>(uintptr_t{1});
  out.live = true;
  out.desc.dtype = dtype;
  out.desc.format = ACL_FORMAT_ND;
  out.desc.rank = static_cast<int64_t>(dims.size());
  size_t axis = 0;
  for (const int64_t dim : dims) out.desc.dims[axis++] = dim;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    out.desc.strides[i] = stride;
    stride *= out.desc.dims[i];
  }
  return out;
}

inline OperandArg Absent(const char* name) {
  OperandArg out;
  out.name = name;
  return out;
}

// The arguments of an operator, with slots to replace.
template <typename Args>
struct EditableCall : Args {
  OperandArg& operator[](int slot) { return this->operands[static_cast<size_t>(slot)]; }
  void Replace(int slot, aclDataType dtype, std::initializer_list<int64_t> dims) {
    (*this)[slot] = TensorOf((*this)[slot].name, dtype, dims);
  }
  void Remove(int slot) { (*this)[slot] = Absent((*this)[slot].name); }
};

inline const ProductRules& Product(std::string_view name) {
  for (const ProductRules& product : AllProductRules()) {
    if (product.name == name) return product;
  }
  FAIL("no such product");
  return AllProductRules().front();
}

// The checks of one operator against a valid `Call`.
template <typename Call, typename Check>
class CheckJudge {
 public:
  explicit CheckJudge(Check check) : check_(check) {}

  template <typename Spoil>
  void Refused(const Spoil& spoil, int32_t code, const std::string& text,
               const char* product = "cpu") const {
    Call call;
    spoil(call);
    const auto problem = check_(call, Product(product));
    CAPTURE(text);
    REQUIRE_FALSE(problem.ok());
    CHECK(problem.status().code() == code);
    CHECK(problem.status().text() == text);
  }

  template <typename Spoil>
  auto Accepted(const Spoil& spoil, const char* product = "cpu") const {
    Call call;
    spoil(call);
    const auto problem = check_(call, Product(product));
    INFO(problem.status().text());
    REQUIRE(problem.ok());
    return problem.value();
  }

 private:
  Check check_;
};

}  // namespace sfmla::test
