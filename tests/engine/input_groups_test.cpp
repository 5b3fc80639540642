// These tests check replicas that share their inputs.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

// Replicas 0 and 1 share their rows, and replicas 2 and 3 share theirs.
TEST(InputGroups, D6_GetTheSameRows) {
  Options options = options_for(1, 1, 2);
  options.topology.replication_factor = 4;
  options.topology.input_group_size = 2;
  options.output.mode = OutputMode::all;
  EXPECT_EQ(options.samples_per_step(), 4);
  const Model model = plain_model();
  InferenceModel grouped(model, options), single(model, options_for(4, 1, 1));
  const Tensor x = samples(4, false)[0];
  const Tensor each = single.run({x}).output("y"), y = grouped.run({x}).output("y");
  ASSERT_EQ(y.shape(), (Shape{8, 4}));
  for (std::int64_t row = 0; row < 8; ++row) {
    const Tensor expected = each.rows(row / 2, row / 2 + 1), actual = y.rows(row, row + 1);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_FLOAT_EQ(actual.as<float>()[i], expected.as<float>()[i]) << row;
  }
  EXPECT_NE(
      refusal(Errc::shape_mismatch, [&] { grouped.run({x.rows(0, 1)}); }).find("input_group_size"),
      std::string::npos);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { grouped.run({samples(6, false)[0]}); }),
            "run: expected 1 to 4 samples (batch size x device iterations x input groups), got 6");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(grouped, {x}); }),
            "predict: expected replicas with inputs of their own, but "
            "options.topology.input_group_size is 2, and a sample has as many rows; call "
            "InferenceModel::run(), which returns them all");
}

TEST(InputGroups, D6_TrainAsOnRowsThatAreGivenTwice) {
  Options grouped = options_for(2, 2, 1), twice = grouped;
  grouped.topology.replication_factor = twice.topology.replication_factor = 2;
  grouped.topology.input_group_size = 2;
  const Model one = plain_model(), other = plain_model();
  const auto data = samples(4, false);
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  for (const std::int64_t row : {0, 1, 0, 1, 2, 3, 2, 3}) {
    const Tensor one_row = data[0].rows(row, row + 1);
    x.insert(x.end(), one_row.as<float>().begin(), one_row.as<float>().end());
    labels.push_back(data[1].as<std::int64_t>()[static_cast<std::size_t>(row)]);
  }
  TrainingModel(one, grouped).step(data);
  TrainingModel(other, twice).step({Tensor({8, 4}, x), Tensor({8}, labels)});
  expect_same_weights(one, other);
}

}  // namespace
}  // namespace penstock::testing
