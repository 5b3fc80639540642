#include "apps/trainer/output/metrics.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace trainer {
namespace {

using nlohmann::json;

StepMetrics two_micro_batches() {
  StepMetrics step;
  step.epoch = 2;
  step.step = 3;
  step.updates = 40;
  step.loss = 1.0 / 7;
  step.losses = {0.1F, 2.3025851F};
  step.accuracy = 1.0 / 3;
  step.samples_per_second = 12345.678;
  return step;
}

TEST(StepMetrics, NumbersReadBackAsTheyWere) {
  const StepMetrics step = two_micro_batches();
  const json line = json::parse(to_json(step));
  EXPECT_EQ(line["losses"][0].get<double>(), double{step.losses[0]});
  EXPECT_EQ(line["losses"][1].get<double>(), double{step.losses[1]});
  EXPECT_EQ(line["loss"].get<double>(), step.loss);
  EXPECT_EQ(line["accuracy"].get<double>(), step.accuracy);
  EXPECT_EQ(line["samples_per_second"].get<double>(), step.samples_per_second);
}

TEST(StepMetrics, AreOneObjectOnOneLineInAFixedOrder) {
  StepMetrics step = two_micro_batches();
  step.loss = 1;
  step.losses = {0.5F, 1.5F};
  step.accuracy = 0.25;
  step.samples_per_second = 1000;
  EXPECT_EQ(to_json(step), R"({"epoch":2,"step":3,"updates":40,"loss":1,"losses":[0.5,1.5],)"
                           R"("accuracy":0.25,"samples_per_second":1000})");
}

TEST(StepMetrics, ALossThatIsNoNumberIsNull) {
  StepMetrics step = two_micro_batches();
  step.loss = std::numeric_limits<double>::quiet_NaN();
  step.losses = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  const json line = json::parse(to_json(step));
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["losses"][0].is_null());
  EXPECT_TRUE(line["losses"][1].is_null());
}

TEST(RunMetrics, OfALanguageModelHaveALossAndASpeedInTokens) {
  const json summary =
      json::parse(to_json(RunMetrics{.validation_loss = 1.5, .tokens_per_second = 20000}))
          .at("summary");
  EXPECT_EQ(summary.at("validation_loss"), 1.5);
  EXPECT_EQ(summary.at("tokens_per_second"), 20000);
  EXPECT_FALSE(summary.contains("test_accuracy"));
  const json of_images = json::parse(to_json(RunMetrics{.test_accuracy = 0.5})).at("summary");
  EXPECT_FALSE(of_images.contains("validation_loss"));
  EXPECT_FALSE(of_images.contains("tokens_per_second"));
  EXPECT_FALSE(json::parse(to_json(StepMetrics{})).contains("accuracy"));
}

TEST(RunMetrics, ListEveryStageOfEveryReplica) {
  RunMetrics run;
  run.compile_seconds = 0.5;
  run.plans_from_cache = 2;
  run.train_samples_per_second = 10000;
  run.train_waited_seconds = 1.5;
  run.inference_samples_per_second = 20000;
  run.test_accuracy = 0.75;
  run.peak_rss_bytes = 5'000'000'000;
  run.stages.resize(2);
  run.stages[1] = {.replica = 1,
                   .stage = 2,
                   .ipu = 3,
                   .forward_runs = 4,
                   .backward_runs = 5,
                   .recomputed_runs = 10,
                   .max_in_flight = 6,
                   .busy_seconds = 7.5,
                   .sent_bytes = 16,
                   .peak_bytes = 8,
                   .shared_bytes = 3,
                   .optimizer_bytes_on_ipu = 9,
                   .optimizer_state = {.bytes = 11,
                                       .loads = 12,
                                       .stores = 13,
                                       .loaded_bytes = 14,
                                       .stored_bytes = 15,
                                       .padding_bytes = 16},
                   .accumulators = {.bytes = 21,
                                    .loads = 22,
                                    .stores = 23,
                                    .loaded_bytes = 24,
                                    .stored_bytes = 25,
                                    .padding_bytes = 26},
                   .collectives = {.all_reduces = 31,
                                   .reduce_scatters = 32,
                                   .all_gathers = 33,
                                   .all_reduced_bytes = 34,
                                   .scattered_bytes = 35,
                                   .gathered_bytes = 36},
                   .activations = {.bytes = 51,
                                   .loads = 52,
                                   .stores = 53,
                                   .loaded_bytes = 54,
                                   .stored_bytes = 55,
                                   .padding_bytes = 56},
                   .weights = {.bytes = 41,
                               .loads = 42,
                               .stores = 43,
                               .loaded_bytes = 44,
                               .stored_bytes = 45,
                               .padding_bytes = 46},
                   .forward_weight_loads = 61,
                   .backward_weight_loads = 62,
                   .padding_bytes = 63,
                   .bytes_shared_by_replicas = 64};
  const json summary = json::parse(to_json(run)).at("summary");
  EXPECT_EQ(summary, json::parse(R"({
    "compile_seconds": 0.5, "plans_from_cache": 2, "train_samples_per_second": 10000,
    "train_waited_seconds": 1.5, "inference_samples_per_second": 20000,
    "test_accuracy": 0.75, "peak_rss_bytes": 5000000000,
    "stages": [
      {"replica": 0, "stage": 0, "ipu": 0, "forward_runs": 0, "backward_runs": 0,
       "recomputed_runs": 0, "max_in_flight": 0, "busy_seconds": 0, "sent_bytes": 0,
       "peak_bytes": 0, "shared_bytes": 0,
       "optimizer_bytes_on_ipu": 0, "padding_bytes": 0, "bytes_shared_by_replicas": 0,
       "offloaded_optimizer_state": {"bytes": 0, "loads": 0,
        "stores": 0, "loaded_bytes": 0, "stored_bytes": 0, "padding_bytes": 0},
       "offloaded_accumulators": {"bytes": 0, "loads": 0,
        "stores": 0, "loaded_bytes": 0, "stored_bytes": 0, "padding_bytes": 0},
       "offloaded_activations": {"bytes": 0, "loads": 0,
        "stores": 0, "loaded_bytes": 0, "stored_bytes": 0, "padding_bytes": 0},
       "offloaded_weights": {"bytes": 0, "loads": 0,
        "stores": 0, "loaded_bytes": 0, "stored_bytes": 0, "padding_bytes": 0},
       "forward_weight_loads": 0, "backward_weight_loads": 0,
       "collectives": {"all_reduces": 0, "reduce_scatters": 0, "all_gathers": 0,
        "all_reduced_bytes": 0, "scattered_bytes": 0, "gathered_bytes": 0}},
      {"replica": 1, "stage": 2, "ipu": 3, "forward_runs": 4, "backward_runs": 5,
       "recomputed_runs": 10, "max_in_flight": 6, "busy_seconds": 7.5, "sent_bytes": 16,
       "peak_bytes": 8, "shared_bytes": 3,
       "optimizer_bytes_on_ipu": 9, "padding_bytes": 63, "bytes_shared_by_replicas": 64,
       "offloaded_optimizer_state": {"bytes": 11, "loads": 12,
        "stores": 13, "loaded_bytes": 14, "stored_bytes": 15, "padding_bytes": 16},
       "offloaded_accumulators": {"bytes": 21, "loads": 22,
        "stores": 23, "loaded_bytes": 24, "stored_bytes": 25, "padding_bytes": 26},
       "offloaded_activations": {"bytes": 51, "loads": 52,
        "stores": 53, "loaded_bytes": 54, "stored_bytes": 55, "padding_bytes": 56},
       "offloaded_weights": {"bytes": 41, "loads": 42,
        "stores": 43, "loaded_bytes": 44, "stored_bytes": 45, "padding_bytes": 46},
       "forward_weight_loads": 61, "backward_weight_loads": 62,
       "collectives": {"all_reduces": 31, "reduce_scatters": 32, "all_gathers": 33,
        "all_reduced_bytes": 34, "scattered_bytes": 35, "gathered_bytes": 36}}]
  })"));
}

TEST(RunMetrics, WithoutStagesHaveAnEmptyList) {
  EXPECT_EQ(json::parse(to_json(RunMetrics{}))["summary"]["stages"], json::array());
}

}  // namespace
}  // namespace trainer
