// These tests check that any process of the same user can see the models of a process that are on
// their IPUs, and what their actors wait for. No other user can, and no model is disturbed.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/other_user.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/support/unix_client.hpp"

namespace penstock::testing {
namespace {

using Json = nlohmann::json;

class MonitoredModels : public ::testing::Test {
 protected:
  std::string socket() const {
    return (runtime_ / "penstock").string() + "/" + std::to_string(::getpid()) + ".sock";
  }
  bool is_open() const { return std::filesystem::exists(socket()); }
  Json ask(const std::string& request) const {
    const std::string answer = asked(socket(), request);
    EXPECT_FALSE(answer.empty());
    return answer.empty() ? Json() : Json::parse(answer);
  }

  const TemporaryDirectory runtime_;
  const EnvironmentVariable variable_{"XDG_RUNTIME_DIR", runtime_.path().string()};
};

TEST_F(MonitoredModels, TellWhatTheyHaveDone) {
  const Model model = plain_model();
  Options options = options_for(2, 3, 2);
  options.topology.ipu_memory_bytes = 1 << 20;
  TrainingModel training(model, options, AdamW{});
  const Json before = ask("status");
  EXPECT_EQ(before.at("penstock_monitor"), 1);
  EXPECT_EQ(before.at("version"), version);
  EXPECT_EQ(before.at("pid"), ::getpid());
  ASSERT_EQ(before.at("models").size(), 1U);
  EXPECT_TRUE(before.at("models")[0].at("last_call").is_null());
  EXPECT_TRUE(before.at("models")[0].at("in_call_since_ns").is_null());
  const StepResult result = training.step(samples(12, false));
  training.step(samples(5, false));  // A shorter step has plans of its own, on the same IPUs.
  const Json after = ask("status"), shown = after.at("models")[0];
  EXPECT_EQ(shown.at("name"), "plain");
  EXPECT_EQ(shown.at("mode"), "training");
  EXPECT_EQ(shown.at("updates"), training.updates());
  EXPECT_EQ(shown.at("calls"), 2);
  EXPECT_EQ(shown.at("samples"), 17);
  EXPECT_EQ(shown.at("last_call").at("samples"), 5);
  EXPECT_GT(shown.at("last_call").at("seconds"), 0.0);
  EXPECT_TRUE(shown.at("last_call").at("loss").is_number());
  ASSERT_EQ(shown.at("ipus").size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& ipu = shown.at("ipus")[i];
    EXPECT_EQ(ipu.at("ipu"), i);
    EXPECT_EQ(ipu.at("replica"), 0);
    EXPECT_EQ(ipu.at("stages"), Json::array({i}));
    EXPECT_GT(ipu.at("busy_ns"), 0);
    EXPECT_LT(ipu.at("busy_ns"),
              after.at("now_ns").get<std::int64_t>() - before.at("now_ns").get<std::int64_t>());
    EXPECT_GT(ipu.at("memory_bytes"), 0);
    EXPECT_EQ(ipu.at("memory_budget_bytes"), 1 << 20);
  }
}

TEST_F(MonitoredModels, AreThoseOnTheirIpusAndTheLastTakesTheSocketAlong) {
  const std::size_t threads = thread_count();
  const Model model = plain_model();
  std::optional<TrainingModel> training(std::in_place, model, options_for(2, 2, 1), AdamW{});
  InferenceModel inference(model, options_for(4, 1, 1));
  inference.run({uniform({4, 4}, 1)});
  const Json both = ask("status");
  ASSERT_EQ(both.at("models").size(), 2U);
  EXPECT_EQ(both.at("models")[0].at("mode"), "training");
  EXPECT_EQ(both.at("models")[1].at("mode"), "inference");
  EXPECT_TRUE(both.at("models")[1].at("last_call").at("loss").is_null());
  training.reset();
  EXPECT_EQ(ask("status").at("models").size(), 1U);
  const Json busy = ask("status").at("models")[0].at("ipus")[0].at("busy_ns");
  inference.detach();
  EXPECT_FALSE(is_open());
  EXPECT_TRUE(threads_fall_to(threads));
  inference.attach();
  EXPECT_EQ(ask("status").at("models")[0].at("ipus")[0].at("busy_ns"), busy)
      << "what it has done is not forgotten";
}

TEST_F(MonitoredModels, AreNotThereIfTheHostOrTheEnvironmentSaysSo) {
  const Model model = plain_model();
  {
    const EnvironmentVariable off("PENSTOCK_MONITOR", "0");
    const TrainingModel training(model, options_for(2, 2, 1), AdamW{});
    EXPECT_FALSE(is_open());
  }
  Options hidden = options_for(2, 2, 1);
  hidden.runtime.monitor = false;
  const TrainingModel training(model, hidden, AdamW{});
  EXPECT_FALSE(is_open());
  const InferenceModel inference(model, options_for(2, 1, 1));
  EXPECT_EQ(ask("status").at("models").size(), 1U);
}

TEST_F(MonitoredModels, RunWithoutASocketIfThereCannotBeOne) {
  std::string log;
  Options options = options_for(2, 2, 1);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) { log.append(line).append("\n"); };
  write_file(runtime_ / "penstock", "no directory");
  TrainingModel training(plain_model(), options, AdamW{});
  EXPECT_NE(log.find("penstock-monitor cannot see it: expected a directory that is closed to "
                     "others"),
            std::string::npos)
      << log;
  training.step(samples(4, false));
}

TEST_F(MonitoredModels, SayWhatTheyWaitForInTheMiddleOfACall) {
  const Model model = plain_model();
  const HeldKernel held(model, "tanh", 1);
  TrainingModel training(model, options_for(2, 3, 1), AdamW{});
  std::thread host([&] { training.step(samples(6, false)); });
  ASSERT_TRUE(held.await());
  Json why;
  const auto wait_of = [&](const std::string& actor) {
    for (const Json& wait : why.at("waits"))
      if (wait.at("actor") == actor) return wait;
    return Json();
  };
  const Json from_stage_0 = Json::array({"stage 0 (replica 0, IPU 0)"});
  // Stage 1 may still be at work on micro-batch 0.
  for (int attempts = 0; attempts < 1000; ++attempts) {
    why = ask("why").at("pipelines")[0];
    const Json behind = wait_of("stage 1 (replica 0, IPU 1)");
    if (why.at("silent") == 0 && behind.is_object() && behind.at("from") == from_stage_0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  held.let_go();
  host.join();
  EXPECT_EQ(why.at("name"), "plain");
  EXPECT_EQ(why.at("in_call"), true);
  EXPECT_EQ(why.at("silent"), 0) << why;
  const Json stage = wait_of("stage 0 (replica 0, IPU 0)");
  ASSERT_TRUE(stage.is_object() && wait_of("IPU 0").is_object()) << why;
  EXPECT_EQ(stage.at("text"), "runs forward of micro-batch 1 on IPU 0");
  EXPECT_EQ(stage.at("from"), Json::array({"IPU 0"}));
  EXPECT_GT(stage.at("since_seconds"), 0.0);
  EXPECT_EQ(wait_of("IPU 0").at("text").get<std::string>().find("is in tanh "), 0U);
  const Json behind = wait_of("stage 1 (replica 0, IPU 1)");
  ASSERT_TRUE(behind.is_object()) << why;
  EXPECT_EQ(behind.at("from"), from_stage_0);
  EXPECT_TRUE(why.at("cycle").empty());
}

TEST_F(MonitoredModels, AreHiddenFromOtherUsers) {
  if (::geteuid() != 0) return;  // Only root can become another user.
  const TrainingModel training(plain_model(), options_for(2, 2, 1), AdamW{});
  const std::string socket = this->socket();  // Children, too, use the socket of this process.
  EXPECT_TRUE(succeeds_as_other_user([&] { return !UnixClient(socket).connected(); }));
  // Even if the file system lets other users in, the process does not.
  std::filesystem::path path = socket;
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  for (path = path.parent_path(); path != runtime_.path().parent_path(); path = path.parent_path())
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_TRUE(succeeds_as_other_user([&] {
    const UnixClient client(socket);
    if (!client.connected()) return false;
    client.send("status\n");
    return client.read_all().empty();
  }));
  EXPECT_EQ(ask("status").at("models").size(), 1U);
}

// A sanitizer may start no thread in a process that was forked from one with threads.
TEST_F(MonitoredModels, OfAForkedProcessHaveASocketOfTheirOwn) {
  if (sanitized) return;
  std::optional<TrainingModel> training(std::in_place, plain_model(), options_for(2, 2, 1),
                                        AdamW{});
  const std::string parents = socket();
  const int code = exit_code_of_fork([&] {
    {
      TrainingModel own(plain_model(), options_for(2, 2, 1), AdamW{});
      own.step(samples(4, false));
      const Json status = Json::parse(asked(socket(), "status"));
      if (socket() == parents || status.at("models").size() != 1) return 1;
    }
    if (is_open()) return 2;
    training.reset();  // The model is the parent's, so that the child leaves its socket as it is.
    return std::filesystem::exists(parents) ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(ask("status").at("models").size(), 1U);
  training.reset();
  EXPECT_FALSE(is_open());
}

TEST_F(MonitoredModels, AreTheSameToTheLastBitWhoeverLooksAndHowever) {
  const auto trained = [&](bool disturbed) {
    const Model model = tied_model();
    TrainingModel training(model, options_for(2, 2, 2), AdamW{});
    std::atomic<bool> done{false};
    std::vector<std::thread> strangers;
    for (const std::string request : {"status\n", "why\n", "\xff\xfe garbage", ""})
      if (disturbed)
        strangers.emplace_back([&, request] {
          while (!done) {
            const UnixClient client(socket());
            client.send(request);
            if (request.ends_with('\n')) client.read_all();
          }
        });
    for (int step = 0; step < 30; ++step)
      training.step(samples(8, true, static_cast<std::uint64_t>(step)));
    done = true;
    for (std::thread& stranger : strangers) stranger.join();
    return model.weight("fc.weight");
  };
  EXPECT_TRUE(same_bits(trained(true), trained(false)));
}

}  // namespace
}  // namespace penstock::testing
