#include "tests/engine/onnx/imported_models.hpp"

#include <cmath>

#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {

Model imported(const std::string& bytes, const OnnxOptions& options) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes);
  return Model::from_onnx((directory / "model.onnx").string(), options);
}

std::string refused(Errc code, const std::string& bytes, const OnnxOptions& options) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes);
  const std::string path = (directory / "model.onnx").string();
  const std::string text = refusal(code, [&] { Model::from_onnx(path, options); });
  const std::size_t end = text.find("model.onnx: ");
  return end == std::string::npos ? text : text.substr(end + 12);
}

Tensor counted(const Shape& shape, float step) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(std::sin(step * static_cast<float>(i + 1)));
  return {shape, std::span<const float>(elements)};
}

Tensor outputs(const Model& model, const Tensor& x, const std::string& name) {
  InferenceModel inference(model, {.batch_size = static_cast<int>(x.shape()[0])});
  return inference.run({x}).output(name);
}

OnnxBytes perceptron() {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.initializer("fc1.weight", counted({6, 4})).initializer("fc1.bias", counted({6}));
  bytes.initializer("fc2.weight", counted({3, 6})).initializer("fc2.bias", counted({3}));
  const std::vector<std::pair<std::string, OnnxSetting>> flags{{"transB", std::int64_t{1}}};
  bytes.node({"Gemm", {"x", "fc1.weight", "fc1.bias"}, {"h"}, flags, "/fc1/Gemm"});
  bytes.node({"Relu", {"h"}, {"r"}, {}, "/act/Relu"});
  bytes.node({"Gemm", {"r", "fc2.weight", "fc2.bias"}, {"y"}, flags, "/fc2/Gemm"});
  return bytes;
}

Tensor integers(const std::vector<std::int64_t>& elements) {
  return {Shape({std::ssize(elements)}), std::span<const std::int64_t>(elements)};
}

OnnxBytes counting(const std::vector<OnnxDimension>& dims) {
  OnnxBytes bytes;
  bytes.input("x", dims).output("y").initializer("zero", integers({0}));
  bytes.node({"Shape", {"x"}, {"shape"}});
  bytes.node({"Gather", {"shape", "zero"}, {"size"}});
  bytes.node({"Cast", {"size"}, {"count"}, {{"to", std::int64_t{1}}}});
  return bytes;
}

}  // namespace penstock::testing
