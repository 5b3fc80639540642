// These tests run the built monitor as a user does, beside trainers that know nothing of the
// monitor.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/background_program.hpp"
#include "tests/support/command.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

CommandResult monitor(Arguments arguments) {
  arguments.insert(arguments.begin(), PENSTOCK_MONITOR_PROGRAM);
  return run_command(arguments);
}

/// These are the arguments of a training that takes longer than any test.
const Arguments long_training{PENSTOCK_TRAIN, "--dataset",    "synthetic", "--model",
                              "mlp",          "--epochs",     "1000000",   "--ipu-memory",
                              "1GB",          "--no-progress"};

class Monitor : public ::testing::Test {
 protected:
  std::string socket_of(const BackgroundProgram& program) const {
    return (runtime_ / "penstock").string() + "/" + std::to_string(program.id()) + ".sock";
  }
  /// Runs the monitor until `holds` is true of the JSON that it prints, 600 times at most. Returns
  /// that JSON.
  Json seen(const std::function<bool(const Json&)>& holds, const Arguments& more = {}) const {
    Json seen;
    for (int attempts = 0; attempts < 600; ++attempts) {
      Arguments arguments{"--json", "--interval", "0.2"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const CommandResult result = monitor(arguments);
      if (result.code != 0) {
        ::usleep(100'000);
        continue;
      }
      seen = Json::parse(result.out);
      if (holds(seen)) return seen;
    }
    ADD_FAILURE() << "this was seen last: " << seen.dump(2);
    return seen;
  }
  /// Returns whether `json` lists the program. It may list programs of other tests as well, which
  /// run at the same time.
  static bool lists(const Json& json, const BackgroundProgram& program) {
    return std::ranges::any_of(json.at("processes"), [&](const Json& process) {
      return process.at("pid") == program.id();
    });
  }
  static Arguments about(const BackgroundProgram& program) {
    return {"--pid", std::to_string(program.id())};
  }
  static bool has_trained(const Json& process) {
    for (const Json& model : process.at("models"))
      if (model.at("mode") == "training" && model.at("calls") > 1) return true;
    return false;
  }

  const TemporaryDirectory runtime_;
  const EnvironmentVariable variable_{"XDG_RUNTIME_DIR", runtime_.path().string()};
};

/// Expects that `object` has exactly the fields in `types`. Each of these has a name, and a text
/// with the names of the JSON types that are allowed.
void expect_fields(const Json& object,
                   const std::vector<std::pair<std::string, std::string>>& types) {
  EXPECT_EQ(object.size(), types.size()) << object.dump(2);
  for (const auto& [name, of_types] : types) {
    ASSERT_TRUE(object.contains(name)) << name << " is missing in " << object.dump(2);
    EXPECT_NE(of_types.find(object.at(name).type_name()), std::string::npos)
        << name << ": " << object.at(name);
  }
}

TEST_F(Monitor, H1_SeesATrainingOfAnotherProcess) {
  const BackgroundProgram trainer(long_training);
  const Json all = seen(
      [](const Json& json) {
        return json.at("processes").size() == 1 && has_trained(json.at("processes")[0]);
      },
      about(trainer));
  expect_fields(all,
                {{"format", "number"}, {"interval_seconds", "number"}, {"processes", "array"}});
  const Json& process = all.at("processes")[0];
  expect_fields(process, {{"pid", "number"},
                          {"command", "string"},
                          {"user", "string"},
                          {"running_seconds", "number"},
                          {"version", "string"},
                          {"models", "array"}});
  EXPECT_EQ(process.at("pid"), trainer.id());
  EXPECT_NE(process.at("command").get<std::string>().find("penstock-train --dataset synthetic"),
            std::string::npos);
  EXPECT_GT(process.at("running_seconds"), 0.0);
  ASSERT_EQ(process.at("models").size(), 2U) << "for training and for the test";
  for (const Json& model : process.at("models")) {
    expect_fields(model, {{"model", "number"},
                          {"name", "string"},
                          {"mode", "string"},
                          {"updates", "number"},
                          {"calls", "number"},
                          {"samples", "number"},
                          {"samples_per_second", "number"},
                          {"in_call", "boolean"},
                          {"last_call", "object null"},
                          {"ipus", "array"}});
    if (!model.at("last_call").is_null())
      expect_fields(model.at("last_call"),
                    {{"seconds", "number"}, {"samples", "number"}, {"loss", "number null"}});
    ASSERT_FALSE(model.at("ipus").empty());
    for (const Json& ipu : model.at("ipus")) {
      expect_fields(ipu, {{"ipu", "number"},
                          {"replica", "number"},
                          {"stages", "array"},
                          {"busy", "number"},
                          {"memory_bytes", "number"},
                          {"memory_budget_bytes", "number null"}});
      EXPECT_GE(ipu.at("busy"), 0.0);
      EXPECT_LE(ipu.at("busy"), 1.0);
      EXPECT_LE(ipu.at("memory_bytes"), ipu.at("memory_budget_bytes"));
    }
  }
  const Json& training = process.at("models")[0];
  EXPECT_EQ(training.at("mode"), "training");
  EXPECT_GT(training.at("updates"), 0);
  EXPECT_GT(training.at("samples"), 0);
  EXPECT_TRUE(training.at("last_call").at("loss").is_number());

  const CommandResult once =
      monitor({"--once", "--interval", "0.2", "--pid", std::to_string(trainer.id())});
  EXPECT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(once.err, "");
  EXPECT_NE(once.out.find("| penstock-monitor: 1 process, 2 models, "), std::string::npos)
      << once.out;
  EXPECT_NE(once.out.find(std::to_string(trainer.id())), std::string::npos);
}

TEST_F(Monitor, SaysWhatEachPartOfAPipelineWaitsFor) {
  const BackgroundProgram trainer(long_training);
  seen([&](const Json& json) { return lists(json, trainer); });
  const CommandResult text = monitor({"--why", "--pid", std::to_string(trainer.id())});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("  training of \"mlp\", "), std::string::npos) << text.out;
  const CommandResult result = monitor({"--why", "--json", "--pid", std::to_string(trainer.id())});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  expect_fields(json, {{"format", "number"}, {"processes", "array"}});
  ASSERT_EQ(json.at("processes").size(), 1U);
  const Json& process = json.at("processes")[0];
  expect_fields(
      process,
      {{"pid", "number"}, {"command", "string"}, {"user", "string"}, {"pipelines", "array"}});
  for (const Json& pipeline : process.at("pipelines")) {
    expect_fields(pipeline, {{"model", "number"},
                             {"name", "string"},
                             {"mode", "string"},
                             {"in_call", "boolean"},
                             {"asked", "number"},
                             {"silent", "number"},
                             {"waits", "array"},
                             {"cycle", "array"}});
    for (const Json& wait : pipeline.at("waits"))
      expect_fields(wait, {{"actor", "string"},
                           {"text", "string"},
                           {"from", "array"},
                           {"since_seconds", "number null"}});
  }
}

TEST_F(Monitor, SeesTwoProcessesAndOutlivesTheKillOfOne) {
  BackgroundProgram first(long_training);
  const BackgroundProgram second(long_training);
  seen([&](const Json& json) { return lists(json, first) && lists(json, second); });
  const Json one =
      seen([](const Json& json) { return json.at("processes").size() == 1; }, about(first));
  EXPECT_EQ(one.at("processes")[0].at("pid"), first.id());
  const std::string socket = socket_of(first);
  EXPECT_TRUE(std::filesystem::exists(socket));
  first.end(SIGKILL);
  EXPECT_TRUE(std::filesystem::exists(socket)) << "nobody was there to remove it";
  const CommandResult once = monitor({"--json", "--interval", "0.2"});
  EXPECT_EQ(once.code, 0);
  // Programs of other tests may end while they are asked, and a line says of each that there was no
  // answer.
  for (const pid_t pid : {first.id(), second.id()})
    EXPECT_EQ(once.err.find("process " + std::to_string(pid) + ':'), std::string::npos) << once.err;
  EXPECT_TRUE(lists(Json::parse(once.out), second)) << once.out;
  EXPECT_FALSE(lists(Json::parse(once.out), first)) << once.out;
  EXPECT_FALSE(std::filesystem::exists(socket)) << "the monitor has removed it";
  EXPECT_TRUE(std::filesystem::exists(socket_of(second)));
}

TEST_F(Monitor, TakesNoPartInARunThatEnds) {
  const CommandResult result =
      run_command({PENSTOCK_TRAIN, "--dataset", "synthetic", "--model", "mlp", "--max-updates",
                   "10", "--device-iterations", "10", "--epochs", "1", "--no-progress"});
  EXPECT_EQ(result.code, 0) << result.err;
  const CommandResult none = monitor({"--once"});
  EXPECT_EQ(none.code, 0);
  // Programs of other tests, which run at the same time, may have models.
  if (none.out.find("| penstock-monitor: ") == std::string::npos) {
    EXPECT_EQ(none.out, "No process of this user has Penstock models on their IPUs.\n");
  }
  EXPECT_TRUE(std::filesystem::is_empty(runtime_ / "penstock"));
}

TEST_F(Monitor, RefreshesByPlainLinesWhereThereIsNoTerminal) {
  const BackgroundProgram trainer(long_training);
  seen([&](const Json& json) { return lists(json, trainer); });
  const std::string out = (runtime_ / "out").string();
  BackgroundProgram watcher({PENSTOCK_MONITOR_PROGRAM, "--interval", "0.1"}, out);
  std::string text;
  for (int attempts = 0; attempts < 600; ++attempts) {
    ::usleep(100'000);
    if (std::filesystem::exists(out)) text = file_content(out);
    if (text.find("\n\n+---") != std::string::npos) break;
  }
  EXPECT_NE(text.find("\n\n+---"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(watcher.end(SIGINT), 0);
}

TEST_F(Monitor, RefusesWhatItCannotDo) {
  const auto refused = [](const Arguments& arguments, int code, const std::string& text) {
    const CommandResult result = monitor(arguments);
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.find("penstock-monitor: "), 0U);
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  };
  refused({"--interval", "0"}, 2, "--interval: expected a number of seconds from 0.1 to 3600");
  refused({"--interval", "nan"}, 2, "--interval");
  refused({"--pid", "-1"}, 2, "--pid: expected the number of a process");
  refused({"--nothing"}, 2, "nothing");
  refused({"word"}, 2, "");
  refused({"--once", "--pid", "1"}, 1, "process 1 has no Penstock models on their IPUs");
  EXPECT_EQ(monitor({"--help"}).code, 0);
}

}  // namespace
}  // namespace penstock::testing
