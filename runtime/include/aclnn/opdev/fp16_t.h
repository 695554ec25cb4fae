/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op::fp16_t, a half-precision number for C++ (C++11 or newer); for C this header is empty. All of
 * it is inline: no library is needed. An array of fp16_t is an array of aclFloat16, what a tensor
 * of ACL_FLOAT16 holds.
 *
 * Conversions follow IEEE 754 whatever the rounding mode of the thread: to nearest, ties to even,
 * beyond 65504 to infinity, with subnormal numbers, NaN to NaN. aclFloatToFloat16 and
 * aclFloat16ToFloat saturate instead, as the platform's functions do.
 */
#ifndef ACLNN_OPDEV_FP16_T_H_
#define ACLNN_OPDEV_FP16_T_H_

#ifdef __cplusplus

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

struct fp16_t {
  // 1 sign, 5 exponent, 10 fraction bits.
  uint16_t val;

  constexpr fp16_t() : val(0) {}

  // As on the platform, a uint16_t is taken as the 16 bits, every other type as a number.
  constexpr fp16_t(uint16_t bits) : val(bits) {}

  // Rounds a number. Integers and floats are converted to double first, which changes no result;
  // a long double loses its excess precision there.
  template <typename Number,
            typename = typename std::enable_if<std::is_arithmetic<Number>::value &&
                                               !std::is_same<Number, uint16_t>::value>::type>
  fp16_t(Number number) : val(Rounded(static_cast<double>(number))) {}

  // Rounds a number of any type: as on the platform, an assigned uint16_t is a number too.
  template <typename Number,
            typename = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  fp16_t& operator=(Number number) {
    val = Rounded(static_cast<double>(number));
    return *this;
  }

  // Exact. Through this conversion arithmetic and comparisons are those of float, and fp16_t is
  // accepted wherever a number is.
  operator float() const { return toFloat(); }

  // Computed in float, then rounded.
  fp16_t& operator+=(float other) { return *this = toFloat() + other; }
  fp16_t& operator-=(float other) { return *this = toFloat() - other; }
  fp16_t& operator*=(float other) { return *this = toFloat() * other; }
  fp16_t& operator/=(float other) { return *this = toFloat() / other; }

  // Exact, as the conversions that the language applies.
  float toFloat() const;
  double toDouble() const { return toFloat(); }

  // 1 for +infinity, -1 for -infinity, 0 for any other number and for NaN.
  int IsInf() const { return (val & 0x7FFF) != 0x7C00 ? 0 : val == 0x7C00 ? 1 : -1; }

 private:
  static uint16_t Rounded(double number);
};

inline float fp16_t::toFloat() const {
  const uint32_t sign = static_cast<uint32_t>(val & 0x8000) << 16;
  const uint32_t exponent = val >> 10 & 0x1F;
  const uint32_t fraction = val & 0x3FF;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * (1.0f / 16777216.0f);  // steps of 2^-24
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t float_exponent = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  const uint32_t bits = sign | float_exponent << 23 | fraction << 13;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

inline uint16_t fp16_t::Rounded(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFF;
  if (magnitude > 0x7FF0000000000000) return static_cast<uint16_t>(sign | 0x7E00);   // NaN
  if (magnitude >= 0x40EFFE0000000000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520

  // Subnormal results share the step 2^-24 of the smallest exponent, -14.
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const int step_exponent = exponent < -14 ? -14 : exponent;
  const int dropped_bits = 42 + (step_exponent - exponent);
  if (dropped_bits > 53) return sign;  // below half of the smallest step
  const uint64_t significand = (magnitude & 0xFFFFFFFFFFFFF) | 0x10000000000000;
  const uint64_t is_odd = significand >> dropped_bits & 1;
  const uint64_t half_step = uint64_t{1} << (dropped_bits - 1);
  const uint64_t steps = (significand + half_step - 1 + is_odd) >> dropped_bits;
  // Added, not or-ed: the leading bit of `steps`, or a carry, moves the exponent up.
  return static_cast<uint16_t>(sign + (static_cast<uint64_t>(step_exponent + 14) << 10) + steps);
}

}  // namespace op

#endif  // __cplusplus

#endif  // ACLNN_OPDEV_FP16_T_H_
