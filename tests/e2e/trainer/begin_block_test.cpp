// These tests run the trainer with the option --begin-block.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/textured_images.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

/// Returns a run of the tutorial's split ResNet, but of a smaller one and on a few made-up images.
Arguments split_resnet_on_files_in(const TemporaryDirectory& directory) {
  write_file(directory / "data_batch_1.bin", cifar10_records(textured_images(48, 1)));
  write_file(directory / "test_batch.bin", cifar10_records(textured_images(20, 2)));
  return {"--model",
          "resnet18",
          "--dataset",
          "cifar10",
          "--data-dir",
          directory.path().string(),
          "--begin-block",
          "layer4=1",
          "--gradient-accumulation",
          "3",
          "--replication-factor",
          "2",
          "--batch-size",
          "4",
          "--device-iterations",
          "1",
          "--epochs",
          "5"};
}

TEST(TrainerBeginBlock, A15_SplitsAResNetInTwoReplicas) {
  const TemporaryDirectory directory;
  const Arguments split = split_resnet_on_files_in(directory);
  const auto run = [&](const std::string& strategy) {
    expect_success(train(split + Arguments{"--strategy", strategy, "--save-weights",
                                           (directory / (strategy + ".st")).string(), "--metrics",
                                           (directory / (strategy + ".jsonl")).string()}));
    return file_content(directory / (strategy + ".st"));
  };
  EXPECT_TRUE(run("pipelined") == run("sharded"));
  const std::vector<json> lines = metrics_lines(directory / "pipelined.jsonl");
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_LT(lines[9].at("loss"), lines[0].at("loss"));
  const json stages = lines.back().at("summary").at("stages");
  ASSERT_EQ(stages.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    const json& stage = stages[static_cast<std::size_t>(i)];
    EXPECT_EQ(stage.at("replica"), i / 2);
    EXPECT_EQ(stage.at("stage"), i % 2);
    EXPECT_EQ(stage.at("ipu"), i);
    EXPECT_EQ(stage.at("backward_runs"), 10 * 3);
  }
}

TEST(TrainerBeginBlock, ChangesNoWeightOfAnyNetwork) {
  const TemporaryDirectory directory;
  const auto weights = [&](const Arguments& more) {
    const std::string path = (directory / "weights.st").string();
    expect_success(train(quick + more + Arguments{"--save-weights", path}));
    return file_content(path);
  };
  const std::string expected = weights({});
  EXPECT_TRUE(weights({"--begin-block", "layer2=1", "--begin-block", "layer4=0"}) == expected);
  EXPECT_TRUE(weights({"--begin-block", "layer2,layer4", "--stages", "start,layer2|layer4"}) ==
              expected);
}

}  // namespace
}  // namespace penstock::testing
