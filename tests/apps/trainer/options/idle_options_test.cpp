#include "apps/trainer/options/idle_options.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "apps/trainer/options/command_line.hpp"
#include "apps/trainer/options/option_table.hpp"

namespace trainer {
namespace {

using Notes = std::vector<std::string>;

TEST(IdleOptions, AreNoneByDefault) {
  EXPECT_EQ(idle_options({}), Notes{});
}

TEST(IdleOptions, OfTheOutput) {
  TrainerOptions options;
  options.output.profile_dir = "new";
  EXPECT_EQ(idle_options(options), Notes{"--profile-dir changes nothing without --profile"});
}

TEST(IdleOptions, OffloadingWhatPhasesOffloadAnyway) {
  TrainerOptions options;
  options.pipeline.offload_weights = true;
  EXPECT_EQ(idle_options(options), Notes{});
  options.pipeline.strategy = penstock::Strategy::serial_phased;
  EXPECT_EQ(idle_options(options),
            Notes{"--offload-... changes nothing with --strategy serial_phased, which keeps in the "
                  "host store all that no option such as --weights-on-ipu keeps on the IPUs"});
}

TEST(IdleOptions, KeepingOnTheIpusTheStateOfARuleThatKeepsNone) {
  TrainerOptions options;
  options.pipeline.strategy = penstock::Strategy::serial_phased;
  options.pipeline.optimizer_on_ipu = true;
  EXPECT_EQ(idle_options(options), Notes{}) << "adamw";
  options.optimizer.rule = "sgd";
  EXPECT_EQ(idle_options(options),
            Notes{"--optimizer-on-ipu changes nothing: sgd without --momentum keeps no state"});
  options.optimizer.constants["momentum"] = 0.9;
  EXPECT_EQ(idle_options(options), Notes{});
}

TEST(IdleOptions, DampeningWhatHasNoMomentum) {
  TrainerOptions options;
  options.optimizer.rule = "sgd";
  options.optimizer.constants["dampening"] = 0.5;
  EXPECT_EQ(idle_options(options), Notes{"--dampening changes nothing without --momentum"});
  TrainerOptions first = options, momentum = options;
  first.optimizer.constants["dampen_first_step"] = 1;
  momentum.optimizer.constants["momentum"] = 0.9;
  EXPECT_EQ(idle_options(first), Notes{});
  EXPECT_EQ(idle_options(momentum), Notes{});
}

TEST(IdleOptions, AStateWithoutItsWeights) {
  TrainerOptions options;
  options.optimizer.init_state = "state";
  EXPECT_EQ(idle_options(options), Notes{"--init-optimizer-state without --init-weights: random "
                                         "weights go on from the state of others"});
  options.network.init_weights = "weights";
  EXPECT_EQ(idle_options(options), Notes{});
}

TEST(MovedCosine, IsNotedWhereNothingSaysWhereTheCosineEnds) {
  const LearningRateOptions cosine{.schedule = ScheduleName::cosine, .warm_up = 2};
  EXPECT_EQ(
      moved_cosine(cosine, 12, 24),
      "--lr-schedule cosine: its end has moved to that of this run, weight update 24, of "
      "which the state has seen 12, so the learning rate does not go on as the run before had "
      "planned it; --lr-updates N keeps that run's course, where N is 10 if it came to its "
      "end without --lr-updates");
  LearningRateOptions said = cosine, step = cosine;
  said.updates = 24;
  step.schedule = ScheduleName::exponential;
  EXPECT_EQ(moved_cosine(said, 12, 24), "");
  EXPECT_EQ(moved_cosine(step, 12, 24), "");
  EXPECT_EQ(moved_cosine(cosine, 0, 12), "");
}

TEST(IdleOptions, AreThoseOfARunBesideADownload) {
  const auto note = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"penstock-train", "--data-dir", "d"});
    return read_command_line(static_cast<int>(arguments.size()), arguments.data()).note;
  };
  EXPECT_EQ(note({"--download", "mnist", "--no-progress", "--download-ca", "ca.pem"}), "");
  EXPECT_EQ(note({"--download", "mnist", "--download-url=https://example.org/", "--print-config"}),
            "");
  EXPECT_EQ(note({"--dataset", "mnist", "--epochs", "3"}), "") << "This is a run.";
  EXPECT_EQ(note({"--download", "mnist", "--epochs", "3", "--seed=1"}),
            "--download runs nothing, so that these change nothing: --epochs, --seed");
  EXPECT_EQ(note({"--download", "mnist", "--epochs", "3", "--print-config"}),
            "--download runs nothing, so that these change nothing: --epochs");
}

TEST(IdleOptions, AreNoneOfThoseAboutDownloads) {
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      EXPECT_TRUE(row.is_for_downloads || !row.name.starts_with("download")) << row.name;
}

}  // namespace
}  // namespace trainer
