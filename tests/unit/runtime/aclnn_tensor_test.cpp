// SPDX-License-Identifier: Apache-2.0
// Tensors, scalars, arrays, lists.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "aclnn/opdev/op_errno.h"
#include "base/format.h"
#include "runtime/tensor.h"
#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

using Dims = std::vector<int64_t>;

aclTensor* Create(const Dims& dims, const Dims& strides = {}, int64_t offset = 0) {
  aclTensor* tensor = aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT,
                                      strides.empty() ? nullptr : strides.data(), offset,
                                      ACL_FORMAT_ND, dims.data(), dims.size(), nullptr);
  REQUIRE(tensor != nullptr);
  return tensor;
}

using Getter = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);

Dims Get(Getter getter, const aclTensor* tensor) {
  int64_t* values = nullptr;
  uint64_t count = 0;
  REQUIRE(getter(tensor, &values, &count) == ACLNN_SUCCESS);
  const std::unique_ptr<int64_t[]> owner(values);
  return Dims(values, values + count);
}

}  // namespace

TEST_CASE("a tensor keeps copies of what it was given") {
  Dims dims = {2, 3, 4};
  Dims strides = {100, 0, 1};
  int data = 0;
  aclTensor* tensor = aclCreateTensor(dims.data(), 3, ACL_BF16, strides.data(), 7, ACL_FORMAT_NCL,
                                      dims.data(), 1, &data);
  dims.assign(3, -1);
  strides.assign(3, -1);
  CHECK(Get(aclGetViewShape, tensor) == Dims{2, 3, 4});
  CHECK(Get(aclGetViewStrides, tensor) == Dims{100, 0, 1});
  CHECK(Get(aclGetStorageShape, tensor) == Dims{2});
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
  CHECK(aclGetViewOffset(tensor, &offset) == ACLNN_SUCCESS);
  CHECK(aclGetFormat(tensor, &format) == ACLNN_SUCCESS);
  CHECK(aclGetDataType(tensor, &dtype) == ACLNN_SUCCESS);
  CHECK(aclGetRawTensorAddr(tensor, &address) == ACLNN_SUCCESS);
  CHECK(offset == 7);
  CHECK(format == ACL_FORMAT_NCL);
  CHECK(dtype == ACL_BF16);
  CHECK(address == &data);
  CHECK(aclSetRawTensorAddr(tensor, nullptr) == ACLNN_SUCCESS);
  CHECK(aclGetRawTensorAddr(tensor, &address) == ACLNN_SUCCESS);
  CHECK(address == nullptr);
  CHECK(aclDestroyTensor(tensor) == ACLNN_SUCCESS);
}

TEST_CASE("no strides means row-major, no dims means a scalar, a 0 means empty") {
  aclTensor* matrix = Create({2, 3, 4});
  CHECK(Get(aclGetViewStrides, matrix) == Dims{12, 4, 1});
  CHECK(Describe(*FindTensor(matrix)).num_elements() == 24);
  aclTensor* scalar =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  REQUIRE(scalar != nullptr);
  CHECK(Get(aclGetViewShape, scalar).empty());
  CHECK(Describe(*FindTensor(scalar)).num_elements() == 1);
  aclTensor* empty = Create({5, 0});
  CHECK(Describe(*FindTensor(empty)).num_elements() == 0);
  aclTensor* huge = Create({int64_t{1} << 40, int64_t{1} << 40});
  CHECK(Describe(*FindTensor(huge)).num_elements() == std::numeric_limits<int64_t>::max());
  for (aclTensor* tensor : {matrix, scalar, empty, huge}) {
    CHECK(aclDestroyTensor(tensor) == ACLNN_SUCCESS);
  }
}

TEST_CASE("creation refuses only dims that are not there") {
  TakeText();
  const int64_t dim = 4;
  CHECK(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr) ==
        nullptr);
  CHECK(TakeText().find("viewDims") != std::string::npos);
  CHECK(aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr) ==
        nullptr);
  CHECK(TakeText().find("storageDims") != std::string::npos);
  CHECK(aclCreateTensor(&dim, UINT64_MAX, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr) ==
        nullptr);
  CHECK_FALSE(TakeText().empty());
  aclTensor* odd = aclCreateTensor(&dim, 1, static_cast<aclDataType>(77), nullptr, -3,
                                   ACL_FORMAT_ND, &dim, 1, nullptr);
  CHECK(odd != nullptr);
  CHECK(aclDestroyTensor(odd) == ACLNN_SUCCESS);
}

TEST_CASE("aclInitTensor replaces, and keeps what it is not given") {
  int data = 0;
  const int64_t wide[] = {8, 8};
  aclTensor* tensor = Create({2, 3}, {10, 2}, 5);
  CHECK(aclSetRawTensorAddr(tensor, &data) == ACLNN_SUCCESS);
  CHECK(aclInitTensor(tensor, nullptr, 0, ACL_INT32, nullptr, 0, ACL_FORMAT_NC, nullptr, 0,
                      nullptr) == ACLNN_SUCCESS);
  CHECK(Get(aclGetViewShape, tensor) == Dims{2, 3});
  CHECK(Get(aclGetViewStrides, tensor) == Dims{3, 1});
  CHECK(Get(aclGetStorageShape, tensor) == Dims{2, 3});
  CHECK(FindTensor(tensor)->dtype == ACL_INT32);
  CHECK(FindTensor(tensor)->data == &data);
  CHECK(aclInitTensor(tensor, wide, 2, ACL_INT32, nullptr, 1, ACL_FORMAT_ND, wide, 2, nullptr) ==
        ACLNN_SUCCESS);
  CHECK(Get(aclGetViewStrides, tensor) == Dims{8, 1});
  CHECK(aclDestroyTensor(tensor) == ACLNN_SUCCESS);
  CheckRefusal(
      aclInitTensor(nullptr, wide, 2, ACL_INT32, nullptr, 1, ACL_FORMAT_ND, wide, 2, nullptr),
      ACLNN_ERR_PARAM_NULLPTR, {"tensor"});
}

TEST_CASE("NULL is nothing to destroy, a dead handle is refused") {
  TakeText();
  CHECK(aclDestroyTensor(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyScalar(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyIntArray(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyFloatArray(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyBoolArray(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensorList(nullptr) == ACLNN_SUCCESS);
  CHECK(aclDestroyScalarList(nullptr) == ACLNN_SUCCESS);
  CHECK(aclGetRecentErrMsg() == nullptr);
  aclTensor* tensor = Create({1});
  CHECK(aclDestroyTensor(tensor) == ACLNN_SUCCESS);
  CheckRefusal(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID, {"tensor", "destroyed"});
  int64_t offset = 0;
  CheckRefusal(aclGetViewOffset(tensor, &offset), ACLNN_ERR_PARAM_INVALID, {"tensor"});
  CheckRefusal(aclGetViewOffset(nullptr, &offset), ACLNN_ERR_PARAM_NULLPTR, {"tensor"});
  int64_t* values = nullptr;
  CheckRefusal(aclGetViewShape(tensor, &values, nullptr), ACLNN_ERR_PARAM_NULLPTR, {"viewDimsNum"});
  const int64_t number = 3;
  aclIntArray* array = aclCreateIntArray(&number, 1);
  CheckRefusal(aclDestroyTensor(reinterpret_cast<aclTensor*>(array)), ACLNN_ERR_PARAM_INVALID,
               {"int array"});
  CHECK(aclDestroyIntArray(array) == ACLNN_SUCCESS);
}

TEST_CASE("numbers of values and dims that nothing can hold are refused") {
  int64_t ints[] = {1};
  const float floats[] = {1};
  const bool bools[] = {true};
  const aclTensor* no_tensor = nullptr;
  const aclScalar* no_scalar = nullptr;
  // Multiplied by the size of a value, some of these are 0 in 64 bits.
  for (const uint64_t count :
       {uint64_t{1} << 31, uint64_t{1} << 61, uint64_t{1} << 62, UINT64_MAX}) {
    INFO(count);
    CHECK(aclCreateIntArray(ints, count) == nullptr);
    CHECK(aclCreateFloatArray(floats, count) == nullptr);
    CHECK(aclCreateBoolArray(bools, count) == nullptr);
    CHECK(aclCreateTensorList(&no_tensor, count) == nullptr);
    CHECK(aclCreateScalarList(&no_scalar, count) == nullptr);
    CHECK(TakeText().find(Str("size: ", count, ", must be at most 2147483647")) !=
          std::string::npos);
    CHECK(aclCreateTensor(ints, count, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, ints, 1, ints) ==
          nullptr);
    CHECK(TakeText().find(Str("viewDims: ", count, " dims, must be at most 1024")) !=
          std::string::npos);
  }
}

TEST_CASE("arrays count their values, without values they are empty") {
  const int64_t ints[] = {1, 2, 3};
  const float floats[] = {1, 2};
  const bool bools[] = {true};
  uint64_t size = 0;
  aclIntArray* int_array = aclCreateIntArray(ints, 3);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 2);
  aclBoolArray* bool_array = aclCreateBoolArray(bools, 1);
  aclIntArray* empty = aclCreateIntArray(nullptr, 5);
  CHECK(aclGetIntArraySize(int_array, &size) == ACLNN_SUCCESS);
  CHECK(size == 3);
  CHECK(aclGetFloatArraySize(float_array, &size) == ACLNN_SUCCESS);
  CHECK(size == 2);
  CHECK(aclGetBoolArraySize(bool_array, &size) == ACLNN_SUCCESS);
  CHECK(size == 1);
  CHECK(aclGetIntArraySize(empty, &size) == ACLNN_SUCCESS);
  CHECK(size == 0);
  CheckRefusal(aclGetIntArraySize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR, {"array"});
  CheckRefusal(aclGetIntArraySize(empty, nullptr), ACLNN_ERR_PARAM_NULLPTR, {"size"});
  CHECK(aclDestroyIntArray(int_array) == ACLNN_SUCCESS);
  CHECK(aclDestroyIntArray(empty) == ACLNN_SUCCESS);
  CHECK(aclDestroyFloatArray(float_array) == ACLNN_SUCCESS);
  CHECK(aclDestroyBoolArray(bool_array) == ACLNN_SUCCESS);
}

TEST_CASE("a list owns its elements") {
  const aclTensor* elements[] = {Create({1}), nullptr, Create({2})};
  uint64_t size = 0;
  aclTensorList* list = aclCreateTensorList(elements, 3);
  REQUIRE(list != nullptr);
  CHECK(aclGetTensorListSize(list, &size) == ACLNN_SUCCESS);
  CHECK(size == 3);
  CHECK(aclDestroyTensor(elements[0]) == ACLNN_SUCCESS);
  CHECK(aclGetTensorListSize(list, &size) == ACLNN_SUCCESS);
  CHECK(size == 2);
  CHECK(aclDestroyTensorList(list) == ACLNN_SUCCESS);
  CheckRefusal(aclDestroyTensor(elements[2]), ACLNN_ERR_PARAM_INVALID, {"tensor", "destroyed"});
  CheckRefusal(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID, {"destroyed"});
  CHECK(aclCreateTensorList(elements, 3) == nullptr);
  CHECK(TakeText().find("value[0]") != std::string::npos);
}

TEST_CASE("scalars and their lists") {
  double value = 2.5;
  aclScalar* scalar = aclCreateScalar(&value, ACL_DOUBLE);
  REQUIRE(scalar != nullptr);
  uint64_t size = 0;
  aclScalarList* list = aclCreateScalarList(&scalar, 1);
  CHECK(aclGetScalarListSize(list, &size) == ACLNN_SUCCESS);
  CHECK(size == 1);
  CHECK(aclDestroyScalarList(list) == ACLNN_SUCCESS);
  CheckRefusal(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID, {"scalar"});
  CHECK(aclCreateScalar(nullptr, ACL_DOUBLE) == nullptr);
  CHECK(TakeText().find("value") != std::string::npos);
  CHECK(aclCreateScalar(&value, ACL_STRING) == nullptr);
  CHECK(TakeText().find("STRING") != std::string::npos);
}

TEST_CASE("type names and sizes") {
  CHECK(std::strcmp(DataTypeName(ACL_BF16), "BFLOAT16") == 0);
  CHECK(std::strcmp(DataTypeName(ACL_FLOAT), "FLOAT") == 0);
  CHECK(std::strcmp(DataTypeName(static_cast<aclDataType>(77)), "77") == 0);
  CHECK(DataTypeBytes(ACL_BF16) == 2);
  CHECK(DataTypeBytes(ACL_INT4) == 0);
  CHECK(DataTypeBytes(static_cast<aclDataType>(77)) == 0);
}

}  // namespace sfmla::test
