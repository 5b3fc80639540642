// These tests run the trainer on synthetic images, from its command line to its files.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <numeric>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

TEST(Trainer, PrintsTheTestAccuracyAndItsProgress) {
  const CommandResult result = train(quick);
  expect_success(result);
  EXPECT_GE(printed_accuracy(result), 0) << result.out;
  const std::regex line("Epoch 1/3: 3/3 \\[.*\\] Loss:[0-9.]+ \\| Accuracy:[0-9.]+%\n");
  EXPECT_TRUE(std::regex_search(result.err, line)) << result.err;
  const std::string step =
      "Each step: images 80 (--batch-size 8 x --gradient-accumulation 2 x --device-iterations 5 x "
      "--replication-factor 1), micro-batches 10, weight updates 5\nEpoch 1/3: ";
  EXPECT_NE(result.err.find(step), result.err.npos) << result.err;
}

TEST(Trainer, LearnsTheSyntheticImages) {
  const CommandResult result = train({"--dataset", "synthetic", "--batch-size", "20",
                                      "--gradient-accumulation", "2", "--epochs", "1"});
  expect_success(result);
  EXPECT_GT(printed_accuracy(result), 90);
}

TEST(Trainer, D1_RunsToTheSameBitsFromTheConfigurationThatItPrints) {
  const TemporaryDirectory directory;
  const std::string config = (directory / "run.json").string();
  const auto weights = [&](const Arguments& arguments) {
    const std::string file = (directory / "weights").string();
    expect_success(train(arguments + Arguments{"--save-weights", file}));
    return file_content(file);
  };
  const Arguments run = quick_mlp + Arguments{"--optimizer", "sgd",         "--momentum", "0.9",
                                              "--stages",    "B1,B2|B3,B4", "--seed",     "5"};
  const CommandResult printed = train(run + Arguments{"--print-config"});
  expect_success(printed);
  EXPECT_EQ(printed.err, "");
  write_file(config, printed.out);
  const std::string expected = weights(run);
  EXPECT_TRUE(weights({"--config", config}) == expected);
  EXPECT_FALSE(weights({"--seed", "6", "--config", config}) == expected);
}

TEST(Trainer, D1_ReadsAConfigurationFromAPipe) {
  const CommandResult result = run_command(
      {"/bin/sh", "-c", "echo '{\"epochs\": 7}' | \"$0\" --config /dev/stdin --print-config",
       PENSTOCK_TRAIN});
  expect_success(result);
  EXPECT_EQ(json::parse(result.out).at("epochs"), 7);
}

void expect_step(const json& line, int step, int updates, std::size_t micro_batches) {
  EXPECT_EQ(line.at("epoch"), 1);
  EXPECT_EQ(line.at("step"), step);
  EXPECT_EQ(line.at("updates"), updates);
  const auto losses = line.at("losses").get<std::vector<double>>();
  ASSERT_EQ(losses.size(), micro_batches);
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  EXPECT_DOUBLE_EQ(line.at("loss"), sum / static_cast<double>(losses.size()));
  // A step recognises a whole number of images.
  const double recognised =
      line.at("accuracy").get<double>() * 8 * static_cast<double>(micro_batches);
  EXPECT_NEAR(recognised, std::round(recognised), 1e-6);
  EXPECT_TRUE(recognised >= 0 && recognised <= 8 * static_cast<double>(micro_batches));
  EXPECT_GT(line.at("samples_per_second"), 0.0);
}

TEST(Trainer, MetricsTellEveryStepAndTheWholeRun) {
  const TemporaryDirectory directory;
  const CommandResult result =
      train(quick + Arguments{"--metrics", (directory / "metrics").string()});
  expect_success(result);
  const std::vector<json> lines = metrics_lines(directory / "metrics");
  ASSERT_EQ(lines.size(), 4U);
  expect_step(lines[0], 1, 5, 10);
  expect_step(lines[1], 2, 10, 10);
  expect_step(lines[2], 3, 12, 4);
  const json& summary = lines[3].at("summary");
  EXPECT_NEAR(100 * summary.at("test_accuracy").get<double>(), printed_accuracy(result), 0.00501);
  for (const char* positive : {"compile_seconds", "train_samples_per_second",
                               "inference_samples_per_second", "peak_rss_bytes"})
    EXPECT_GT(summary.at(positive), 0) << positive;
  EXPECT_GE(summary.at("train_waited_seconds"), 0);
}

int plans_from_cache(const std::filesystem::path& metrics) {
  return metrics_lines(metrics).back().at("summary").at("plans_from_cache").get<int>();
}

// Several processes start at once. Each reads a plan if it is in the cache, and makes it otherwise.
// Therefore at least one process makes each of the two plans, for training and for inference.
TEST(Trainer, D15_ReadsThePlansThatOthersMade) {
  const TemporaryDirectory directory;
  const Arguments cached{"--cache-dir", (directory / "plans").string()};
  const auto run = [&](const std::string& name, const Arguments& more) {
    expect_success(train(quick_mlp + more +
                         Arguments{"--metrics", (directory / (name + ".metrics")).string(),
                                   "--save-weights", (directory / (name + ".weights")).string()}));
    return plans_from_cache(directory / (name + ".metrics"));
  };
  const auto weights = [&](const std::string& name) {
    return file_content(directory / (name + ".weights"));
  };
  const auto plans = [&] {
    return std::distance(std::filesystem::directory_iterator(directory / "plans"), {});
  };
  EXPECT_EQ(run("without", {}), 0);
  const std::vector<std::string> names{"first", "second", "third"};
  std::vector<std::future<int>> processes;
  for (const std::string& name : names)
    processes.push_back(std::async(std::launch::async, run, name, cached));
  int read = 0;
  for (std::future<int>& process : processes) read += process.get();
  EXPECT_LE(read, 2 * (std::ssize(names) - 1)) << "nobody made one of the plans";
  EXPECT_EQ(plans(), 2);
  EXPECT_EQ(run("last", cached), 2);
  EXPECT_EQ(plans(), 2);
  for (const std::string& name : {names[0], names[1], names[2], std::string("last")})
    EXPECT_TRUE(weights(name) == weights("without")) << name;
}

TEST(Trainer, MetricsCountTheRunsOfEveryStageOfEveryReplica) {
  const TemporaryDirectory directory;
  expect_success(
      train(quick + Arguments{"--stages", "B1,B2|B3,B4", "--ipus", "1,0", "--replication-factor",
                              "2", "--metrics", (directory / "metrics").string()}));
  const json stages = metrics_lines(directory / "metrics").back().at("summary").at("stages");
  ASSERT_EQ(stages.size(), 4U);
  std::set<std::pair<int, int>> places;
  for (const json& stage : stages) {
    const int replica = stage.at("replica"), number = stage.at("stage");
    places.emplace(replica, number);
    EXPECT_EQ(stage.at("ipu"), 2 * replica + (number == 0 ? 1 : 0));
    EXPECT_EQ(stage.at("forward_runs"), 24);
    EXPECT_EQ(stage.at("backward_runs"), 24);
    EXPECT_GE(stage.at("max_in_flight"), 1);
    EXPECT_GT(stage.at("busy_seconds"), 0.0);
    EXPECT_GT(stage.at("peak_bytes"), 0);
    EXPECT_GT(stage.at("optimizer_bytes_on_ipu"), 0);
  }
  EXPECT_EQ(places.size(), 4U);
}

TEST(Trainer, SaysWhichOptionsChangeNothing) {
  const CommandResult result = train(
      quick_mlp + Arguments{"--optimizer", "sgd", "--offload-optimizer", "--profile-dir", "new"});
  expect_success(result);
  EXPECT_NE(result.err.find("note: --offload-optimizer: the optimizer keeps no state, and nothing "
                            "is kept in the host store\n"),
            std::string::npos);
  EXPECT_NE(result.err.find("note: --profile-dir changes nothing without --profile\n"),
            std::string::npos);
}

TEST(Trainer, MetricsCountTheRunsThatWereRecomputed) {
  const TemporaryDirectory directory;
  expect_success(train(
      quick + Arguments{"--recompute", "0,1", "--metrics", (directory / "metrics").string()}));
  const json stages = metrics_lines(directory / "metrics").back().at("summary").at("stages");
  std::vector<int> recomputed;
  for (const json& stage : stages) recomputed.push_back(stage.at("recomputed_runs"));
  EXPECT_EQ(recomputed, (std::vector<int>{24, 24, 0, 0}));
}

// D13 of docs/reference.md: a profile has a trace of training and one of inference, with an event
// for every program that ran in a full call.
TEST(Trainer, ProfileHasAnEventPerProgramRun) {
  const TemporaryDirectory directory;
  const auto profile = directory / "new" / "profile";
  expect_success(train(quick_mlp + Arguments{"--test-batch-size", "7", "--profile", "--profile-dir",
                                             profile.string()}));
  const auto runs = [&](const char* part, const char* direction) {
    const json trace = json::parse(file_content(profile / part / "trace.json"));
    const json& events = trace.at("traceEvents");
    return std::count_if(events.begin(), events.end(),
                         [&](const json& event) { return event.value("cat", "") == direction; });
  };
  EXPECT_EQ(runs("training", "forward"), 4 * 24);
  EXPECT_EQ(runs("training", "backward"), 4 * 24);
  // The 2,000 test images are 285 whole micro-batches of 7, in each of four stages. The short last
  // micro-batch runs by another plan and is not in the trace.
  EXPECT_EQ(runs("inference", "forward"), 4 * 285);
  const json figures = json::parse(file_content(profile / "inference" / "profile.json"));
  EXPECT_EQ(figures.at("micro_batches"), 285);
  EXPECT_EQ(figures.at("short_calls"), 1);
  EXPECT_EQ(runs("inference", "backward"), 0);
}

TEST(Trainer, StartsFromSavedWeights) {
  const TemporaryDirectory directory;
  const std::string weights = (directory / "weights").string();
  const CommandResult first = train(quick_mlp + Arguments{"--save-weights", weights});
  const std::string saved = file_content(weights);
  // The learning rate is too small to move a weight, so that accuracy and bytes stay as they are.
  const CommandResult second =
      train(quick_mlp + Arguments{"--init-weights", weights, "--save-weights", weights,
                                  "--optimizer", "sgd", "--learning-rate", "1e-30"});
  expect_success(second);
  EXPECT_TRUE(file_content(weights) == saved);
  EXPECT_EQ(second.out, first.out);
}

TEST(Trainer, GoesOnFromSavedWeightsAndOptimizerState) {
  const TemporaryDirectory directory;
  const std::string weights = (directory / "weights").string(),
                    state = (directory / "state").string(), whole = (directory / "whole").string();
  const Arguments epochs{"--dataset",
                         "synthetic",
                         "--model",
                         "mlp",
                         "--batch-size",
                         "100",
                         "--gradient-accumulation",
                         "1",
                         "--lr-schedule",
                         "exponential",
                         "--lr-decay",
                         "0.99",
                         "--epochs"};
  expect_success(train(epochs + Arguments{"2", "--save-weights", whole}));
  const Arguments saving{"1", "--save-weights", weights, "--save-optimizer-state", state};
  expect_success(train(epochs + saving));
  EXPECT_FALSE(file_content(weights) == file_content(whole));
  expect_success(train(epochs + saving +
                       Arguments{"--init-weights", weights, "--init-optimizer-state", state}));
  EXPECT_TRUE(file_content(weights) == file_content(whole));
}

// The cosine ends after the 24 updates of both runs. If it ended after 12, the number of updates of
// one run, it would be at its end when the second run begins.
TEST(Trainer, GoesOnAlongACosineToTheRunsEnd) {
  const TemporaryDirectory directory;
  const std::string state = (directory / "state").string();
  expect_success(train(quick_mlp + Arguments{"--save-optimizer-state", state}));
  const auto weights = [&](const Arguments& more) {
    const std::string path = (directory / "weights").string();
    expect_success(train(quick_mlp +
                         Arguments{"--init-optimizer-state", state, "--lr-schedule", "cosine",
                                   "--save-weights", path} +
                         more));
    return file_content(path);
  };
  const std::string by_default = weights({});
  EXPECT_TRUE(by_default == weights({"--lr-updates", "24"}));
  EXPECT_FALSE(by_default == weights({"--lr-updates", "12"}));
}

TEST(Trainer, SaysThatACosineWithoutAnEndOfItsOwnChangesCourse) {
  const TemporaryDirectory directory;
  const std::string state = (directory / "state").string();
  const Arguments cosine = quick_mlp + Arguments{"--lr-schedule", "cosine"};
  const std::string note =
      "note: --lr-schedule cosine: its end has moved to that of this run, "
      "weight update 24, of which the state has seen 12, ";
  const CommandResult first = train(cosine + Arguments{"--save-optimizer-state", state});
  expect_success(first);
  EXPECT_EQ(first.err.find("its end has moved"), std::string::npos) << first.err;
  const Arguments resumed = cosine + Arguments{"--init-optimizer-state", state};
  EXPECT_NE(train(resumed).err.find(note), std::string::npos);
  EXPECT_EQ(train(resumed + Arguments{"--lr-updates", "24"}).err.find("has moved"),
            std::string::npos);
}

TEST(Trainer, SaysWhereAStateIsInTheMiddleOfAnEpoch) {
  const TemporaryDirectory directory;
  const std::string state = (directory / "state").string();
  expect_success(train(quick_mlp + Arguments{"--save-optimizer-state", state}));
  const CommandResult result = train(quick_mlp + Arguments{"--init-optimizer-state", state});
  expect_success(result);
  EXPECT_NE(result.err.find("note: --init-optimizer-state: the state is 12 of 750 updates into an "
                            "epoch: training goes on with the next epoch\n"),
            std::string::npos)
      << result.err;
}

TEST(Trainer, RefusesTheOptimizerStateOfAnotherRule) {
  const TemporaryDirectory directory;
  const std::string state = (directory / "state").string();
  expect_success(train(quick_mlp + Arguments{"--save-optimizer-state", state}));
  const CommandResult result =
      train(quick_mlp + Arguments{"--optimizer", "sgd", "--init-optimizer-state", state});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("expected the state of sgd, got that of adamw"), std::string::npos)
      << result.err;
}

/// Returns the weights file of a quick run with the further arguments `more`.
std::string trained_weights(const Arguments& more) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "weights").string();
  expect_success(train(quick + more + Arguments{"--save-weights", path}));
  return file_content(path);
}

// F17 of docs/reference.md: another seed gives other weights, and the same seed gives the same
// weights.
TEST(Trainer, TheSeedDecidesTheWeights) {
  const std::string zero = trained_weights({"--seed", "0"});
  EXPECT_TRUE(trained_weights({"--seed", "1"}) != zero);
  EXPECT_TRUE(trained_weights({"--seed", "0"}) == zero);
}

TEST(Trainer, WeightsDoNotDependOnWhereAndInWhichOrderStagesRun) {
  const std::string expected = trained_weights({});
  for (const Arguments& topology : std::vector<Arguments>{
           {"--strategy", "sharded", "--ipus", "0,0,1,1"},
           {"--schedule", "interleaved", "--threads", "1"},
           {"--schedule", "sequential", "--offload-optimizer"},
           {"--recompute", "all"},
           {"--recompute", "1", "--schedule", "interleaved"},
           {"--stages", "B1,B2,B3,B4"},
           {"--threads-per-ipu", "3"},
           {"--stages", "B1,B2|B3,B4", "--ipus", "0,0", "--threads", "2", "--num-workers", "0"}})
    EXPECT_TRUE(trained_weights(topology) == expected) << topology[1];
}

TEST(Trainer, WarnsOfMoreThreadsThanCores) {
  const std::string more = std::to_string(std::thread::hardware_concurrency() + 1);
  for (const std::string option : {"--threads", "--threads-per-ipu"}) {
    const CommandResult result = train(quick_mlp + Arguments{option, more});
    expect_success(result);
    EXPECT_NE(result.err.find(" are more than the machine's "), result.err.npos)
        << option << ": " << result.err;
    EXPECT_EQ(result.err.find("_per_ipu"), result.err.npos) << result.err;
  }
  EXPECT_EQ(train(quick_mlp).err.find("more than the machine's"), std::string::npos);
}

TEST(Trainer, SaysHowManyImagesAnEpochLeavesOut) {
  const CommandResult result =
      train({"--dataset", "synthetic", "--model", "mlp", "--batch-size", "70", "--epochs", "1"});
  expect_success(result);
  EXPECT_NE(result.err.find("each epoch leaves out 5000 of 12000 training images"), result.err.npos)
      << result.err;
}

TEST(Trainer, D16_ShowsNoProgressIfToldSo) {
  const CommandResult shown = train(quick_mlp),
                      silent = train(quick_mlp + Arguments{"--no-progress"});
  for (const char* beginning : {"Each step: ", "Epoch 1/"}) {
    EXPECT_NE(shown.err.find(beginning), shown.err.npos) << beginning;
    EXPECT_EQ(silent.err.find(beginning), silent.err.npos) << beginning;
  }
  EXPECT_EQ(silent.code, 0);
}

/// Returns the lines of `text` that begin with `opening`.
std::vector<std::string> lines_that_open_with(const std::string& opening, const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(opening)) found.push_back(line);
  return found;
}

// There are two plans, of a training and of an inference. Files that are no plans have taken their
// names in the cache.
TEST(Trainer, SaysOfEachPlanThatItIsNotKept) {
  const TemporaryDirectory directory;
  const Arguments cached = quick_mlp + Arguments{"--cache-dir", directory.path().string()};
  expect_success(train(cached));
  const auto plans = directory.entries();
  ASSERT_EQ(plans.size(), 2U);
  for (const std::string& plan : plans) write_file(directory / plan, "no plan");
  const CommandResult result = train(cached);
  expect_success(result);
  for (const std::string& plan : plans) {
    EXPECT_NE(
        result.err.find("note: plan cache: \"" + (directory / plan).string() + "\": expected"),
        result.err.npos)
        << result.err;
    EXPECT_EQ(file_content(directory / plan), "no plan");
  }
}

TEST(Trainer, DebugTellsWhatTheEngineDoes) {
  const std::vector<std::string> models{"compiled \"mlp\" for training",
                                        "compiled \"mlp\" for inference"};
  const CommandResult silent = train(quick_mlp),
                      debugging = train(quick_mlp + Arguments{"--debug"});
  expect_success(debugging);
  EXPECT_EQ(debugging.out, silent.out);
  EXPECT_EQ(lines_that_open_with("compiled \"", debugging.err), models);
  EXPECT_EQ(lines_that_open_with("stages: 4 stages, from flatten_1, dense128, dense64, logits;",
                                 debugging.err)
                .size(),
            models.size());
  // Weights are copied to training before its first step, and to inference after the last step.
  EXPECT_EQ(lines_that_open_with("\"mlp\": weights copied to the IPUs", debugging.err).size(), 2U);
  // Two whole steps and 25 calls for the 2,000 test images have 10 micro-batches each. The shorter
  // third step has 4.
  EXPECT_EQ(
      lines_that_open_with("\"mlp\": 10 micro-batches per replica done in ", debugging.err).size(),
      2U + 25U);
  EXPECT_EQ(
      lines_that_open_with("\"mlp\": 4 micro-batches per replica done in ", debugging.err).size(),
      1U);
  for (const char* opening : {"compiled", "stages: ", "\"mlp\": "})
    EXPECT_EQ(lines_that_open_with(opening, silent.err), std::vector<std::string>{}) << opening;
}

TEST(Trainer, ReplacesFilesThatAreThere) {
  const TemporaryDirectory directory;
  write_file(directory / "metrics", "before");
  expect_success(train(quick_mlp + Arguments{"--metrics", (directory / "metrics").string()}));
  EXPECT_EQ(metrics_lines(directory / "metrics").size(), 4U);
  EXPECT_EQ(directory.entries(), std::set<std::string>{"metrics"});
}

TEST(Trainer, HelpIsAResult) {
  const CommandResult result = train({"--help"});
  expect_success(result);
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("--max-updates"), result.out.npos);
}

TEST(Trainer, NotesThatCallsOfTheTestDoNotFillThePipeline) {
  const CommandResult result =
      train({"--dataset", "synthetic", "--device-iterations", "1", "--gradient-accumulation", "2",
             "--batch-size", "8", "--max-updates", "1"});
  expect_success(result);
  EXPECT_NE(result.err.find("note: in the test: calls of inference with 2 micro-batches (at most "
                            "--device-iterations x --gradient-accumulation) do not fill 4 stages, "
                            "which takes 4 micro-batches: "),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace penstock::testing
