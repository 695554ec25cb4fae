// SPDX-License-Identifier: Apache-2.0
// C functions: scalars, arrays, lists, start and end of the operator layer.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "runtime/api_guard.h"
#include "runtime/refusals.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

constexpr size_t kMaxScalarBytes = 16;

struct Scalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::array<std::byte, kMaxScalarBytes> value{};
};

template <typename Value>
using Array = std::vector<Value>;

// The handles of the elements, which may be destroyed on their own at any time.
template <typename Element>
struct List {
  std::vector<const Element*> elements;
};

auto& g_scalars = *new HandleTable<Scalar>(HandleKind::kScalar);
auto& g_int_arrays = *new HandleTable<Array<int64_t>>(HandleKind::kIntArray);
auto& g_float_arrays = *new HandleTable<Array<float>>(HandleKind::kFloatArray);
auto& g_bool_arrays = *new HandleTable<Array<bool>>(HandleKind::kBoolArray);
auto& g_tensor_lists = *new HandleTable<List<aclTensor>>(HandleKind::kTensorList);
auto& g_scalar_lists = *new HandleTable<List<aclScalar>>(HandleKind::kScalarList);

constexpr uint64_t kMostValues = INT32_MAX;

Status CheckSize(const void* value, uint64_t size) {
  if (value == nullptr || size <= kMostValues) return Status::Ok();
  return Status(ACLNN_ERR_PARAM_INVALID, Str("size: ", size, ", must be at most ", kMostValues));
}

template <typename Handle, typename Value>
Handle* CreateArray(const char* api, HandleTable<Array<Value>>& table, const Value* value,
                    uint64_t size) {
  Handle* out = nullptr;
  AclnnCall(api, [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(CheckSize(value, size));
    auto array = std::make_shared<Array<Value>>();
    if (value != nullptr) array->assign(value, value + size);
    out = static_cast<Handle*>(table.Insert(std::move(array)));
    return Status::Ok();
  });
  return out;
}

template <typename Handle, typename Element, typename Live>
Handle* CreateList(const char* api, HandleTable<List<Element>>& table, HandleTable<Live>& elements,
                   HandleKind element_kind, const Element* const* value, uint64_t size) {
  Handle* out = nullptr;
  AclnnCall(api, [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(CheckSize(value, size));
    auto list = std::make_shared<List<Element>>();
    if (value != nullptr) list->elements.assign(value, value + size);
    for (size_t i = 0; i < list->elements.size(); ++i) {
      const Element* element = list->elements[i];
      if (element == nullptr || elements.Find(element) != nullptr) continue;
      return DeadHandle(ACLNN_ERR_PARAM_INVALID, Str("value[", i, "]").c_str(), element_kind,
                        element);
    }
    out = static_cast<Handle*>(table.Insert(std::move(list)));
    return Status::Ok();
  });
  return out;
}

template <typename T>
aclnnStatus Destroy(const char* api, HandleTable<T>& table, HandleKind kind, const char* name,
                    const void* handle) {
  return AclnnCall(api, [&]() -> Status {
    if (handle == nullptr || table.Remove(handle) != nullptr) return Status::Ok();
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, name, kind, handle);
  });
}

template <typename Element, typename Live>
aclnnStatus DestroyList(const char* api, HandleTable<List<Element>>& table,
                        HandleTable<Live>& elements, HandleKind kind, const void* handle) {
  return AclnnCall(api, [&]() -> Status {
    if (handle == nullptr) return Status::Ok();
    const std::shared_ptr<List<Element>> list = table.Remove(handle);
    if (list == nullptr) return DeadHandle(ACLNN_ERR_PARAM_INVALID, "array", kind, handle);
    for (const Element* element : list->elements) elements.Remove(element);
    return Status::Ok();
  });
}

// `count` turns the live object into a number of elements.
template <typename T, typename Count>
aclnnStatus GetSize(const char* api, HandleTable<T>& table, HandleKind kind, const char* name,
                    const void* handle, uint64_t* size, const Count& count) {
  return AclnnCall(api, [&]() -> Status {
    if (handle == nullptr) return NullArgument(ACLNN_ERR_PARAM_NULLPTR, name);
    if (size == nullptr) return NullArgument(ACLNN_ERR_PARAM_NULLPTR, "size");
    const std::shared_ptr<T> found = table.Find(handle);
    if (found == nullptr) return DeadHandle(ACLNN_ERR_PARAM_INVALID, name, kind, handle);
    *size = static_cast<uint64_t>(count(*found));
    return Status::Ok();
  });
}

template <typename Value>
size_t ArraySize(const Array<Value>& array) {
  return array.size();
}

template <typename Element, typename Live>
int64_t LiveElements(const List<Element>& list, const HandleTable<Live>& elements) {
  return std::count_if(list.elements.begin(), list.elements.end(), [&](const Element* element) {
    return element == nullptr || elements.Find(element) != nullptr;
  });
}

}  // namespace

Result<aclTensor*> sfmla::ElementOf(const aclTensorList* list, size_t index) {
  if (list == nullptr) return NullArgument(ACLNN_ERR_INNER_NULLPTR, "tensors");
  const std::shared_ptr<List<aclTensor>> found = g_tensor_lists.Find(list);
  if (found == nullptr) {
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, "tensors", HandleKind::kTensorList, list);
  }
  if (index < found->elements.size()) return const_cast<aclTensor*>(found->elements[index]);
  return Status(ACLNN_ERR_PARAM_INVALID, Str("relativeIndex: ", index, ", must be below ",
                                             found->elements.size(), ", the length of the list"));
}

aclnnStatus aclnnInit(const char*) { return ACLNN_SUCCESS; }
aclnnStatus aclnnFinalize() { return ACLNN_SUCCESS; }

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* out = nullptr;
  AclnnCall("aclCreateScalar", [&]() -> Status {
    if (value == nullptr) return NullArgument(ACLNN_ERR_PARAM_NULLPTR, "value");
    const size_t bytes = PlatformElementSize(dataType);
    if (bytes == 0) {
      return Status(ACLNN_ERR_PARAM_INVALID,
                    Str("dataType: ", DataTypeName(dataType), ", must be a type with a size"));
    }
    auto scalar = std::make_shared<Scalar>();
    scalar->dtype = dataType;
    std::memcpy(scalar->value.data(), value, bytes);
    out = static_cast<aclScalar*>(g_scalars.Insert(std::move(scalar)));
    return Status::Ok();
  });
  return out;
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return CreateArray<aclIntArray>("aclCreateIntArray", g_int_arrays, value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return CreateArray<aclFloatArray>("aclCreateFloatArray", g_float_arrays, value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return CreateArray<aclBoolArray>("aclCreateBoolArray", g_bool_arrays, value, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return CreateList<aclTensorList>("aclCreateTensorList", g_tensor_lists, Tensors(),
                                   HandleKind::kTensor, value, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return CreateList<aclScalarList>("aclCreateScalarList", g_scalar_lists, g_scalars,
                                   HandleKind::kScalar, value, size);
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return Destroy("aclDestroyScalar", g_scalars, HandleKind::kScalar, "scalar", scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return Destroy("aclDestroyIntArray", g_int_arrays, HandleKind::kIntArray, "array", array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return Destroy("aclDestroyFloatArray", g_float_arrays, HandleKind::kFloatArray, "array", array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return Destroy("aclDestroyBoolArray", g_bool_arrays, HandleKind::kBoolArray, "array", array);
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return DestroyList("aclDestroyTensorList", g_tensor_lists, Tensors(), HandleKind::kTensorList,
                     array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return DestroyList("aclDestroyScalarList", g_scalar_lists, g_scalars, HandleKind::kScalarList,
                     array);
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return GetSize("aclGetIntArraySize", g_int_arrays, HandleKind::kIntArray, "array", array, size,
                 ArraySize<int64_t>);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return GetSize("aclGetFloatArraySize", g_float_arrays, HandleKind::kFloatArray, "array", array,
                 size, ArraySize<float>);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return GetSize("aclGetBoolArraySize", g_bool_arrays, HandleKind::kBoolArray, "array", array, size,
                 ArraySize<bool>);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return GetSize("aclGetTensorListSize", g_tensor_lists, HandleKind::kTensorList, "tensorList",
                 tensorList, size,
                 [](const List<aclTensor>& list) { return LiveElements(list, Tensors()); });
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return GetSize("aclGetScalarListSize", g_scalar_lists, HandleKind::kScalarList, "scalarList",
                 scalarList, size,
                 [](const List<aclScalar>& list) { return LiveElements(list, g_scalars); });
}
