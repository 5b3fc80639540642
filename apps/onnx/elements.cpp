#include "apps/onnx/elements.hpp"

namespace onnx_tool {
namespace {

template <class Element>
std::vector<double> converted(const penstock::Tensor& tensor) {
  const auto elements = tensor.as<Element>();
  std::vector<double> numbers;
  numbers.reserve(elements.size());
  for (const Element& element : elements) numbers.push_back(static_cast<double>(element));
  return numbers;
}

}  // namespace

std::vector<double> elements_of(const penstock::Tensor& tensor) {
  switch (tensor.dtype()) {
    case penstock::DType::f32:
      return converted<float>(tensor);
    case penstock::DType::i64:
      return converted<std::int64_t>(tensor);
    case penstock::DType::u8:
      return converted<std::uint8_t>(tensor);
    case penstock::DType::i32:
      return converted<std::int32_t>(tensor);
    case penstock::DType::boolean:
      break;
  }
  return converted<bool>(tensor);
}

}  // namespace onnx_tool
