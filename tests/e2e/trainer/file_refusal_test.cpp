// The trainer refuses these runs because two of its options name the same file.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/trainer/refusal.hpp"
#include "tests/support/idx_bytes.hpp"

namespace penstock::testing {
namespace {

const Arguments smallest_step{"--model",
                              "mlp",
                              "--batch-size",
                              "1",
                              "--gradient-accumulation",
                              "1",
                              "--device-iterations",
                              "1",
                              "--dataset"};

std::string in(const TemporaryDirectory& directory, const char* name) {
  return (directory / name).string();
}

Arguments weights_and_metrics(const TemporaryDirectory& inputs) {
  return smallest_step + Arguments{"synthetic", "--save-weights", in(inputs, "out"), "--metrics",
                                   (inputs.path() / "." / "out").string()};
}

Arguments first_weights_and_metrics(const TemporaryDirectory& inputs) {
  const std::string weights = in(inputs, "weights");
  const Arguments run = smallest_step + Arguments{"synthetic"};
  EXPECT_EQ(train(run + Arguments{"--max-updates", "1", "--save-weights", weights}).code, 0);
  return run + Arguments{"--init-weights", weights, "--metrics", weights};
}

Arguments images_and_metrics(const TemporaryDirectory& inputs) {
  for (const char* split : {"train", "t10k"}) {
    write_file(inputs / (split + std::string("-images-idx3-ubyte")), idx_bytes({8, 28, 28}));
    write_file(inputs / (split + std::string("-labels-idx1-ubyte.gz")), gzipped(idx_bytes({8})));
  }
  return smallest_step + Arguments{"mnist", "--data-dir", inputs.path().string(), "--metrics",
                                   in(inputs, "t10k-labels-idx1-ubyte.gz")};
}

Arguments trace_and_metrics(const TemporaryDirectory& inputs) {
  std::filesystem::create_directories(inputs / "profile/training");
  return smallest_step + Arguments{"synthetic",     "--profile",
                                   "--profile-dir", in(inputs, "profile"),
                                   "--metrics",     in(inputs, "profile/training/trace.json")};
}

Arguments profile_and_metrics(const TemporaryDirectory& inputs) {
  return smallest_step + Arguments{"synthetic",           "--profile", "--profile-dir",
                                   in(inputs, "profile"), "--metrics", in(inputs, "profile")};
}

Arguments configuration_and_metrics(const TemporaryDirectory& inputs) {
  const std::string config = in(inputs, "run.json");
  write_file(config, "{}");
  return smallest_step + Arguments{"synthetic", "--config", config, "--metrics", config};
}

const std::vector<Refusal> file_refusals{
    {"WeightsAndMetrics", weights_and_metrics, "is the same file as --save-weights"},
    {"FirstWeightsAndMetrics", first_weights_and_metrics,
     "would replace what the run reads, --init-weights"},
    {"ConfigurationAndMetrics", configuration_and_metrics,
     "would replace what the run reads, --config"},
    {"ImagesAndMetrics", images_and_metrics, "would replace what the run reads, --dataset"},
    {"TraceAndMetrics", trace_and_metrics, "is the same file as --profile-dir"},
    {"ProfileAndMetrics", profile_and_metrics, "cannot be a directory too, of --profile-dir"}};

INSTANTIATE_TEST_SUITE_P(Files, TrainerRefusal, ::testing::ValuesIn(file_refusals), refusal_name);

}  // namespace
}  // namespace penstock::testing
