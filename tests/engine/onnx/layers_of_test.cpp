#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using Dims = std::vector<std::string>;

/// A LayersOf has the layers of a file, and what else is known of the file.
struct LayersOf {
  explicit LayersOf(const OnnxBytes& bytes) {
    const TemporaryDirectory directory;
    write_file(directory / "model.onnx", bytes.file());
    const LoadedOnnx file((directory / "model.onnx").string());
    layers = file.layers({});
    initializers = file.summary().initializers;
    model = file.model({});
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const OnnxLayer& layer : layers) names.push_back(layer.name);
    return names;
  }
  OnnxLayer layer(const std::string& name) const {
    const auto found = std::ranges::find(layers, name, &OnnxLayer::name);
    if (found != layers.end()) return *found;
    ADD_FAILURE() << "there is no layer " << name;
    return {};
  }
  std::int64_t parameters() const {
    std::int64_t sum = 0;
    for (const OnnxLayer& layer : layers) sum += layer.parameters;
    return sum;
  }

  OnnxLayers layers;
  std::vector<OnnxTensorInfo> initializers;
  Model model;
};

/// Returns a network of a convolution, a relu, a pooling and a linear layer for `images`.
OnnxBytes convolutional(const OnnxDimension& images) {
  OnnxBytes bytes;
  bytes.input("x", {images, 1, 8, 8}).output("y");
  bytes.initializer("conv.weight", counted({4, 1, 3, 3})).initializer("conv.bias", counted({4}));
  bytes.initializer("fc.weight", counted({10, 36})).initializer("fc.bias", counted({10}));
  const std::vector<std::int64_t> three{3, 3}, two{2, 2};
  bytes.node({"Conv", {"x", "conv.weight", "conv.bias"}, {"c"}, {{"kernel_shape", three}}, "conv"});
  bytes.node({"Relu", {"c"}, {"r"}, {}, "relu"});
  bytes.node({"MaxPool", {"r"}, {"p"}, {{"kernel_shape", two}, {"strides", two}}, "pool"});
  bytes.node({"Flatten", {"p"}, {"f"}, {}, "flat"});
  bytes.node({"Gemm", {"f", "fc.weight", "fc.bias"}, {"y"}, {{"transB", std::int64_t{1}}}, "fc"});
  return bytes;
}

TEST(LayersOfOnnx, HaveSharesThatAddUpToTheWholeCost) {
  const LayersOf file(convolutional("batch"));
  double sum = 0;
  for (const OnnxLayer& layer : file.layers) {
    EXPECT_GE(layer.cost_share, 0) << layer.name;
    sum += layer.cost_share;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_GT(file.layer("conv").cost_share, file.layer("relu").cost_share);
  EXPECT_GT(file.layer("relu").cost_share, 0);
}

TEST(LayersOfOnnx, HaveTheParametersOfTheFile) {
  const LayersOf file(convolutional("batch"));
  std::int64_t in_file = 0, in_model = 0;
  for (const OnnxTensorInfo& tensor : file.initializers) {
    std::int64_t elements = 1;
    for (const std::string& size : tensor.shape) elements *= std::stoll(size);
    in_file += elements;
  }
  for (const ParameterInfo& parameter : file.model.parameters())
    in_model += parameter.shape.elements();
  EXPECT_EQ(in_file, 4 * 9 + 4 + 10 * 36 + 10);
  EXPECT_EQ(file.parameters(), in_file);
  EXPECT_EQ(file.parameters(), in_model);
  EXPECT_EQ(file.layer("conv").parameters, 4 * 9 + 4);
  EXPECT_EQ(file.layer("relu").parameters, 0);
  EXPECT_EQ(file.layer("fc").parameters, 10 * 36 + 10);
}

TEST(LayersOfOnnx, HaveShapesWithTheSamplesOfTheFile) {
  const LayersOf named(convolutional("batch"));
  EXPECT_EQ(named.layer("conv").shape, (Dims{"batch", "4", "6", "6"}));
  EXPECT_EQ(named.layer("pool").shape, (Dims{"batch", "4", "3", "3"}));
  EXPECT_EQ(named.layer("fc").shape, (Dims{"batch", "10"}));
  EXPECT_EQ(LayersOf(convolutional(5)).layer("conv").shape, (Dims{"5", "4", "6", "6"}));
}

TEST(LayersOfOnnx, HaveAnOpenNumberOfSamplesWhereTheFileHasANegativeOne) {
  const LayersOf file(convolutional(-1));
  EXPECT_EQ(file.layer("fc").shape, (Dims{"batch", "10"}));
}

TEST(LayersOfOnnx, HaveTheShapesOfTheFileIfAllInputsAreOneSample) {
  OnnxBytes bytes;
  bytes.input("x", {2, 3}).output("y");
  bytes.node({"ReduceSum", {"x"}, {"s"}, {{"keepdims", std::int64_t{0}}}, "sum"});
  bytes.node({"Add", {"x", "s"}, {"y"}, {}, "add"});
  EXPECT_EQ(LayersOf(bytes).layers.back().shape, (Dims{"2", "3"}));
}

TEST(LayersOfOnnx, CountSharedParametersOnce) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3}).output("y").initializer("weight", counted({3, 3}));
  bytes.node({"Gemm", {"x", "weight"}, {"h"}, {{"transB", std::int64_t{1}}}, "first"});
  bytes.node({"Gemm", {"h", "weight"}, {"y"}, {{"transB", std::int64_t{1}}}, "second"});
  const LayersOf file(bytes);
  EXPECT_EQ(file.layer("first").parameters, 9);
  EXPECT_EQ(file.layer("second").parameters, 0);
}

TEST(LayersOfOnnx, LeaveOutWhatIsComputedBeforeTheForward) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 2, 3}).output("y").initializer("weight", counted({3, 4}));
  bytes.initializer("dims", integers({0, 2, 2})).initializer("rest", integers({2}));
  bytes.node({"Transpose", {"weight"}, {"t"}, {}, "transpose"});
  bytes.node({"Relu", {"t"}, {"p"}, {}, "positive"});
  bytes.node({"Transpose", {"p"}, {"w"}, {}, "back"});
  bytes.node({"MatMul", {"x", "w"}, {"h"}, {}, "product"});
  bytes.node({"Concat", {"dims", "rest"}, {"shape"}, {{"axis", std::int64_t{0}}}, "shape"});
  bytes.node({"Reshape", {"h", "shape"}, {"y"}, {}, "split"});
  const LayersOf file(bytes);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"product", "split"}));
  EXPECT_EQ(file.layer("product").parameters, 12);
}

TEST(LayersOfOnnx, AreRefusedAsTheModelIs) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3}).output("y").node({"Dream", {"x"}, {"y"}});
  const std::string text = refusal(Errc::unsupported, [&] { LayersOf{bytes}; });
  EXPECT_NE(text.find("Dream"), std::string::npos) << text;
}

TEST(LayersOfOnnx, AreATableWithTotals) {
  const std::string text = to_string(OnnxLayers{
      {.name = "a", .op = "linear", .shape = {"N", "3"}, .parameters = 6, .cost_share = 0.75},
      {.name = "b\x1b", .op = "relu", .shape = {"N", "3"}, .cost_share = 0.25}});
  EXPECT_EQ(text,
            "layer (op)         output  parameters  cost %\n"
            "a (linear)         [N,3]   6           75.0\n"
            "b? (relu)          [N,3]   0           25.0\n"
            "total of 2 layers          6           100.0\n");
}

}  // namespace
}  // namespace penstock::testing
