// These tests profile models that run, and read the files that are written of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "engine/files/trace_text.hpp"
#include "engine/profile/profile_trace.hpp"
#include "engine/profile/report_page.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/dataset.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/profile/trace_checker.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using Json = nlohmann::json;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

/// Calls `check` with the name of each topology and with options for it.
void for_each_topology(const auto& check) {
  const auto options = [] {
    Options one = options_for(2, 4, 2);
    one.runtime.trace = true;
    return one;
  };
  check("pipelined", options());
  Options sharded = options();
  sharded.topology.strategy = Strategy::sharded;
  check("sharded", sharded);
  Options interleaved = options();
  interleaved.topology.schedule = PipelineSchedule::interleaved;
  check("interleaved", interleaved);
  Options one_ipu = options();
  one_ipu.topology.ipus = {0, 0};
  check("one IPU", one_ipu);
  Options replicated = options();
  replicated.topology.replication_factor = 2;
  check("replicated", replicated);
  Options offloaded = options();
  offloaded.training.offload.weights.on = offloaded.training.offload.activations.on =
      offloaded.training.offload.optimizer_state.on = offloaded.training.offload.accumulators.on =
          true;
  check("offloaded", offloaded);
  Options recomputed = options();
  recomputed.training.recompute = true;
  check("recomputed", recomputed);
  Options phased = options();
  phased.topology.strategy = Strategy::serial_phased;
  check("phased", phased);
}

Profile trained(const Options& options, int steps = 3) {
  TrainingModel training(plain_model(), options, Adam{});
  for (int step = 0; step < steps; ++step)
    training.step(samples(options.samples_per_step(), false));
  return training.profile();
}

TEST(ModelProfile, H2_DividesExactlyTheTimeOfTheCalls) {
  for_each_topology([](const char* name, const Options& options) {
    const Profile profile = trained(options);
    EXPECT_EQ(profile.calls, 3U) << name;
    EXPECT_GT(profile.call_seconds, 0) << name;
    EXPECT_GE(profile.elapsed_seconds, profile.call_seconds) << name;
    for (const IpuProfile& ipu : profile.ipus) {
      EXPECT_NEAR(ipu.seconds.total(), profile.call_seconds, 1e-6) << name;
      EXPECT_GT(ipu.seconds.of(Activity::forward), 0) << name;
      EXPECT_GT(ipu.seconds.of(Activity::update), 0) << name;
    }
  });
}

TEST(ModelProfile, H2_HasEveryRunOfAProgramOnceAndNoTwoAtATimeOnAnIpu) {
  for_each_topology([](const char* name, const Options& options) {
    const Profile profile = trained(options);
    const int replicas = options.topology.replication_factor;
    EXPECT_EQ(profile.micro_batches, 3 * 2 * 4 * replicas) << name;
    EXPECT_EQ(profile.samples, 2 * profile.micro_batches) << name;
    std::set<std::tuple<int, int, Activity, std::int64_t>> runs;
    std::map<int, std::int64_t> until;
    for (const TraceEvent& event : profile.events) {
      EXPECT_GE(event.begin_ns, until[event.ipu]) << name;
      EXPECT_LE(event.ready_ns, event.begin_ns) << name;
      until[event.ipu] = event.end_ns;
      if (event.activity == Activity::forward || event.activity == Activity::backward) {
        EXPECT_TRUE(
            runs.emplace(event.replica, event.stage, event.activity, event.micro_batch).second)
            << name;
      }
    }
    EXPECT_EQ(runs.size(), static_cast<std::size_t>(profile.micro_batches) * 2 * 2) << name;
    for (const StageProfile& stage : profile.stages) {
      EXPECT_EQ(stage.forward.runs, static_cast<std::uint64_t>(profile.micro_batches)) << name;
      EXPECT_LE(stage.max_in_flight, stage.in_flight_limit) << name;
    }
    EXPECT_EQ(profile.dropped_events, 0U) << name;
    EXPECT_EQ(profile.older_events, 0U) << name;
  });
}

TEST(ModelProfile, H2_HasThePeakThatTheArenasHave) {
  for_each_topology([](const char* name, const Options& options) {
    TrainingModel training(plain_model(), options, Adam{});
    training.step(samples(options.samples_per_step(), false));
    const Profile profile = training.profile();
    std::map<int, std::int64_t> peaks, shared;
    for (const StageReport& report : training.stage_reports()) {
      peaks[report.ipu] += report.peak_bytes - report.shared_bytes;
      shared[report.ipu] = report.shared_bytes;
    }
    for (const IpuProfile& ipu : profile.ipus) {
      EXPECT_EQ(ipu.memory.peak_bytes, peaks[ipu.ipu] + shared[ipu.ipu]) << name;
      std::map<MemoryClass, std::int64_t> listed;
      for (const TensorMemory& tensor : ipu.memory.tensors)
        listed[tensor.memory_class] += tensor.bytes;
      // The listed tensors may have fewer bytes than their class, because some bytes only align
      // them.
      for (const auto& [memory_class, bytes] : listed)
        EXPECT_LE(bytes, ipu.memory.of(memory_class)) << name << to_string(memory_class);
      for (std::size_t i = 0; i < memory_classes; ++i)
        EXPECT_GE(ipu.memory.class_bytes[i], 0) << name;
    }
    for (const StageProfile& stage : profile.stages) EXPECT_FALSE(stage.liveness.empty()) << name;
    EXPECT_FALSE(profile.ipus.front().memory.tensors.empty()) << name;
  });
}

// A stage keeps room for the gradients that it sends back, as many as the stage before may hold.
TEST(ModelProfile, H2_ListsTheGradientsThatAreOnTheirWay) {
  Options options = options_for(2, 4, 2);
  options.runtime.trace = true;
  const Profile profile = trained(options);
  const auto sent_back = [&](std::size_t ipu) {
    std::int64_t bytes = 0;
    for (const TensorMemory& tensor : profile.ipus.at(ipu).memory.tensors)
      if (tensor.name == "gradients on their way to other stages") bytes += tensor.bytes;
    return bytes;
  };
  EXPECT_EQ(sent_back(0), 0) << "no stage is before the first one";
  EXPECT_GT(sent_back(1), 0);
  for (const IpuProfile& ipu : profile.ipus) {
    std::int64_t stash = 0, copies = 0;
    for (const TensorMemory& tensor : ipu.memory.tensors)
      if (tensor.memory_class == MemoryClass::stash) {
        stash += tensor.bytes;
        copies += tensor.copies;
      }
    // Each tensor begins at a multiple of 64 bytes.
    EXPECT_GE(stash + 64 * copies, ipu.memory.of(MemoryClass::stash)) << "IPU " << ipu.ipu;
  }
}

// Which of these reasons a stage waits for depends on timing. The last stage's backward has only
// one: all that it needs comes from its own forward.
TEST(ModelProfile, H2_NamesWhatAStageMayWaitFor) {
  using enum WaitReason;
  const std::map<std::pair<int, Activity>, std::set<WaitReason>> legal{
      {{0, Activity::forward}, {input, gate, dispatch}},
      {{0, Activity::backward}, {gradient, credit, dispatch}},
      {{1, Activity::forward}, {input, outputs, gate, dispatch}},
      {{1, Activity::backward}, {dispatch}},
      {{0, Activity::update}, {gate}},
      {{1, Activity::update}, {gate}}};
  for (const PipelineSchedule schedule :
       {PipelineSchedule::grouped, PipelineSchedule::interleaved}) {
    Options options = options_for(2, 6, 2);
    options.topology.schedule = schedule;
    options.runtime.trace = true;
    // The second window of a call begins with an update. Its first micro-batch waits for that,
    // unless the feed's thread was so late that the micro-batch came after the update.
    bool waited_for_update = false;
    for (int training = 0; training < 100 && !waited_for_update; ++training)
      for (const TraceEvent& event : trained(options).events) {
        EXPECT_EQ(legal.at({event.stage, event.activity}).count(event.waited_for), 1U)
            << "stage " << event.stage << ' ' << to_string(event.activity) << ": "
            << to_string(event.waited_for);
        if (event.stage == 0 && event.activity == Activity::forward && event.micro_batch % 12 == 6)
          waited_for_update |= event.waited_for == gate;
      }
    EXPECT_TRUE(waited_for_update);
  }
}

TEST(ModelProfile, H2_TimesInstructionsInASampleOfTheRuns) {
  Options options = options_for(2, 4, 2);
  options.runtime.trace = true;
  const Profile profile = trained(options);
  ASSERT_FALSE(profile.ops.empty());
  double of_ops = 0, of_programs = 0;
  for (const OpProfile& op : profile.ops) {
    EXPECT_EQ(op.timed_runs, 6U) << op.name << ": one of every four of 24 micro-batches";
    EXPECT_GT(op.mean_seconds, 0) << op.name;
    of_ops += op.mean_seconds * static_cast<double>(op.timed_runs);
  }
  for (const StageProfile& stage : profile.stages)
    of_programs += stage.forward.seconds + stage.backward.seconds;
  EXPECT_LE(of_ops, of_programs);
  EXPECT_TRUE(std::ranges::any_of(profile.ops, [](const OpProfile& op) {
    return op.op == "linear" && op.name.starts_with("fc1") && !op.backward;
  }));
}

TEST(ModelProfile, H2_MarksInstructionsThatAreRecomputed) {
  for (const bool recompute : {false, true}) {
    Options options = options_for(2, 4, 1);
    options.runtime.trace = true;
    options.training.recompute = recompute;
    TrainingModel training(tied_model(), options);
    training.step(samples(8, true));
    EXPECT_EQ(std::ranges::any_of(training.profile().ops, &OpProfile::recomputed), recompute);
  }
}

TEST(ModelProfile, H2_KeepsFiguresOfEventsThatItHasNoRoomFor) {
  Options options = options_for(2, 4, 1);
  options.runtime.trace = true;
  options.runtime.trace_events = 64;
  const Profile profile = trained(options, 20);
  EXPECT_EQ(profile.stages[0].forward.runs, 80U);
  EXPECT_LE(profile.events.size(), 64U);
  EXPECT_GT(profile.older_events, 0U);
  EXPECT_EQ(profile.dropped_events, 0U);
}

TEST(ModelProfile, H2_LeavesOutCallsThatHaveAPlanOfTheirOwn) {
  Options options = options_for(2, 4, 1);
  options.runtime.trace = true;
  TrainingModel training(plain_model(), options);
  training.step(samples(8, false));
  training.step(samples(4, false));
  const Profile profile = training.profile();
  EXPECT_EQ(profile.calls, 1U);
  EXPECT_EQ(profile.short_calls, 1U);
  EXPECT_EQ(profile.samples, 8);
  for (const TraceEvent& event : profile.events) EXPECT_LT(event.end_ns, profile.window[0].end_ns);
  EXPECT_EQ(std::ranges::count(profile.host_events, HostActor::feed, &HostEvent::actor), 4);
}

TEST(ModelProfile, H2_GoesOnOverADetach) {
  Options options = options_for(2, 4, 1);
  options.runtime.trace = true;
  TrainingModel training(plain_model(), options);
  training.step(samples(8, false));
  training.detach();
  training.attach();
  training.step(samples(8, false));
  training.detach();
  const Profile profile = training.profile();
  EXPECT_EQ(profile.calls, 2U);
  EXPECT_EQ(profile.stages[1].backward.runs, 8U);
  EXPECT_GE(profile.stages[0].max_in_flight, 1);
  EXPECT_EQ(profile.ops.front().timed_runs, 2U);
  // Micro-batches are counted since the model was built.
  ASSERT_EQ(profile.window.size(), 2U);
  EXPECT_EQ(profile.window[1].first_micro_batch, 4);
  std::set<std::int64_t> trained, fed;
  for (const TraceEvent& event : profile.events) trained.insert(event.micro_batch);
  for (const HostEvent& event : profile.host_events)
    if (event.actor == HostActor::feed) fed.insert(event.micro_batch);
  const std::set<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(trained, all);
  EXPECT_EQ(fed, all);
}

TEST(ModelProfile, H2_OfAModelThatRecordsNothingIsRefused) {
  const TrainingModel training(plain_model(), options_for(2, 4, 1));
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.profile(); }),
            "profile: expected options.runtime.trace to be true for model \"plain\", got false: "
            "nothing was recorded");
}

TEST(ModelProfile, H2_OfInferenceHasForwardsOnly) {
  Options options{.batch_size = 2, .device_iterations = 6};
  options.runtime.trace = true;
  InferenceModel inference(plain_model(), options);
  inference.run(std::vector<Tensor>{samples(12, false)[0]});
  const Profile profile = inference.profile();
  EXPECT_FALSE(profile.training);
  EXPECT_EQ(profile.stages[0].forward.runs, 6U);
  EXPECT_EQ(profile.stages[0].backward.runs, 0U);
  EXPECT_EQ(profile.samples, 12);
  EXPECT_NEAR(profile.bubble.closed_form, 1.0 / 7, 1e-9);
}

TEST(ProfileFiles, H2_FollowTheRulesOfTraceEvents) {
  for_each_topology([](const char* name, const Options& options) {
    SCOPED_TRACE(name);
    const TemporaryDirectory directory;
    const Profile profile = trained(options);
    write_profile((directory / "made" / "here").string(), profile);
    const Json trace = Json::parse(file_content(directory / "made" / "here" / "trace.json"));
    TraceChecker checker(trace);
    EXPECT_GE(checker.check(), profile.events.size() + profile.window.size());
    EXPECT_EQ(checker.flows(), static_cast<std::size_t>(profile.micro_batches));
    for (const IpuProfile& ipu : profile.ipus) {
      const std::string of_ipu = "IPU " + std::to_string(ipu.ipu);
      const auto& in_flight = checker.counted(of_ipu + " in flight");
      ASSERT_FALSE(in_flight.empty());
      EXPECT_EQ(in_flight.back().at("micro-batches"), 0) << "every backward has ended";
      const auto& memory = checker.counted(of_ipu + " memory");
      ASSERT_EQ(memory.size(), in_flight.size());
      EXPECT_EQ(memory.back().at("stash"), 0);
      EXPECT_EQ(memory.back().at("working"), 0);
      EXPECT_EQ(memory.back().at("always live"), ipu.memory.of(MemoryClass::weights) +
                                                     ipu.memory.of(MemoryClass::optimizer_state) +
                                                     ipu.memory.of(MemoryClass::accumulators));
    }
  });
}

TEST(ProfileFiles, MayBeCommittedAgainAfterOneWasRefused) {
  const TemporaryDirectory directory;
  ProfileFiles files(directory / "p");
  files.write(Profile());
  std::filesystem::create_directory(directory / "p/profile.json");
  EXPECT_THROW(files.commit(), Error);
  std::filesystem::remove(directory / "p/profile.json");
  files.sync();
  for (int times = 0; times < 2; ++times) files.commit();
  for (const std::string& path : ProfileFiles::paths_in(directory / "p"))
    EXPECT_TRUE(std::filesystem::is_regular_file(path)) << path;
}

// The first batch is read, and waited for, before the first call begins.
TEST(ProfileFiles, E2_GiveALoaderAndEachReaderARow) {
  Options options = options_for(2, 4, 2);
  options.topology.replication_factor = 2;
  options.runtime.trace = true;
  TrainingModel training(plain_model(), options, Adam{});
  DataLoader loader(tensor_dataset(samples(3 * options.samples_per_step(), false)),
                    options.samples_per_step(),
                    {.mode = LoaderMode::sync, .workers = 2, .trace_events = 100});
  while (const auto batch = loader.next()) training.step(*batch);
  Profile profile = training.profile();
  const std::vector<HostEvent> events = loader.take_trace();
  profile.host_events.insert(profile.host_events.end(), events.begin(), events.end());
  const TemporaryDirectory directory;
  write_profile((directory / "p").string(), profile);
  const Json trace = Json::parse(file_content(directory / "p" / "trace.json"));
  TraceChecker(trace).check();

  std::map<std::string, int> rows, slices;
  std::map<int, std::string> names;
  double first = 1;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("pid") != host_process) continue;
    if (event.at("ph") == "X") {
      ++slices[names.at(event.at("tid"))];
      first = std::min(first, event.at("ts").get<double>());
    } else if (event.at("name") == "thread_name") {
      const std::string name = event.at("args").at("name");
      EXPECT_TRUE(names.emplace(event.at("tid"), name).second) << name;
      EXPECT_EQ(++rows[name], 1) << name;
    }
  }
  for (const char* row : {"calls", "loader", "reader 0", "reader 1", "reducer of stage 0"})
    EXPECT_EQ(rows[row], 1) << row;
  EXPECT_EQ(slices["loader"], 3);
  EXPECT_EQ(slices["reader 0"] + slices["reader 1"], std::ssize(events) - 3);
  EXPECT_EQ(first, 0) << "the trace begins with the first read";
}

TEST(ProfileFiles, H2_FollowTheRulesAlsoOfInferenceAndOfAFullRing) {
  Options options{.batch_size = 2, .device_iterations = 6};
  options.runtime.trace = true;
  options.runtime.trace_events = 16;
  InferenceModel inference(plain_model(), options);
  for (int run = 0; run < 4; ++run) inference.run(std::vector<Tensor>{samples(12, false)[0]});
  const Profile profile = inference.profile();
  EXPECT_GT(profile.older_events, 0U);
  const TemporaryDirectory directory;
  write_profile((directory / "p").string(), profile);
  TraceChecker checker(Json::parse(file_content(directory / "p" / "trace.json")));
  EXPECT_GE(checker.check(), profile.events.size());
  EXPECT_GT(checker.flows(), 0U);
}

TEST(ProfileFiles, H2_ShowTheNewestEventsWhereThereAreMoreThanAViewerReads) {
  for_each_topology([](const char* name, const Options& options) {
    SCOPED_TRACE(name);
    const Profile profile = trained(options);
    constexpr std::size_t most = 9;
    ASSERT_GT(profile.events.size(), most);
    const TemporaryDirectory directory;
    OutputFile file(directory / "trace.json");
    write_profile_trace(file, profile, most);
    file.commit();
    const Json trace = Json::parse(file_content(directory / "trace.json"));
    const auto is_of_ipu = [](const Json& event) {
      return event.at("ph") == "X" && event.at("pid") == ipu_process && event.at("cat") != "wait";
    };
    EXPECT_EQ(std::ranges::count_if(trace.at("traceEvents"), is_of_ipu), most);
    EXPECT_EQ(trace.at("otherData").at("older_events"), profile.events.size() - most);
    TraceChecker(trace).check();
  });
}

// A wait of less than a microsecond has no slice in the trace.
TEST(ProfileFiles, H2_DivideTheTimeInTheTraceAsInTheFigures) {
  for_each_topology([](const char* name, const Options& options) {
    const TemporaryDirectory directory;
    const Profile profile = trained(options);
    write_profile((directory / "p").string(), profile);
    const Json trace = Json::parse(file_content(directory / "p" / "trace.json"));
    std::map<std::pair<int, std::string>, double> seconds;
    for (const Json& event : trace.at("traceEvents"))
      if (event.at("ph") == "X" && event.at("cat") == "wait")
        seconds[{event.at("tid"), event.at("name")}] += event.at("dur").get<double>() * 1e-6;
    const double left_out = 1e-6 * static_cast<double>(2 * profile.events.size() + 3);
    for (const IpuProfile& ipu : profile.ipus)
      for (std::size_t i = 0; i < wait_reasons; ++i) {
        const auto reason = static_cast<WaitReason>(i);
        const double drawn = seconds[{ipu.ipu, "wait: " + std::string(to_string(reason))}];
        EXPECT_LE(drawn, ipu.seconds.of(reason) + 1e-6) << name << ' ' << to_string(reason);
        EXPECT_GE(drawn, ipu.seconds.of(reason) - left_out) << name << ' ' << to_string(reason);
      }
  });
}

TEST(ProfileFiles, H2_HaveTheFiguresOfTheProfile) {
  Options options = options_for(2, 4, 1);
  options.runtime.trace = true;
  const Profile profile = trained(options);
  const TemporaryDirectory directory;
  write_profile((directory / "p").string(), profile);
  const Json figures = Json::parse(file_content(directory / "p" / "profile.json"));
  EXPECT_EQ(figures.at("model"), "plain");
  EXPECT_EQ(figures.at("calls"), 3);
  EXPECT_EQ(figures.at("gradient_accumulation"), 4);
  EXPECT_EQ(figures.at("ipus").at(1).at("seconds").at("active").at("forward"),
            profile.ipus[1].seconds.of(Activity::forward));
  EXPECT_EQ(figures.at("ipus").at(0).at("seconds").at("waiting").size(), wait_reasons);
  EXPECT_EQ(figures.at("ipus").at(0).at("memory").at("peak_bytes"),
            profile.ipus[0].memory.peak_bytes);
  EXPECT_EQ(figures.at("stages").at(0).at("blocks"), Json::array({"B1"}));
  EXPECT_EQ(figures.at("bubble").at("measured"), profile.bubble.measured);
  EXPECT_EQ(figures.at("ops").size(), profile.ops.size());
}

TEST(ProfileFiles, H2_HaveAPageThatNeedsNothingElseAndWhichNoNameCanBreak) {
  Model model("</script><b>\"&\xc3\xa9", 5);
  const Value x = model.input("<x>", {4});
  model.output("y", model.linear("</script>", x, 4));
  Options options{.batch_size = 2};
  options.runtime.trace = true;
  InferenceModel inference(model, options);
  inference.run(std::vector<Tensor>{samples(2, false)[0]});
  const TemporaryDirectory directory;
  write_profile((directory / "p").string(), inference.profile());
  const std::string page = file_content(directory / "p" / "report.html");
  EXPECT_EQ(page.find("PENSTOCK_"), std::string::npos) << "both places are filled";
  // The namespace of SVG is a name, and nothing that is fetched.
  EXPECT_EQ(count(page, "http://"), count(page, "http://www.w3.org/"));
  EXPECT_EQ(count(page, "https://"), 0U);
  EXPECT_EQ(count(page, "</script>"), count(report_template(), "</script>"));
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
}

TEST(ProfileFiles, H2_AreRefusedBeforeAnythingRanWhereTheyCannotBeWritten) {
  const TemporaryDirectory directory;
  testing::write_file(directory / "file", "text");
  EXPECT_TRUE(refusal(Errc::io_error, [&] {
                ProfileFiles((directory / "file").string());
              }).starts_with("cannot create the directory"));
}

TEST(ProfileSummary, H2_SaysHowBusyTheIpusWere) {
  Options options = options_for(2, 4, 1);
  options.runtime.trace = true;
  const std::string text = summary_of(trained(options));
  EXPECT_TRUE(text.starts_with("IPUs were busy ")) << text;
  EXPECT_NE(text.find("the simulator predicts"), std::string::npos) << text;
  EXPECT_EQ(summary_of(Profile{}), "No call was profiled.\n");
}

}  // namespace
}  // namespace penstock::testing
