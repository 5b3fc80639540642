#include "apps/trainer/options/option_spelling.hpp"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(OptionSpelling, TakesThePlaceOfTheEnginesNamesEverywhere) {
  EXPECT_EQ(with_option_names("options.topology.ipus: expected 4; see options.topology.ipus"),
            "--ipus: expected 4; see --ipus");
  EXPECT_EQ(
      with_option_names("options.topology.schedule changes nothing with options.topology.strategy "
                        "sharded"),
      "--schedule changes nothing with --strategy sharded");
  EXPECT_EQ(with_option_names("3 more; a lower threads_per_ipu may help"),
            "3 more; a lower --threads-per-ipu may help");
  EXPECT_EQ(with_option_names("options.topology.threads_per_ipu: expected 1"),
            "--threads-per-ipu: expected 1");
  EXPECT_EQ(
      with_option_names("the host store (options.training.offload.accumulators), which needs"),
      "the host store (--offload-accumulators), which needs");
  EXPECT_EQ(with_option_names("options.topology.phased.on_ipu.weights: expected false, for "
                              "options.training.offload.weights.on is true, got true"),
            "--weights-on-ipu: expected false, for --offload-weights is given, got true");
  EXPECT_EQ(with_option_names("options.training.sharding.optimizer_state: there are no replicas"),
            "--shard-optimizer: there are no replicas");
  EXPECT_EQ(with_option_names("stage 1 has no block"), "stage 1 has no block");
}

TEST(OptionSpelling, KeepsTheErrorsCode) {
  const auto refuse = [] {
    throw penstock::Error(penstock::Errc::invalid_topology, "options.topology.ipus: none");
  };
  try {
    with_option_names_in_errors(refuse);
    FAIL() << "accepted";
  } catch (const penstock::Error& error) {
    EXPECT_EQ(error.code(), penstock::Errc::invalid_topology);
    EXPECT_STREQ(error.what(), "--ipus: none");
  }
  EXPECT_EQ(with_option_names_in_errors([] { return 3; }), 3);
}

TEST(OptionSpelling, NamesTheOptionThatMadeTheStages) {
  const std::string places = "parallel_phased: phase 0 is on IPU 1; expected even phases on even";
  const std::string blocks = "block \"B4\" is in no stage";
  PipelineOptions options;
  EXPECT_EQ(stages_refusal(options, blocks), "--stages: " + blocks);
  EXPECT_EQ(stages_refusal(options, "options.topology.ipus: expected one"), "--ipus: expected one");
  EXPECT_EQ(
      stages_refusal(options, "there is no block \"a\"; the model has no blocks"),
      "--stages: there is no block \"a\"; the model has no blocks; --begin-block begins blocks "
      "at its layers");
  options.strategy = penstock::Strategy::parallel_phased;
  options.ipus = {1, 1, 1, 1};
  EXPECT_EQ(stages_refusal(options, places), "--ipus: " + places);
  EXPECT_EQ(stages_refusal(options, blocks), "--stages: " + blocks);
  options.begin_block = {{"layer4", 1}};
  EXPECT_EQ(stages_refusal(options, places), "--ipus: " + places);
  options.ipus.reset();
  EXPECT_EQ(stages_refusal(options, places), "--begin-block: " + places);
  options.begin_block.reset();
  options.ipus = {1, 1, 1, 1};
  options.phases = {penstock::Phase{{"B1"}}};
  EXPECT_EQ(stages_refusal(options, places), "--ipus: " + places);
  EXPECT_EQ(stages_refusal(options, blocks), "--phases: " + blocks);
}

}  // namespace
}  // namespace trainer
