#include "apps/trainer/options/configuration.hpp"

#include <gtest/gtest.h>

#include "apps/trainer/options/command_line.hpp"
#include "penstock/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using penstock::Errc;
using penstock::testing::TemporaryDirectory;
using penstock::testing::write_file;

/// Returns the options of a command line that has `arguments` and a configuration file with
/// `content`.
TrainerOptions read(const std::string& content, const std::vector<const char*>& arguments = {}) {
  const TemporaryDirectory directory;
  const std::string file = (directory / "run.json").string();
  write_file(file, content);
  std::vector<const char*> all{"penstock-train"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--config", file.c_str()});
  return read_command_line(static_cast<int>(all.size()), all.data()).options;
}

/// Returns why `file` is refused, without `directory` in the text, or "accepted".
std::string refusal(const std::string& file, const std::string& directory) {
  TrainerOptions options;
  try {
    apply(read_configuration(file), options);
  } catch (const penstock::Error& error) {
    std::string text = error.what();
    const auto at = text.find(directory);
    if (at != text.npos) text.erase(at, directory.size() + 1);
    return text;
  }
  return "accepted";
}

TEST(Configuration, TheCommandLineOverridesItsOptionsOneByOne) {
  const TrainerOptions options =
      read(R"({"epochs": 7, "batch-size": 8, "stages": "B1|B2,B3,B4", "profile": true})",
           {"--epochs", "2", "--debug"});
  EXPECT_EQ(options.training.epochs, 2);
  EXPECT_EQ(options.training.batch_size, 8);
  ASSERT_TRUE(options.pipeline.stages);
  EXPECT_EQ(options.pipeline.stages->stages.size(), 2U);
  EXPECT_TRUE(options.output.profile && options.output.debug);
  EXPECT_EQ(options.training.gradient_accumulation, TrainingOptions{}.gradient_accumulation);
}

TEST(Configuration, ASwitchMayBeOff) {
  EXPECT_FALSE(read(R"({"debug": false})").output.debug);
  EXPECT_TRUE(read(R"({"debug": false})", {"--debug"}).output.debug);
}

TEST(Configuration, ASwitchThatItTurnsOnIsTurnedOffOnTheCommandLine) {
  const std::string on = R"({"debug": true, "no-shuffle": true})";
  EXPECT_TRUE(read(on).output.debug);
  const TrainerOptions options = read(on, {"--debug=false", "--no-shuffle=true"});
  EXPECT_FALSE(options.output.debug);
  EXPECT_TRUE(options.data.no_shuffle);
}

TEST(Configuration, IsCheckedTogetherWithTheCommandLine) {
  const std::string momentum = R"({"momentum": 0.9})";
  EXPECT_THROW(read(momentum), penstock::Error);
  EXPECT_EQ(read(momentum, {"--optimizer", "sgd"}).optimizer.constants.at("momentum"), 0.9);
}

// An empty value on the command line cancels the value that a configuration file gives. Therefore a
// file with a momentum can serve an optimizer without momentum. The stages and the names of files
// can be cancelled in the same way.
TEST(Configuration, WhatItGivesIsTakenBackOnTheCommandLine) {
  const std::string file =
      R"({"optimizer": "sgd", "momentum": 0.9, "stages": "B1|B2,B3,B4", "save-weights": "w"})";
  const TrainerOptions options =
      read(file, {"--optimizer", "adamw", "--momentum", "", "--stages", "", "--save-weights", ""});
  EXPECT_EQ(options.optimizer.rule, "adamw");
  EXPECT_FALSE(options.optimizer.constants.contains("momentum") || options.pipeline.stages ||
               options.output.save_weights);
  for (const char* nothing_there : {"--ipus", "--metrics", "--epochs"})
    EXPECT_THROW(read(file, {nothing_there, ""}), penstock::Error) << nothing_there;
}

TEST(Configuration, WhatDoesNotFitTogetherIsRefusedByTheLineThatSaysIt) {
  const auto refused = [](const std::string& content, const std::vector<const char*>& arguments) {
    try {
      read(content, arguments);
    } catch (const penstock::Error& error) {
      const std::string text = error.what();
      const auto line = text.find("line ");
      return line == text.npos ? text : text.substr(line);
    }
    return std::string("accepted");
  };
  const std::string file = "{\"optimizer\": \"sgd\",\n\"momentum\": 0.9}";
  EXPECT_EQ(refused(file, {"--optimizer", "adamw"}),
            "line 2: --momentum: adamw has no momentum; it belongs to sgd and rmsprop");
  EXPECT_EQ(refused(file, {"--optimizer", "adamw", "--momentum", "0.5"}),
            "--momentum: adamw has no momentum; it belongs to sgd and rmsprop");
  EXPECT_EQ(refused("{\n\n\"lr-schedule\": \"step\"}", {}),
            "line 3: --lr-schedule step: needs --lr-step");
}

TEST(Configuration, IsRefusedInAShortLineWhateverItHolds) {
  const std::string long_text(100'000, 'x');
  for (const std::string& content :
       {R"({"a\nb\u001b": 1})" + std::string(), R"({"model": "a\nb\u001b[1m"})" + std::string(),
        "{\"" + long_text + "\": 1}", R"({"model": ")" + long_text + "\"}",
        R"({"stages": ")" + long_text + "|\"}"})
    try {
      read(content);
      ADD_FAILURE() << "accepted " << content.substr(0, 50);
    } catch (const penstock::Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find_first_of("\n\x1b"), text.npos) << text.substr(0, 300);
      EXPECT_LT(text.size(), 2000U) << text.substr(0, 300);
    }
}

TEST(Configuration, HoldsEveryOptionThatHasAValue) {
  TrainerOptions options;
  options.pipeline.stages = StagesOption{.automatic = 4};
  options.pipeline.ipus = std::vector<int>{0, 1};
  options.pipeline.ipu_memory = 900'000;
  options.pipeline.recompute = std::vector<int>{};
  options.output.metrics = "a \"file\"";
  const std::string text = configuration_text(options);
  for (const char* line :
       {"\"model\": \"mnist-cnn\"", "\"batch-size\": 40", "\"learning-rate\": 0.001",
        "\"no-shuffle\": false", "\"stages\": \"auto:4\"", "\"ipus\": \"0,1\"",
        "\"ipu-memory\": \"900000B\"", "\"recompute\": \"all\"", "\"metrics\": \"a \\\"file\\\"\""})
    EXPECT_NE(text.find("\n  " + std::string(line)), text.npos) << line << " in " << text;
  EXPECT_EQ(text.find("momentum"), text.npos) << "has no value";
  EXPECT_EQ(text.back(), '\n');
}

TEST(Configuration, IsRefusedByFileLineAndName) {
  const std::pair<std::string, const char*> cases[] = {
      {"{\n\"epochs\": 3,\n\"epoch\": 3\n}",
       "--config \"run.json\": line 3: epoch: unknown option; did you mean epochs? --help lists "
       "what there is"},
      {"{\"batch_size\": 3}",
       "--config \"run.json\": line 1: batch_size: unknown option; did you mean batch-size? "},
      {"{\"offload-optimizer\": true,\n\"offload-optimiser\": false}",
       "--config \"run.json\": line 2: offload-optimiser: is another spelling of "
       "offload-optimizer, which is there in line 1"},
      {"{\n\"epochs\": 3,\n\"epochs\": 3\n}",
       "--config \"run.json\": line 3: \"epochs\" is there twice, first in line 2"},
      {"{\"epochs\": 3\n\"batch-size\": 3}", "--config \"run.json\": line 2: not valid JSON: "},
      {"{\n\n\"epochs\": 0}",
       "--config \"run.json\": line 3: epochs: expected a whole number from 1 to 2147483647, got "
       "\"0\""},
      {"{\"epochs\": 1.5}", "--config \"run.json\": line 1: epochs: expected a whole number"},
      {"{\"epochs\": \"3\"}",
       "--config \"run.json\": line 1: epochs: expected a number, got \"3\""},
      {"{\"ipus\": [0, 1]}", "--config \"run.json\": line 1: ipus: expected a text, got a list"},
      {"{\"debug\": \"\"}",
       "--config \"run.json\": line 1: debug: expected true or false, got \"\""},
      {"{\"schedule\": \"1f1b\"}",
       "--config \"run.json\": line 1: schedule: expected one of grouped, interleaved, "
       "sequential, got \"1f1b\""},
      {"{\"help\": true}", "--config \"run.json\": line 1: help: unknown option"},
      {"{\"config\": \"run.json\"}", "--config \"run.json\": line 1: config: unknown option"},
      {"[]", "--config \"run.json\": line 1: expected an object, got a list"},
      {"", "--config \"run.json\": line 1: not valid JSON"},
      {std::string(1'000'001, ' '), "--config \"run.json\": expected at most 1000000 bytes"},
  };
  const TemporaryDirectory directory;
  for (const auto& [content, expected] : cases) {
    write_file(directory / "run.json", content);
    const std::string got = refusal((directory / "run.json").string(), directory.path().string());
    EXPECT_EQ(got.substr(0, std::string(expected).size()), expected) << got;
  }
}

TEST(Configuration, ThatCannotBeReadIsRefusedByName) {
  const TemporaryDirectory directory;
  const std::string path = directory.path().string();
  EXPECT_EQ(refusal((directory / "none.json").string(), path),
            "--config \"none.json\": cannot read it: No such file or directory");
  EXPECT_EQ(refusal(path, path + "/.."),
            "--config \"" + path + "\": cannot read it: Is a directory");
}

TEST(Configuration, NamesTheDifferencesOnWhichTheWeightsDepend) {
  const auto changed = [](const std::string& before, const std::string& now) {
    return differences(configuration_text(read(before)), read(now));
  };
  EXPECT_EQ(changed("{}", "{}"), "");
  EXPECT_EQ(changed("{}", R"({"batch-size": 8, "no-shuffle": true, "momentum": 0.5,
                              "optimizer": "sgd"})"),
            "--no-shuffle: expected false, got true; --batch-size: expected 40, got 8; "
            "--optimizer: expected adamw, got sgd; --momentum: expected none, got 0.5");
  EXPECT_EQ(changed(R"({"no-shuffle": true, "max-grad-norm": 2})", "{}"),
            "--no-shuffle: expected true, got false; --max-grad-norm: expected 2, got none");
  EXPECT_EQ(differences("{}", read("{}")), "") << "options that are missing have their defaults";
  EXPECT_EQ(differences("{}", read(R"({"dataset": "folder", "data-dir": "d",
                                       "broken-images": "skip"})")),
            "--dataset: expected fashion-mnist, got folder")
      << "the data are not compared, and may be mended by either means";
  EXPECT_EQ(changed("{}", R"({"reduction": "sum"})"), "--reduction: expected mean, got sum");
  EXPECT_EQ(changed("{}", R"({"epochs": 9, "max-updates": 5, "threads": 1, "strategy": "sharded",
                              "replication-factor": 2, "offload-optimizer": true, "metrics": "m",
                              "data-dir": "moved", "num-workers": 0, "init-weights": "w"})"),
            "");
}

}  // namespace
}  // namespace trainer
