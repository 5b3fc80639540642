#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

TEST(RunOnnx, TakesTheNumberOfSamplesOfItsInputs) {
  OnnxBytes bytes = counting({"batch", 3});
  bytes.output("shape");
  bytes.node({"Div", {"x", "count"}, {"y"}});
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  const auto results =
      run_onnx((directory / "model.onnx").string(),
               {{"x", Tensor({4, 3}, std::span<const float>(std::vector<float>(12, 8)))}});
  EXPECT_EQ(results[0].tensor.as<float>()[0], 2);
  EXPECT_EQ(results[1].tensor.as<std::int64_t>()[0], 4);
}

TEST(RunOnnx, RefusesInputsOfOtherShapesAndTypes) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", perceptron().file());
  const std::string path = (directory / "model.onnx").string();
  for (const Tensor& x : {Tensor({}, {1}), counted({4}), counted({2, 3}), integers({1, 2, 3, 4})})
    EXPECT_NE(refusal(Errc::shape_mismatch, [&] { run_onnx(path, {{"x", x}}); }), "accepted");
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { run_onnx(path, {}); }), "accepted");
}

TEST(RunOnnx, TakesAnyNumberOfSamplesIfOperatorsKeepThemApart) {
  OnnxBytes apart;
  apart.input("x", {1, 2, 3}).output("y").initializer("flat", integers({1, 6}));
  apart.node({"Reshape", {"x", "flat"}, {"y"}});
  OnnxBytes mixed;
  mixed.input("x", {1, 2, 3}).output("y");
  mixed.node({"ReduceSum", {"x"}, {"y"}, {{"keepdims", std::int64_t{0}}}});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, apart.file());
  EXPECT_EQ(run_onnx(path, {{"x", counted({5, 2, 3})}})[0].tensor.shape(), Shape({5, 6}));
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] {
                      run_onnx(path, {{"x", counted({1, 5, 3})}});
                    }),
            "accepted");
  write_file(path, mixed.file());
  EXPECT_EQ(run_onnx(path, {{"x", counted({1, 2, 3})}})[0].tensor.shape(), Shape());
  const std::string text = refusal(Errc::shape_mismatch, [&] {
    run_onnx(path, {{"x", counted({5, 2, 3})}});
  });
  EXPECT_NE(text.find("input \"x\": expected float[1,2,3], got f32[5,2,3]; another number of "
                      "samples needs operators that keep samples apart"),
            std::string::npos)
      << text;
}

TEST(RunOnnx, TakesFirstAxesWithoutNamesOfDifferentSizes) {
  OnnxBytes bytes;
  bytes.input("a", {"", 4}).input("b", {"", 4}).output("y").output("r");
  bytes.node({"Transpose", {"b"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0}}}});
  bytes.node({"MatMul", {"a", "t"}, {"y"}}).node({"Relu", {"b"}, {"r"}});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  const Tensor a = counted({2, 4}), b = counted({3, 4}, 0.7f);
  const auto results = run_onnx(path, {{"a", a}, {"b", b}});
  ASSERT_EQ(results[0].tensor.shape(), Shape({2, 3}));
  EXPECT_EQ(results[1].tensor.shape(), Shape({3, 4}));
  float product = 0;
  for (std::size_t i = 0; i < 4; ++i) product += a.as<float>()[i] * b.as<float>()[8 + i];
  EXPECT_NEAR(results[0].tensor.as<float>()[2], product, 1e-6);
}

TEST(RunOnnx, ComputesInTheTypesAndShapesOfTheFile) {
  OnnxBytes bytes;
  bytes.input("x", {2, 3}).output("most").output("is_large").output("shape");
  bytes.node({"ArgMax", {"x"}, {"most"}, {{"axis", std::int64_t{1}}}});
  bytes.initializer("half", Tensor({}, {0.5f}));
  bytes.node({"Greater", {"x", "half"}, {"is_large"}});
  bytes.node({"Shape", {"x"}, {"shape"}});
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  const auto results = run_onnx((directory / "model.onnx").string(),
                                {{"x", Tensor({2, 3}, {0, 1, 0.2f, 0.7f, 0.1f, 0.6f})}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].tensor.shape(), Shape({2, 1}));
  EXPECT_EQ(results[0].tensor.as<std::int64_t>()[0], 1);
  EXPECT_EQ(results[0].tensor.as<std::int64_t>()[1], 0);
  ASSERT_EQ(results[1].tensor.dtype(), DType::boolean);
  EXPECT_FALSE(results[1].tensor.as<bool>()[0]);
  EXPECT_TRUE(results[1].tensor.as<bool>()[5]);
  EXPECT_EQ(results[2].tensor.as<std::int64_t>()[1], 3);
}

TEST(RunOnnx, CompilesInputsInThatAnOperatorHasToKnow) {
  OnnxBytes bytes;
  bytes.input("x", {2, 6}).input("shape", {3}, DType::i64).output("y");
  bytes.node({"Reshape", {"x", "shape"}, {"y"}});
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  const std::string path = (directory / "model.onnx").string();
  const std::vector<std::int64_t> dims{2, 3, 2};
  const auto results = run_onnx(
      path, {{"x", counted({2, 6})}, {"shape", Tensor({3}, std::span<const std::int64_t>(dims))}});
  EXPECT_EQ(results[0].tensor.shape(), Shape({2, 3, 2}));
  EXPECT_NE(refusal(Errc::unsupported, [&] { Model::from_onnx(path); }), "accepted");
}

TEST(DescribeOnnx, LeavesDimensionsOpenThatAreNegativeInTheFile) {
  const TemporaryDirectory directory;
  OnnxBytes bytes;
  bytes.input("x", {-1, 4}).output("y").node({"Relu", {"x"}, {"y"}});
  write_file(directory / "model.onnx", bytes.file());
  const OnnxSummary summary = describe_onnx((directory / "model.onnx").string());
  EXPECT_EQ(summary.inputs[0].shape, (std::vector<std::string>{"?", "4"}));
}

TEST(DescribeOnnx, SaysWhatIsInAFile) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", perceptron().file());
  const OnnxSummary summary = describe_onnx((directory / "model.onnx").string());
  EXPECT_EQ(summary.opset, 17);
  ASSERT_EQ(summary.inputs.size(), 1u);
  EXPECT_EQ(summary.inputs[0].shape, (std::vector<std::string>{"batch", "4"}));
  ASSERT_EQ(summary.operators.size(), 2u);
  EXPECT_EQ(summary.operators[0].op_type, "Gemm");
  EXPECT_EQ(summary.operators[0].nodes, (std::vector<std::string>{"fc1.Gemm", "fc2.Gemm"}));
  EXPECT_EQ(summary.initializers.size(), 4u);
}

TEST(LoadedOnnx, HasTheBytesOfTheFileAsTheyWereRead) {
  const TemporaryDirectory directory;
  const std::string content = perceptron().file();
  write_file(directory / "model.onnx", content);
  std::optional<LoadedOnnx> first((directory / "model.onnx").string());
  const LoadedOnnx file = *first;
  first.reset();
  write_file(directory / "model.onnx", "another file");
  const std::span<const std::byte> bytes = file.bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), content);
  EXPECT_EQ(file.model({}).parameters().size(), 4u);
}

}  // namespace
}  // namespace penstock::testing
