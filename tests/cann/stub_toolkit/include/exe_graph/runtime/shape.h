// SPDX-License-Identifier: Apache-2.0
// Stub: gert::Shape and gert::StorageShape, "basic data structures and APIs" of CANN's manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace gert {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  size_t GetDimNum() const;
  int64_t GetDim(size_t index) const;
  void SetDimNum(size_t count);
  void SetDim(size_t index, int64_t value);
};

class StorageShape {
 public:
  const Shape& GetOriginShape() const;
  const Shape& GetStorageShape() const;
};

}  // namespace gert
