// These tests compare batch norms of values in the batch-lane layout, in which every lane has a
// sample, with batch norms of the same values without lanes.
#include <gtest/gtest.h>

#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/batch_norm_gradients.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::expect_close;
using testing::lanes_of;
using testing::outputs_of;
using testing::samples_of;
using testing::uniform;

constexpr std::int64_t batch = 32, channels = 3;

class BatchNormLanes : public ::testing::Test {
 protected:
  std::vector<Tensor> inputs(const Tensor& x) const {
    return {x, weight_, bias_, mean_, variance_};
  }

  const Tensor x_ = uniform({batch, channels, 5, 2}, 1), dy_ = uniform(x_.shape(), 2);
  const Tensor weight_ = uniform({channels}, 3), bias_ = uniform({channels}, 4);
  const Tensor mean_ = uniform({channels}, 5), variance_ = uniform({channels}, 6, 0.5, 2);
};

TEST_F(BatchNormLanes, HaveTheStatisticsAndResultsOfPlainOnes) {
  const auto lanes = outputs_of(batch_norm, inputs(lanes_of(x_)));
  const auto plain = outputs_of(batch_norm, inputs(x_));
  expect_close(samples_of(lanes[0], batch), plain[0]);
  for (std::size_t i = 1; i < plain.size(); ++i) expect_close(lanes[i], plain[i]);
  const auto inference = outputs_of(batch_norm_inference, inputs(lanes_of(x_)));
  expect_close(samples_of(inference[0], batch), outputs_of(batch_norm_inference, inputs(x_))[0]);
}

TEST_F(BatchNormLanes, HaveTheGradientsOfPlainOnes) {
  const auto plain = outputs_of(batch_norm, inputs(x_));
  const auto gradients = [&](const Tensor& dy, const Tensor& x) {
    return outputs_of(batch_norm_gradients, {dy, x, plain[1], plain[2], weight_});
  };
  const auto lanes = gradients(lanes_of(dy_), lanes_of(x_)), expected = gradients(dy_, x_);
  expect_close(samples_of(lanes[0], batch), expected[0]);
  expect_close(lanes[1], expected[1]);
  expect_close(lanes[2], expected[2]);
}

}  // namespace
}  // namespace penstock::graph
