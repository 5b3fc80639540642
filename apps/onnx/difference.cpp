#include "apps/onnx/difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace onnx_tool {
namespace {

constexpr double relative = 1e-3, absolute = 1e-7;

/// Returns how far two numbers of f32 are apart, or 0 if that is allowed.
double apart(float got, float expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const double wanted = expected, distance = std::abs(got - wanted);
  return std::isfinite(wanted) && distance <= absolute + relative * std::abs(wanted) ? 0 : distance;
}

/// Returns how far two integers are apart. A double does not tell all of them from each other, and
/// their difference may be no i64.
template <class Integer>
double apart(Integer got, Integer expected) {
  const auto larger = static_cast<std::uint64_t>(std::max(got, expected));
  return static_cast<double>(larger - static_cast<std::uint64_t>(std::min(got, expected)));
}

template <class Element>
std::optional<double> largest(const penstock::Tensor& got, const penstock::Tensor& expected) {
  const auto numbers = got.as<Element>(), wanted = expected.as<Element>();
  std::optional<double> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double distance = apart(numbers[i], wanted[i]);
    if (distance != 0)
      result = std::isnan(distance) ? distance : std::max(result.value_or(0), distance);
  }
  return result;
}

}  // namespace

std::optional<double> difference(const penstock::Tensor& got, const penstock::Tensor& expected) {
  switch (expected.dtype()) {
    case penstock::DType::f32:
      return largest<float>(got, expected);
    case penstock::DType::i64:
      return largest<std::int64_t>(got, expected);
    case penstock::DType::u8:
      return largest<std::uint8_t>(got, expected);
    case penstock::DType::i32:
      return largest<std::int32_t>(got, expected);
    case penstock::DType::boolean:
      break;
  }
  return largest<bool>(got, expected);
}

}  // namespace onnx_tool
