#include "engine/files/element_type.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace penstock {
namespace {

template <class Element>
std::vector<float> converted(ElementType type, const std::vector<Element>& elements) {
  std::vector<float> numbers(elements.size());
  EXPECT_EQ(convert(type, std::as_bytes(std::span(elements)), numbers), std::nullopt);
  return numbers;
}

/// Returns the number that `half` is by the definition of IEEE 754 binary16.
double defined_f16(std::uint16_t half) {
  const double sign = half >> 15 != 0 ? -1 : 1;
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

bool same_number(float actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected && std::signbit(actual) == std::signbit(expected);
}

TEST(ElementType, OfEveryNumberInF16IsTheSameNumberInF32) {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  const std::vector<float> numbers = converted(ElementType::f16, halves);
  for (std::size_t i = 0; i < halves.size(); ++i)
    EXPECT_TRUE(same_number(numbers[i], defined_f16(halves[i]))) << i << " is " << numbers[i];
}

TEST(ElementType, OfEveryNumberInBf16HasItsBitsInTheUpperHalfOfF32) {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  const std::vector<float> numbers = converted(ElementType::bf16, halves);
  for (std::uint32_t i = 0; i < halves.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(numbers[i]), i << 16);
  EXPECT_EQ(numbers[0x3FC0], 1.5f);
}

TEST(ElementType, OfF64IsRoundedToNearest) {
  const double infinity = std::numeric_limits<double>::infinity();
  // 1 + 2^-24 is halfway between two numbers of f32, of which the even one is taken.
  const std::vector<float> numbers = converted<double>(
      ElementType::f64,
      {0.1, 1 + 0x1p-24, 1 + 0x1.8p-23, -infinity, 0x1.fffffefp127, std::nan("")});
  EXPECT_EQ(numbers[0], 0.1f);
  EXPECT_EQ(numbers[1], 1.0f);
  EXPECT_EQ(numbers[2], 1 + 0x1p-22f);
  EXPECT_EQ(numbers[3], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(numbers[4], std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isnan(numbers[5]));
}

TEST(ElementType, OfANumberThatF32CannotHoldIsTold) {
  std::vector<float> numbers(2);
  for (const double number : {0x1.ffffffp127, -0x1p128, 1e300}) {
    const std::vector<double> elements{1, number};
    EXPECT_EQ(convert(ElementType::f64, std::as_bytes(std::span(elements)), numbers), number);
  }
}

TEST(ElementType, ComesBackFromItsName) {
  for (const ElementType type :
       {ElementType::f32, ElementType::i64, ElementType::u8, ElementType::i32, ElementType::boolean,
        ElementType::f16, ElementType::bf16, ElementType::f64})
    EXPECT_EQ(element_type(name_of(type)), type);
  for (const DType dtype : {DType::f32, DType::i64, DType::u8, DType::i32, DType::boolean})
    EXPECT_EQ(read_as(element_type_of(dtype)), dtype);
  EXPECT_EQ(element_type("f32"), std::nullopt);
  EXPECT_EQ(element_type(""), std::nullopt);
}

}  // namespace
}  // namespace penstock
