#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

/// Returns a network that puts a trained row of [1,1,3] in front of the rows of each sample of x,
/// as vision transformers do. `count` is what x says of its first axis, and `shape` is the input
/// that Expand takes.
OnnxBytes with_class_token(const OnnxDimension& count, const std::string& shape) {
  OnnxBytes bytes;
  bytes.input("x", {count, 2, 3}).output("y").initializer("token", Tensor({1, 1, 3}, {7, 8, 9}));
  bytes.initializer("fixed", integers({2, 1, 3})).initializer("tail", integers({1, 3}));
  bytes.initializer("zero", integers({0}));
  bytes.node({"Shape", {"x"}, {"sizes"}}).node({"Gather", {"sizes", "zero"}, {"first"}});
  bytes.node({"Concat", {"first", "tail"}, {"counted"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"Expand", {"token", shape}, {"tokens"}});
  bytes.node({"Concat", {"tokens", "x"}, {"y"}, {{"axis", std::int64_t{1}}}});
  return bytes;
}

TEST(RunOnnx, RepeatsATrainedRowForEachSample) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  const auto check = [&](std::int64_t samples) {
    const Tensor x = counted({samples, 2, 3});
    const Tensor y = run_onnx(path, {{"x", x}})[0].tensor;
    ASSERT_EQ(y.shape(), Shape({samples, 3, 3}));
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const auto rows = y.as<float>().subspan(static_cast<std::size_t>(9 * sample), 9);
      EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 3), (std::vector<float>{7, 8, 9}));
      EXPECT_TRUE(std::ranges::equal(
          rows.subspan(3), x.as<float>().subspan(static_cast<std::size_t>(6 * sample), 6)));
    }
  };
  write_file(path, with_class_token("batch", "counted").file());
  for (const std::int64_t samples : {1, 2, 3, 5}) check(samples);
  // This file says that there are two samples. The network does the same with any other number.
  write_file(path, with_class_token(2, "fixed").file());
  for (const std::int64_t samples : {2, 1, 3}) check(samples);
}

// The loss is the mean of the squares of y. Its gradient by an element w of the token is the sum
// over the samples, 4 · 2w / (4 · 9), and a step with a learning rate of 0.9 multiplies w by 0.8.
TEST(FromOnnx, TrainsARowThatIsRepeatedForEachSample) {
  for (const auto& [count, shape] : {std::pair<OnnxDimension, std::string>{"batch", "counted"},
                                     std::pair<OnnxDimension, std::string>{2, "fixed"}}) {
    Model model = imported(with_class_token(count, shape).file());
    ASSERT_EQ(model.parameters().size(), 1u);
    EXPECT_EQ(model.parameters()[0].shape, Shape({1, 1, 3}));
    const Value zeros = model.input("zeros", {3, 3});
    model.loss(model.mse_loss(model.output("y"), zeros));
    TrainingModel training(model, {.batch_size = 4, .device_iterations = 1},
                           Sgd{.learning_rate = 0.9});
    training.step({counted({4, 2, 3}), Tensor::zeros(DType::f32, {4, 3, 3})});
    const std::vector<float> expected = {5.6f, 6.4f, 7.2f};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(model.weight("token").as<float>()[i], expected[i], 1e-5);
  }
}

TEST(RunOnnx, RepeatsARowAlongOtherAxesAsWell) {
  OnnxBytes bytes;
  bytes.input("x", {2, 2, 3}).output("y").initializer("token", Tensor({1, 1, 3}, {7, 8, 9}));
  bytes.initializer("shape", integers({2, 4, 3}));
  bytes.node({"Expand", {"token", "shape"}, {"tokens"}});
  bytes.node({"Concat", {"x", "tokens"}, {"y"}, {{"axis", std::int64_t{1}}}});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  const Tensor y = run_onnx(path, {{"x", counted({3, 2, 3})}})[0].tensor;
  ASSERT_EQ(y.shape(), Shape({3, 6, 3}));
  for (std::size_t sample = 0; sample < 3; ++sample)
    for (std::size_t i = 6; i < 18; ++i)
      EXPECT_EQ(y.as<float>()[18 * sample + i], 7 + static_cast<float>(i % 3));
}

TEST(RunOnnx, RepeatsIntegersForEachSample) {
  OnnxBytes bytes;
  bytes.input("x", {2, 2}, DType::i64).output("y").initializer("row", Tensor({1, 3}, {1, 5, 2}));
  bytes.initializer("shape", integers({2, 1}));
  bytes.node({"ArgMax", {"row"}, {"largest"}, {{"axis", std::int64_t{1}}}});
  bytes.node({"Expand", {"largest", "shape"}, {"all"}}).node({"Add", {"all", "x"}, {"y"}});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  const Tensor x =
      Tensor({2, 2}, std::span<const std::int64_t>(std::vector<std::int64_t>{1, 2, 3, 4}));
  const Tensor y = run_onnx(path, {{"x", x}})[0].tensor;
  ASSERT_EQ(y.dtype(), DType::i64);
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(y.as<std::int64_t>()[static_cast<std::size_t>(i)], i + 2);
}

// The largest element of the row is known only when the model runs, because the row may be trained.
TEST(RunOnnx, JoinsIntegersOfSamplesWithThoseThatAreTheSameForEach) {
  for (const bool is_repeated : {false, true}) {
    const std::int64_t samples = is_repeated ? 2 : 1;
    OnnxBytes bytes;
    bytes.input("x", {samples, 2}, DType::i64).output("y");
    bytes.initializer("row", Tensor({1, 3}, {1, 5, 2})).initializer("shape", integers({2, 1}));
    bytes.node({"ArgMax", {"row"}, {"largest"}, {{"axis", std::int64_t{1}}}});
    if (is_repeated) bytes.node({"Expand", {"largest", "shape"}, {"all"}});
    bytes.node(
        {"Concat", {is_repeated ? "all" : "largest", "x"}, {"y"}, {{"axis", std::int64_t{1}}}});
    const TemporaryDirectory directory;
    const std::string path = (directory / "model.onnx").string();
    write_file(path, bytes.file());
    const Tensor y = run_onnx(path, {{"x", integers({7, 8, 9, 10}).reshaped({2, 2})}})[0].tensor;
    ASSERT_EQ(y.dtype(), DType::i64);
    ASSERT_EQ(y.shape(), Shape({2, 3}));
    const std::vector<std::int64_t> expected{1, 7, 8, 1, 9, 10};
    EXPECT_TRUE(std::ranges::equal(y.as<std::int64_t>(), expected));
  }
}

TEST(RunOnnx, RoundsNoIntegersThatAreOnlyMoved) {
  OnnxBytes bytes;
  bytes.input("x", {1, 3}, DType::i64).output("y").initializer("front", integers({0}));
  bytes.node({"Unsqueeze", {"x", "front"}, {"u"}});
  bytes.node({"Transpose", {"u"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  bytes.node({"Concat", {"u", "t"}, {"y"}, {{"axis", std::int64_t{2}}}});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  const std::vector<std::int64_t> x{1, 16'777'217, (std::int64_t{1} << 40) + 1};
  const Tensor y = run_onnx(path, {{"x", integers(x).reshaped({1, 3})}})[0].tensor;
  ASSERT_EQ(y.shape().elements(), 6);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(y.as<std::int64_t>()[i], x[i % 3]);
}

// Only the number of samples is taken from x.
TEST(FromOnnx, CountsSamplesByAnInputOfAnyTypeAndRank) {
  for (const DType type : {DType::f32, DType::i64, DType::u8, DType::boolean}) {
    OnnxBytes bytes;
    bytes.input("x", {"batch"}, type).output("y").initializer("row", Tensor({1, 3}, {1, 5, 2}));
    bytes.initializer("three", integers({3})).node({"Shape", {"x"}, {"size"}});
    bytes.node({"Concat", {"size", "three"}, {"shape"}, {{"axis", std::int64_t{0}}}});
    bytes.node({"Expand", {"row", "shape"}, {"y"}});
    const Tensor y = outputs(imported(bytes.file()), Tensor::zeros(type, {4}));
    ASSERT_EQ(y.shape(), Shape({4, 3})) << to_string(type);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_EQ(y.as<float>()[i], (std::array{1.0f, 5.0f, 2.0f})[i % 3]) << to_string(type);
  }
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

/// Returns an RNN of one step over one sample, x [1,1,2], with the initial state `state`.
OnnxBytes one_step(const Tensor& state) {
  OnnxBytes bytes;
  bytes.input("x", {1, 1, 2}).output("y").initializer("w", counted({1, 3, 2}));
  bytes.initializer("r", counted({1, 3, 3})).initializer("h", state);
  const std::int64_t hidden = 3;
  bytes.node({"RNN", {"x", "w", "r", "", "", "h"}, {"y"}, {{"hidden_size", hidden}}, "rnn"});
  return bytes;
}

TEST(RunOnnx, TakesNoStepsOfARecurrentLayerForSamples) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, one_step(Tensor::zeros(DType::f32, {1, 1, 3})).file());
  EXPECT_EQ(run_onnx(path, {{"x", counted({1, 4, 2})}})[0].tensor.shape().elements(), 12);
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] {
                      run_onnx(path, {{"x", counted({4, 1, 2})}});
                    }),
            "accepted");
}

TEST(RunOnnx, RefusesInitialStatesOfAnotherRank) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  for (const Tensor& state : {Tensor({}, {1}), counted({3}), counted({1, 3})}) {
    write_file(path, one_step(state).file());
    const std::string text = refusal(Errc::corrupt_file, [&] {
      run_onnx(path, {{"x", counted({1, 1, 2})}});
    });
    EXPECT_NE(text.find("expected initial states of three axes"), std::string::npos) << text;
  }
}

// A Squeeze without axes takes away the axis of the samples if there is one.
TEST(RunOnnx, RefusesAVectorWhereGemmExpectsAMatrix) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 2, 1, 1}).output("y").initializer("w", counted({2, 2}));
  bytes.node({"Squeeze", {"x"}, {"s"}});
  bytes.node({"Gemm", {"s", "w"}, {"y"}, {{"transB", std::int64_t{1}}}, "fc"});
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  EXPECT_EQ(run_onnx(path, {{"x", counted({2, 2, 1, 1})}})[0].tensor.shape(), Shape({2, 2}));
  const std::string text = refusal(Errc::corrupt_file, [&] {
    run_onnx(path, {{"x", counted({1, 2, 1, 1})}});
  });
  EXPECT_NE(text.find("Gemm \"fc\": expected matrices of two axes, got 1 and 2 axes"),
            std::string::npos)
      << text;
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
