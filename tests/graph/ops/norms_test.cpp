// These tests check properties of the norms that the generic tests of ops do not reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/ops/list.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "penstock/error.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::run;

Tensor filled(const Shape& shape, float value) {
  const std::vector<float> values(static_cast<std::size_t>(shape.elements()), value);
  return {shape, std::span<const float>(values)};
}

OpCall batch_norm_of(const Tensor& x) {
  const Shape channels{x.shape()[1]};
  return {.op = &batch_norm,
          .inputs = {x, filled(channels, 1), filled(channels, 0), filled(channels, 0),
                     filled(channels, 1)}};
}

/// Returns a call of every norm. Each norm normalises all of x, which has one channel.
std::vector<OpCall> norms(const Tensor& x) {
  return {batch_norm_of(x),
          {.op = &find_op("group_norm"), .inputs = {x}},
          {.op = &untracked_batch_norm,
           .inputs = {x, filled({x.shape()[1]}, 1), filled({x.shape()[1]}, 0)}},
          {.op = &find_op("layer_norm"), .inputs = {x, filled(x.shape(), 1)}}};
}

TEST(Norms, KeepTheirPrecisionFarFromZero) {
  const Shape shape{1, 1, 64, 64};
  const Tensor far = testing::uniform(shape, 1, 1000, 1001);
  double sum = 0, squares = 0;
  for (const float value : far.as<float>()) sum += value;
  const double mean = sum / 4096;
  for (const float value : far.as<float>()) squares += (value - mean) * (value - mean);
  const double inverse_std = 1 / std::sqrt(squares / 4096 + 1e-5);
  for (const OpCall& call : norms(far)) {
    const auto outputs = run(call);
    for (std::size_t i = 0; i < 4096; ++i)
      ASSERT_NEAR(outputs[0].as<float>()[i], (far.as<float>()[i] - mean) * inverse_std, 5e-4)
          << call.op->name;
    EXPECT_NEAR(outputs[2].item(), inverse_std, 1e-5 * inverse_std) << call.op->name;
  }
}

TEST(Norms, GiveTheBiasWhereNothingVaries) {
  for (const OpCall& call : norms(filled({1, 1, 8, 8}, 3.25f))) {
    const Tensor y = run(call)[0];
    for (const float value : y.as<float>()) EXPECT_EQ(value, 0) << call.op->name;
  }
}

TEST(BatchNorm, RefusesToTrainOnOneValuePerChannel) {
  try {
    run(batch_norm_of(filled({1, 6, 1, 1}, 2)));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::shape_mismatch);
    EXPECT_STREQ(error.what(),
                 "expected more than one value per channel to train on, got f32[1,6,1,1]");
  }
}

TEST(BatchNorm, BecomesItsInferenceFormOnTheRunningStatistics) {
  ASSERT_EQ(&batch_norm.inference(), &batch_norm_inference);
  const Tensor x = testing::uniform({5, 3, 4, 4}, 1);
  OpCall call = batch_norm_of(x);
  // With this momentum, the running statistics become those of the micro-batch.
  call.attributes.set("momentum", 1.0);
  const auto trained = run(call);
  const double unbiased = 80.0 / 79;
  const auto y = run({.op = &batch_norm_inference,
                      .inputs = {x, call.inputs[1], call.inputs[2], trained[3], trained[4]}})[0];
  for (std::size_t i = 0; i < y.as<float>().size(); ++i)
    EXPECT_NEAR(y.as<float>()[i] * std::sqrt(unbiased), trained[0].as<float>()[i], 1e-4);
}

TEST(BatchNorm, CumulatesTheMeansOfAllMicroBatches) {
  const Shape c{3};
  Tensor mean = filled(c, 7), variance = filled(c, 9), batches = filled(c, 0);
  std::vector<double> means(3), variances(3);
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    const Tensor x = testing::uniform({10, 3}, batch + 1);
    const auto outputs = run({.op = &cumulative_batch_norm,
                              .inputs = {x, filled(c, 1), filled(c, 0), mean, variance, batches}});
    const auto plain = run(batch_norm_of(x));
    for (std::size_t i = 0; i < 3; ++i) {
      means[i] += plain[1].as<float>()[i] / 4;
      const double inverse = plain[2].as<float>()[i];
      variances[i] += (1 / (inverse * inverse) - 1e-5) * 10 / 9 / 4;
    }
    mean = outputs[3], variance = outputs[4], batches = outputs[5];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(mean.as<float>()[i], means[i], 1e-6);
    EXPECT_NEAR(variance.as<float>()[i], variances[i], 1e-6);
    EXPECT_EQ(batches.as<float>()[i], 4);
  }
}

}  // namespace
}  // namespace penstock::graph
