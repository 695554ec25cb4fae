// SPDX-License-Identifier: Apache-2.0
// GlobalTensor and LocalTensor: addresses with a type. Copies are views of the same bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/format.h"
#include "sim/ascendc/types.h"
#include "sim/core.h"
#include "sim/source_location.h"

namespace AscendC {

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  // `elements` is where range checks end; without it they end with the registered memory.
  void SetGlobalBuffer(T* address, uint64_t elements) {
    address_ = address;
    elements_ = elements;
  }
  void SetGlobalBuffer(T* address) { SetGlobalBuffer(address, UINT64_MAX); }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor view = *this;
    // Not `address_ + offset`: a wild offset is refused when it is used, it must not be undefined
    // before.
    view.address_ =
        reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address_) + offset * sizeof(T));
    if (elements_ != UINT64_MAX) view.elements_ = offset <= elements_ ? elements_ - offset : 0;
    return view;
  }
  // Through the scalar data cache, whose lines may be old: see DataCacheCleanAndInvalid.
  T GetValue(uint64_t offset, const SourceLocation& where = SourceLocation::current()) const {
    T value;
    sfmla::sim::CurrentCore().ScalarReadGm(where, Address(offset), &value, sizeof(T));
    return value;
  }
  void SetValue(uint64_t offset, T value,
                const SourceLocation& where = SourceLocation::current()) const {
    sfmla::sim::CurrentCore().ScalarWriteGm(where, Address(offset), &value, sizeof(T));
  }
  T operator()(uint64_t offset) const { return GetValue(offset); }
  const T* GetPhyAddr() const { return address_; }
  const T* GetPhyAddr(uint64_t offset) const { return (*this)[offset].address_; }
  uint64_t GetSize() const { return elements_; }

 private:
  uint64_t Address(uint64_t offset) const {
    return reinterpret_cast<uint64_t>(address_) + offset * sizeof(T);
  }

  T* address_ = nullptr;
  uint64_t elements_ = UINT64_MAX;
};

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  // Bytes [address, address + elements * sizeof(T)) of the memory behind `position`.
  LocalTensor(TPosition position, uint32_t address, uint32_t elements)
      : position_(position), begin_(address), bytes_(elements * uint32_t{sizeof(T)}) {}

  LocalTensor operator[](uint32_t offset) const {
    LocalTensor view = *this;
    const uint64_t skipped = uint64_t{offset} * sizeof(T);
    view.begin_ = begin_ + skipped;
    view.bytes_ = skipped <= bytes_ ? bytes_ - skipped : 0;
    return view;
  }
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> view;
    view.position_ = position_;
    view.begin_ = begin_;
    view.bytes_ = bytes_;
    return view;
  }
  // The unit of both is one element. SetSize may only say how much of the tensor is in use.
  uint32_t GetSize() const { return static_cast<uint32_t>(bytes_ / sizeof(T)); }
  void SetSize(uint32_t elements) { bytes_ = uint64_t{elements} * sizeof(T); }
  TPosition GetPosition() const { return position_; }
  // Byte address in its memory, as an integer.
  uint64_t GetPhyAddr() const { return begin_; }
  uint64_t GetPhyAddr(uint32_t offset) const { return begin_ + uint64_t{offset} * sizeof(T); }

  T GetValue(uint32_t index, const SourceLocation& where = SourceLocation::current()) const;
  void SetValue(uint32_t index, T value,
                const SourceLocation& where = SourceLocation::current()) const;
  T operator()(uint32_t index) const { return GetValue(index); }

  uint64_t begin() const { return begin_; }
  uint64_t bytes() const { return bytes_; }

 private:
  template <typename U>
  friend class LocalTensor;

  TPosition position_ = TPosition::VECCALC;
  uint64_t begin_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace AscendC

namespace sfmla::sim {

template <typename T>
Operand OperandOf(const AscendC::LocalTensor<T>& tensor) {
  Memory& memory = CurrentCore().memory(SpaceOf(tensor.GetPosition()));
  const bool inside = tensor.begin() < memory.bytes();
  return {memory.space(), tensor.begin(), tensor.bytes(),
          inside ? memory.At(tensor.begin()) : nullptr};
}

template <typename T>
Operand OperandOf(const AscendC::GlobalTensor<T>& tensor) {
  const auto begin = reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
  const uint64_t elements = tensor.GetSize();
  return {Space::kGm, begin, elements == UINT64_MAX ? UINT64_MAX : elements * sizeof(T),
          reinterpret_cast<std::byte*>(begin)};
}

}  // namespace sfmla::sim

namespace AscendC {

template <typename T>
T LocalTensor<T>::GetValue(uint32_t index, const SourceLocation& where) const {
  T value{};
  sfmla::sim::CurrentCore().ScalarReadLocal(where, sfmla::sim::OperandOf(*this),
                                            uint64_t{index} * sizeof(T), &value, sizeof(T));
  return value;
}

template <typename T>
void LocalTensor<T>::SetValue(uint32_t index, T value, const SourceLocation& where) const {
  sfmla::sim::CurrentCore().ScalarWriteLocal(where, sfmla::sim::OperandOf(*this),
                                             uint64_t{index} * sizeof(T), &value, sizeof(T));
}

}  // namespace AscendC
