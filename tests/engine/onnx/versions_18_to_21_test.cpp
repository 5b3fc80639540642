// These tests are about operators that versions 18 to 21 have changed or brought. Numbers are
// worked out by hand, or are PyTorch's.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/onnx/imported_models.hpp"

namespace penstock::testing {
namespace {

using Attributes = std::vector<std::pair<std::string, OnnxSetting>>;
using Numbers = std::vector<std::int64_t>;

/// Returns a file whose node has the input "x" [batch,`dims`...], and "y" as its output.
OnnxBytes around(const OnnxNodeBytes& node, const Numbers& dims) {
  OnnxBytes bytes;
  std::vector<OnnxDimension> sizes{"batch"};
  sizes.insert(sizes.end(), dims.begin(), dims.end());
  bytes.input("x", sizes).output("y").node(node);
  return bytes;
}

void expect_elements(const Tensor& tensor, const Shape& shape, const std::vector<float>& elements) {
  ASSERT_EQ(tensor.shape(), shape);
  for (std::size_t i = 0; i < elements.size(); ++i)
    EXPECT_NEAR(tensor.as<float>()[i], elements[i], 2e-5 * (1 + std::abs(elements[i]))) << i;
}

Tensor tensor_of(const Shape& shape, const std::vector<float>& elements) {
  return {shape, std::span<const float>(elements)};
}

std::string of_one_node(const std::string& op_type, const std::string& reason) {
  return "this node cannot be imported: " + op_type + " (\"node\"): " + reason + export_advice;
}

TEST(Version18, SplitsIntoANumberOfPartsOfWhichTheLastIsSmaller) {
  OnnxBytes bytes = around({"Split",
                            {"x"},
                            {"y", "z"},
                            {{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{2}}},
                            "node"},
                           {5});
  bytes.output("z");
  const Model model = imported(bytes.file(18));
  const Tensor x = tensor_of({1, 5}, {1, 2, 3, 4, 5});
  expect_elements(outputs(model, x, "y"), {1, 3}, {1, 2, 3});
  expect_elements(outputs(model, x, "z"), {1, 2}, {4, 5});
}

TEST(Version18, ReducesTheAxesOfAnInput) {
  const std::vector<std::pair<std::string, float>> results = {
      {"ReduceL1", 7.0f},           {"ReduceL2", 4.5825757f},
      {"ReduceLogSum", 1.9459101f}, {"ReduceLogSumExp", 4.169846f},
      {"ReduceMax", 4.0f},          {"ReduceMean", 7.0f / 3},
      {"ReduceMin", 1.0f},          {"ReduceProd", 8.0f},
      {"ReduceSum", 7.0f},          {"ReduceSumSquare", 21.0f}};
  for (const auto& [op_type, result] : results) {
    OnnxBytes bytes =
        around({op_type, {"x", "axes"}, {"y"}, {{"keepdims", std::int64_t{0}}}}, {2, 3});
    bytes.initializer("axes", integers({-1}));
    SCOPED_TRACE(op_type);
    expect_elements(outputs(imported(bytes.file(18)), tensor_of({1, 2, 3}, {1, 2, 4, 4, 1, 2})),
                    {1, 2}, {result, result});
  }
}

// What is done to each element besides the reduction is done without it, too.
TEST(Version18, ReducesNothingIfAxesAreEmptyAndTheNodeAsksForThat) {
  const std::vector<std::pair<std::string, std::vector<float>>> results = {
      {"ReduceL1", {1, 2, 4}},     {"ReduceL2", {1, 2, 4}},     {"ReduceLogSumExp", {-1, 2, -4}},
      {"ReduceMax", {-1, 2, -4}},  {"ReduceMean", {-1, 2, -4}}, {"ReduceMin", {-1, 2, -4}},
      {"ReduceProd", {-1, 2, -4}}, {"ReduceSum", {-1, 2, -4}},  {"ReduceSumSquare", {1, 4, 16}}};
  for (const auto& [op_type, result] : results)
    for (const bool has_axes : {false, true}) {
      std::vector<std::string> names{"x"};
      if (has_axes) names.push_back("axes");
      OnnxBytes bytes =
          around({op_type, names, {"y"}, {{"noop_with_empty_axes", std::int64_t{1}}}}, {3});
      if (has_axes) bytes.initializer("axes", integers({}));
      SCOPED_TRACE(op_type);
      expect_elements(outputs(imported(bytes.file(18)), tensor_of({1, 3}, {-1, 2, -4})), {1, 3},
                      result);
    }
}

TEST(Version18, PadsTheAxesThatTheNodeNames) {
  OnnxBytes bytes = around({"Pad", {"x", "pads", "nine", "axes"}, {"y"}}, {2, 2});
  bytes.initializer("pads", integers({1, 0})).initializer("axes", integers({-1}));
  bytes.initializer("nine", Tensor({}, {9}));
  expect_elements(outputs(imported(bytes.file(18)), tensor_of({1, 2, 2}, {1, 2, 3, 4})), {1, 2, 3},
                  {9, 1, 2, 9, 3, 4});
}

TEST(Version18, ResizesTheAxesThatTheNodeNames) {
  OnnxBytes bytes = around(
      {"Resize", {"x", "", "scales"}, {"y"}, {{"axes", Numbers{-1, 2}}, {"mode", "nearest"}}},
      {1, 2, 2});
  bytes.initializer("scales", Tensor({2}, {2, 1}));
  expect_elements(outputs(imported(bytes.file(18)), tensor_of({1, 1, 2, 2}, {1, 2, 3, 4})),
                  {1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
}

TEST(Version18, KeepsTheRatioOfTheSidesOfAnImage) {
  const auto sizes = [](const std::string& policy) {
    OnnxBytes bytes = around(
        {"Resize",
         {"x", "", "", "sizes"},
         {"y"},
         {{"axes", Numbers{2, 3}}, {"mode", "nearest"}, {"keep_aspect_ratio_policy", policy}}},
        {1, 3, 4});
    bytes.initializer("sizes", integers({7, 10}));
    return outputs(imported(bytes.file(18)), counted({1, 1, 3, 4})).shape();
  };
  EXPECT_EQ(sizes("stretch"), Shape({1, 1, 7, 10}));
  EXPECT_EQ(sizes("not_larger"), Shape({1, 1, 7, 9}));    // Both are multiplied by 7/3.
  EXPECT_EQ(sizes("not_smaller"), Shape({1, 1, 8, 10}));  // Both are multiplied by 10/4.
}

TEST(Version19, ResizesAroundTheMiddleOfAnImage) {
  OnnxBytes bytes = around({"Resize",
                            {"x", "", "scales"},
                            {"y"},
                            {{"axes", Numbers{2}},
                             {"mode", "linear"},
                             {"coordinate_transformation_mode", "half_pixel_symmetric"}}},
                           {1, 4});
  bytes.initializer("scales", Tensor({1}, {0.6f}));
  expect_elements(outputs(imported(bytes.file(19)), tensor_of({1, 1, 4}, {1, 2, 3, 4})), {1, 1, 2},
                  {1.6666667f, 3.3333333f});
}

TEST(Version18And21, HaveTheWeightsOfAGroupNormByGroupsOrByChannels) {
  const auto normalized = [](std::int64_t opset, const Tensor& scale, const Tensor& bias) {
    OnnxBytes bytes = around(
        {"GroupNormalization", {"x", "s", "b"}, {"y"}, {{"num_groups", std::int64_t{2}}}}, {4, 2});
    bytes.initializer("s", scale).initializer("b", bias);
    return outputs(imported(bytes.file(opset)), tensor_of({1, 4, 2}, {1, 2, 3, 5, -1, 0, 2, 8}));
  };
  expect_elements(normalized(18, Tensor({2}, {1, 2}), Tensor({2}, {0.5f, -1})), {1, 4, 2},
                  {-0.6832132f, -0.0070914f, 0.6690304f, 2.0212741f, -2.8618979f, -2.2890062f,
                   -1.143223f, 2.294127f});
  expect_elements(normalized(21, Tensor({4}, {1, 2, 3, 4}), Tensor({4}, {0.5f, -0.5f, 0, 1})),
                  {1, 4, 2},
                  {-0.6832132f, -0.0070914f, -0.1619389f, 2.5425484f, -2.7928467f, -1.9335092f,
                   0.7135541f, 7.588254f});
}

TEST(Version18And20, HaveActivationsOfTheirOwn) {
  const auto activated = [](const std::string& op_type, std::int64_t opset,
                            const Attributes& attributes = {}) {
    return outputs(imported(around({op_type, {"x"}, {"y"}, attributes}, {3}).file(opset)),
                   tensor_of({1, 3}, {-2, 0, 1.5f}));
  };
  expect_elements(activated("Mish", 18), {1, 3}, {-0.2525015f, 0, 1.4033782f});
  expect_elements(activated("Gelu", 20), {1, 3}, {-0.0455001f, 0, 1.3997891f});
  expect_elements(activated("Gelu", 20, {{"approximate", "tanh"}}), {1, 3},
                  {-0.0454023f, 0, 1.3995715f});
}

TEST(Version19, AveragesOverWindowsWithDilations) {
  const auto averaged = [](const Attributes& attributes, const Numbers& dims, const Tensor& x) {
    return outputs(imported(around({"AveragePool", {"x"}, {"y"}, attributes}, dims).file(19)), x);
  };
  for (const std::int64_t channels : {1, 2}) {
    const std::vector<float> row{1, 3, 6, 8};
    std::vector<float> elements, means;
    for (std::int64_t i = 0; i < channels; ++i) {
      elements.insert(elements.end(), row.begin(), row.end());
      means.insert(means.end(), {3.5f, 5.5f});
    }
    expect_elements(averaged({{"kernel_shape", Numbers{2}}, {"dilations", Numbers{2}}},
                             {channels, 4}, tensor_of({1, channels, 4}, elements)),
                    {1, channels, 2}, means);
  }
  const Tensor x = tensor_of({1, 1, 3, 3}, {1, 2, 3, 4, 50, 6, 7, 8, 9});
  for (const std::int64_t counts_padding : {0, 1}) {
    const Attributes attributes{{"kernel_shape", Numbers{2, 2}},
                                {"dilations", Numbers{2, 2}},
                                {"pads", Numbers{1, 1, 1, 1}},
                                {"count_include_pad", counts_padding}};
    expect_elements(averaged(attributes, {1, 3, 3}, x), {1, 1, 3, 3},
                    counts_padding
                        ? std::vector<float>{12.5f, 2.5f, 12.5f, 2.5f, 5, 2.5f, 12.5f, 2.5f, 12.5f}
                        : std::vector<float>{50, 5, 50, 5, 5, 5, 50, 5, 50});
  }
}

TEST(Version20, TakesTheLargestOfBools) {
  OnnxBytes bytes = around({"Greater", {"x", "zero"}, {"is_positive"}}, {2});
  bytes.initializer("zero", Tensor({}, {0})).initializer("axes", integers({1}));
  bytes.node({"ReduceMax", {"is_positive", "axes"}, {"any"}});
  bytes.node({"Cast", {"any"}, {"y"}, {{"to", std::int64_t{1}}}});
  expect_elements(outputs(imported(bytes.file(20)), tensor_of({2, 2}, {-1, 3, -1, -3})), {2, 1},
                  {1, 0});
}

// The operators that move elements have got new types of elements only.
TEST(Versions18To21, MoveElementsAsBefore) {
  OnnxBytes branch, bytes;
  branch.node({"Unsqueeze", {"flat", "axis"}, {"r"}}).output("r");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 1, 2, 3}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.initializer("axis", integers({1})).initializer("two", integers({2}));
  bytes.initializer("shape", integers({0, 3, -1}));
  bytes.node({"Squeeze", {"x", "axis"}, {"squeezed"}});
  bytes.node({"Transpose", {"squeezed"}, {"turned"}, {{"perm", Numbers{0, 2, 1}}}});
  bytes.node({"Reshape", {"turned", "shape"}, {"shaped"}, {{"allowzero", std::int64_t{0}}}});
  bytes.node({"Flatten", {"shaped"}, {"flat"}, {{"axis", std::int64_t{1}}}});
  bytes.node({"If", {"c"}, {"taken"}, {{"then_branch", branch.graph()}}});
  bytes.node({"Size", {"taken"}, {"size"}}).node({"Shape", {"shaped"}, {"sizes"}});
  bytes.node({"ConstantOfShape", {"two"}, {"ones"}, {{"value", Tensor({1}, {1})}}});
  bytes.node({"ReduceSum", {"ones"}, {"factor"}});
  bytes.node({"Mul", {"taken", "factor"}, {"scaled"}}).node({"Identity", {"scaled"}, {"y"}});
  for (std::int64_t opset = 18; opset <= 21; ++opset)
    expect_elements(
        outputs(imported(bytes.file(opset)), tensor_of({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})),
        {1, 1, 6}, {2, 8, 4, 10, 6, 12});
}

TEST(Versions18To21, TakeZerosInAShapeAsSizesIfTheNodeSaysSo) {
  OnnxBytes bytes =
      around({"Reshape", {"x", "shape"}, {"y"}, {{"allowzero", std::int64_t{1}}}}, {2});
  bytes.initializer("shape", integers({0, 2}));
  EXPECT_NE(refused(Errc::corrupt_file, bytes.file(21)), "accepted");
}

TEST(Versions18To21, AreInFilesOfFormats8To10) {
  for (const std::int64_t format : {8, 9, 10}) {
    OnnxBytes bytes = around({"Relu", {"x"}, {"y"}}, {2});
    bytes.model_field(wire_integer(1, format));
    expect_elements(outputs(imported(bytes.file(21)), tensor_of({1, 2}, {-1, 3})), {1, 2}, {0, 3});
  }
}

TEST(Versions18To21, HaveOperatorsThatAreRefused) {
  for (const char* op_type : {"AffineGrid", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
                              "CenterCropPad", "Col2Im", "DeformConv", "GridSample", "ImageDecoder",
                              "Loop", "RegexFullMatch", "StringConcat", "StringSplit"})
    EXPECT_EQ(refused(Errc::unsupported, around({op_type, {"x"}, {"y"}, {}, "node"}, {3}).file(21)),
              of_one_node(op_type, "Penstock does not have this operator"));
}

TEST(Versions18To21, HaveFormsThatAreRefused) {
  const Attributes dilated{
      {"kernel_shape", Numbers{2}}, {"dilations", Numbers{2}}, {"ceil_mode", std::int64_t{1}}};
  EXPECT_EQ(refused(Errc::unsupported,
                    around({"AveragePool", {"x"}, {"y"}, dilated, "node"}, {1, 4}).file(19)),
            of_one_node("AveragePool", "its windows have dilations, and its ceil_mode is 1"));
  EXPECT_EQ(refused(Errc::unsupported,
                    around({"LpPool", {"x"}, {"y"}, dilated, "node"}, {1, 4}).file(18)),
            of_one_node("LpPool", "its windows have dilations"));
  OnnxBytes wrapped = around({"Pad", {"x", "pads"}, {"y"}, {{"mode", "wrap"}}, "node"}, {3});
  wrapped.initializer("pads", integers({0, 1, 0, 1}));
  EXPECT_EQ(refused(Errc::unsupported, wrapped.file(19)),
            of_one_node("Pad", "its mode \"wrap\" has no counterpart"));
  OnnxBytes smooth = around({"Resize",
                             {"x", "", "scales"},
                             {"y"},
                             {{"mode", "linear"}, {"antialias", std::int64_t{1}}},
                             "node"},
                            {3});
  smooth.initializer("scales", Tensor({2}, {1, 0.5f}));
  EXPECT_EQ(refused(Errc::unsupported, smooth.file(18)),
            of_one_node("Resize", "its attribute antialias has no counterpart"));
}

TEST(Versions18To21, HaveTypesThatAreRefused) {
  const std::vector<std::pair<std::int64_t, std::string>> types = {
      {17, "float8e4m3fn"}, {20, "float8e5m2fnuz"}, {21, "uint4"}, {22, "int4"}};
  for (const auto& [number, name] : types) {
    EXPECT_EQ(refused(Errc::unsupported,
                      around({"Cast", {"x"}, {"y"}, {{"to", number}}, "node"}, {3}).file(21)),
              of_one_node(
                  "Cast",
                  "it casts to " + name +
                      ", and there are casts to float, double, int32, int64 and bool alone, and to "
                      "uint8 of what is known at import"));
    OnnxBytes bytes = around({"Add", {"x", "w"}, {"y"}, {}, "node"}, {3});
    bytes.graph_field(wire_bytes(5, wire_integer(1, 3) + wire_integer(2, number) +
                                        wire_bytes(8, "w") + wire_bytes(9, "123")));
    EXPECT_EQ(refused(Errc::unsupported, bytes.file(21)),
              "tensor \"w\": Penstock has no tensors of " + name + export_advice);
  }
  OnnxBytes texts = around({"Equal", {"x", "w"}, {"y"}, {}, "node"}, {1});
  texts.graph_field(wire_bytes(
      5, wire_integer(1, 1) + wire_integer(2, 8) + wire_bytes(6, "a") + wire_bytes(8, "w")));
  EXPECT_EQ(refused(Errc::unsupported, texts.file(19)),
            "tensor \"w\": Penstock has no tensors of string" + std::string(export_advice));
}

}  // namespace
}  // namespace penstock::testing
