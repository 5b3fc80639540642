#include "penstock/options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr int int_max = std::numeric_limits<int>::max();

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "accepted";
}

TEST(Options, DefaultsAreValid) {
  EXPECT_NO_THROW(Options{}.validate());
}

TEST(Options, LimitsThemselvesAreValid) {
  Options options;
  options.batch_size = int_max;
  options.runtime = {.threads = 1024, .stall_seconds = 1e6};
  options.topology = {.stages = {Stage{"A"}.on(65535)}, .ipus = {0}, .threads_per_ipu = 1024};
  EXPECT_NO_THROW(options.validate());
}

struct Refused {
  const char* text;
  std::function<void(Options&)> change;
};

TEST(Options, EachFieldIsRefusedOutsideItsRangeByName) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<Refused> cases{
      {"options.batch_size: expected 1 or more, got 0", [](Options& o) { o.batch_size = 0; }},
      {"options.device_iterations: expected 1 or more, got -1",
       [](Options& o) { o.device_iterations = -1; }},
      {"options.topology.strategy: expected one of pipelined, sharded, serial_phased, "
       "parallel_phased, got number 7",
       [](Options& o) { o.topology.strategy = static_cast<Strategy>(7); }},
      {"options.topology.schedule: expected one of grouped, interleaved, sequential, got number 3",
       [](Options& o) { o.topology.schedule = static_cast<PipelineSchedule>(3); }},
      {"options.topology.phased.phases: expected none, for the strategy is pipelined, got 1",
       [](Options& o) { o.topology.phased.phases = {Phase{{"A"}}}; }},
      {"options.topology.phased.liveness: expected always_live, for the strategy is sharded, got "
       "off_ipu_after_forward",
       [](Options& o) {
         o.topology.strategy = Strategy::sharded;
         o.topology.phased.liveness = PhaseLiveness::off_ipu_after_forward;
       }},
      {"options.topology.phased.separate_backward_phase: expected false, for the strategy is "
       "pipelined, got true",
       [](Options& o) { o.topology.phased.separate_backward_phase = true; }},
      {"options.topology.phased.batch_serial: expected false, for the strategy is pipelined, got "
       "true",
       [](Options& o) { o.topology.phased.batch_serial = true; }},
      {"options.training.gradient_accumulation: expected at most 1048576, for "
       "options.topology.phased.batch_serial keeps all micro-batches of a window, got 2147483647",
       [](Options& o) {
         o.topology.strategy = Strategy::serial_phased;
         o.topology.phased.batch_serial = true;
         o.training.gradient_accumulation = std::numeric_limits<int>::max();
       }},
      {"options.topology.phased.on_ipu.weights: expected false, for the strategy is pipelined, got "
       "true",
       [](Options& o) { o.topology.phased.on_ipu.weights = true; }},
      {"options.topology.stages[1].blocks: expected at least one block, got none",
       [](Options& o) {
         o.topology.stages = {Stage{"A"}, Stage{}};
       }},
      {"options.topology.stages[0].blocks: expected names of blocks, got \"\"",
       [](Options& o) {
         o.topology.stages = {Stage{"A", ""}};
       }},
      {"options.topology.stages[0].ipu: expected 0 to 65535, got -2",
       [](Options& o) { o.topology.stages = {Stage{"A"}.on(-2)}; }},
      {"options.topology.automatic_stages: expected 0 to 1024, got -1",
       [](Options& o) { o.topology.automatic_stages = -1; }},
      {"options.topology.automatic_stages: expected 0, for options.topology.stages says what the "
       "stages are, got 2",
       [](Options& o) {
         o.topology.stages = {Stage{"A"}};
         o.topology.automatic_stages = 2;
       }},
      {"options.topology.stage_rule: expected by_block, for options.topology.stages says what the "
       "stages are, got same_as_ipu",
       [](Options& o) {
         o.topology.stages = {Stage{"A"}};
         o.topology.stage_rule = StageRule::same_as_ipu;
       }},
      {"options.topology.stage_rule: expected by_block, for options.topology.automatic_stages says "
       "what the stages are, got auto_increment",
       [](Options& o) {
         o.topology.automatic_stages = 2;
         o.topology.stage_rule = StageRule::auto_increment;
       }},
      {"options.topology.stage_rule: expected one of by_block, same_as_ipu, auto_increment, got "
       "number 3",
       [](Options& o) { o.topology.stage_rule = static_cast<StageRule>(3); }},
      {"options.topology.ipus[1]: expected 0 to 65535, got -1",
       [](Options& o) {
         o.topology.ipus = {0, -1};
       }},
      {"options.topology.ipu_memory_bytes: expected 0 or more, got -1",
       [](Options& o) { o.topology.ipu_memory_bytes = -1; }},
      {"options.topology.replication_factor: expected 1 to 1024, got 0",
       [](Options& o) { o.topology.replication_factor = 0; }},
      {"options.training.gradient_accumulation: expected 1 or more, got 0",
       [](Options& o) { o.training.gradient_accumulation = 0; }},
      {"options.training.reduction: expected one of mean, sum, got number 2",
       [](Options& o) { o.training.reduction = static_cast<Reduction>(2); }},
      {"options.training.recompute_stages: expected none, for options.training.recompute is false, "
       "got 2",
       [](Options& o) {
         o.training.recompute_stages = {0, 1};
       }},
      {"options.training.recompute_stages[1]: expected 0 or more, got -1",
       [](Options& o) {
         o.training.recompute = true;
         o.training.recompute_stages = {0, -1};
       }},
      {"options.training.reduction_strategy: expected one of post, running, got number 2",
       [](Options& o) { o.training.reduction_strategy = static_cast<ReductionStrategy>(2); }},
      {"options.training.offload.optimizer_state.minimum_bytes: expected 0 or more, got -1",
       [](Options& o) { o.training.offload.optimizer_state.minimum_bytes = -1; }},
      {"options.training.offload.accumulators.minimum_bytes: expected 0 or more, got -1",
       [](Options& o) { o.training.offload.accumulators.minimum_bytes = -1; }},
      {"options.training.offload.activations.minimum_bytes: expected 0 or more, got -1",
       [](Options& o) { o.training.offload.activations.minimum_bytes = -1; }},
      {"options.training.offload.weights.minimum_bytes: expected 0 or more, got -1",
       [](Options& o) { o.training.offload.weights.minimum_bytes = -1; }},
      {"options.training.sharding.optimizer_state.minimum_elements: expected 2 or more, got 1",
       [](Options& o) { o.training.sharding.optimizer_state.minimum_elements = 1; }},
      {"options.training.reduction_strategy: expected post, as the reduction is sum, got running",
       [](Options& o) {
         o.training.reduction = Reduction::sum;
         o.training.reduction_strategy = ReductionStrategy::running;
       }},
      {"options.output.mode: expected one of automatic, final, every_n, all, sum, got number 5",
       [](Options& o) { o.output.mode = static_cast<OutputMode>(5); }},
      {"options.output.period: expected 1 or more, got 0", [](Options& o) { o.output.period = 0; }},
      {"options.output.anchors[0].name: expected a name of its own, got \"\"",
       [](Options& o) { o.output.anchors = {{.tensor = "fc"}}; }},
      {"options.output.anchors[0].mode: expected one of automatic, final, every_n, all, sum, got "
       "number 9",
       [](Options& o) {
         o.output.anchors = {{.name = "a", .tensor = "fc", .mode = static_cast<OutputMode>(9)}};
       }},
      {"options.topology.threads_per_ipu: expected 0 to 1024, got -1",
       [](Options& o) { o.topology.threads_per_ipu = -1; }},
      {"options.topology.threads_per_ipu: expected 0 to 1024, got 1025",
       [](Options& o) { o.topology.threads_per_ipu = 1025; }},
      {"options.topology.input_group_size: expected 1 to 1024, got 0",
       [](Options& o) { o.topology.input_group_size = 0; }},
      {"options.topology.input_group_size: expected a divisor of the replication factor, 4, got 3",
       [](Options& o) {
         o.topology.replication_factor = 4;
         o.topology.input_group_size = 3;
       }},
      {"options.runtime.log_level: expected one of automatic, debug, info, warning, error, off, "
       "got number 9",
       [](Options& o) { o.runtime.log_level = static_cast<LogLevel>(9); }},
      {"options.runtime.threads: expected 0 to 1024, got 1025",
       [](Options& o) { o.runtime.threads = 1025; }},
      {"options.recovery.attempts: expected 0 or more, got -1",
       [](Options& o) { o.recovery.attempts = -1; }},
      {"options.recovery.wait_seconds: expected 0 to 1000000, got -1",
       [](Options& o) { o.recovery.wait_seconds = -1; }},
      {"options.runtime.stall_seconds: expected more than 0 and at most 1000000, got 0",
       [](Options& o) { o.runtime.stall_seconds = 0; }},
      {"options.runtime.stall_seconds: expected more than 0 and at most 1000000, got nan",
       [nan](Options& o) { o.runtime.stall_seconds = nan; }},
      {"options.runtime.stall_seconds: expected more than 0 and at most 1000000, got inf",
       [infinity](Options& o) { o.runtime.stall_seconds = infinity; }},
      {"options.runtime.trace_events: expected 1 or more, got 0",
       [](Options& o) { o.runtime.trace_events = 0; }},
      {"options.runtime.cache_bytes: expected 0 or more, got -1",
       [](Options& o) { o.runtime.cache_bytes = -1; }},
  };
  for (const Refused& refused : cases) {
    Options options;
    refused.change(options);
    EXPECT_EQ(refusal([&] { options.validate(); }), refused.text);
  }
}

/// A12 of docs/reference.md: wrong options of phases are refused with the name of the option.
TEST(Options, PhasesAreRefusedByName) {
  const std::vector<Refused> cases{
      {"accepted",
       [](Options& o) {
         o.topology.phased.phases = {Phase{{"A0"}, {"A1"}}, Phase{{"B", "C"}}};
       }},
      {"options.topology.phased.phases: expected none, for options.topology.stages says what the "
       "stages are, got 1",
       [](Options& o) {
         o.topology.stages = {Stage{"A"}};
         o.topology.phased.phases = {Phase{{"A"}}};
       }},
      {"options.topology.phased.phases[1].stages: expected at least one stage, got none",
       [](Options& o) {
         o.topology.phased.phases = {Phase{{"A"}}, Phase{}};
       }},
      {"options.topology.phased.phases[0].stages[1].blocks: expected at least one block, got none",
       [](Options& o) {
         o.topology.phased.phases = {Phase{{"A"}, Stage{}}};
       }},
      {"options.topology.phased.phases[2]: block \"A\" is in phase 0 already; expected each block "
       "in one",
       [](Options& o) {
         o.topology.phased.phases = {Phase{{"A"}}, Phase{{"B"}}, Phase{{"C", "A"}}};
       }},
      {"options.topology.phased.phases[0]: block \"A\" is in phase 0 twice; expected each block in "
       "one",
       [](Options& o) {
         o.topology.phased.phases = {Phase{{"A"}, {"A"}}};
       }},
      {"options.topology.stage_rule: expected by_block, for the phases of serial_phased are "
       "explicit (options.topology.phased.phases, options.topology.stages, or the model's blocks), "
       "got auto_increment",
       [](Options& o) { o.topology.stage_rule = StageRule::auto_increment; }},
      {"options.topology.automatic_stages: expected 0, for the phases of serial_phased are "
       "explicit "
       "(options.topology.phased.phases, options.topology.stages, or the model's blocks), got 2",
       [](Options& o) { o.topology.automatic_stages = 2; }},
      {"options.topology.phased.liveness: expected always_live or off_ipu_after_forward, for "
       "phases that are parallel copy while others compute, got off_ipu_after_each_phase",
       [](Options& o) {
         o.topology.strategy = Strategy::parallel_phased;
         o.topology.phased.liveness = PhaseLiveness::off_ipu_after_each_phase;
       }},
      {"options.topology.phased.separate_backward_phase: expected false, for backward has phases "
       "of its own with the liveness off_ipu_after_forward, got true",
       [](Options& o) {
         o.topology.phased.liveness = PhaseLiveness::off_ipu_after_forward;
         o.topology.phased.separate_backward_phase = true;
       }},
      {"options.topology.phased.on_ipu.accumulators: expected false, for "
       "options.training.offload.accumulators.on is true, got true",
       [](Options& o) {
         o.topology.phased.on_ipu.accumulators = true;
         o.training.offload.accumulators.on = true;
       }},
  };
  for (const Refused& refused : cases) {
    Options options;
    options.topology.strategy = Strategy::serial_phased;
    refused.change(options);
    EXPECT_EQ(refusal([&] { options.validate(); }), refused.text);
  }
}

// D10 and 3.7 of docs/reference.md: in phases, every class of tensors is in the host store unless
// `on_ipu` says otherwise.
TEST(Options, PhasesKeepInTheHostStoreWhatIsNotToldToStay) {
  Options options;
  EXPECT_FALSE(offload_of(options).weights.on);
  options.topology.strategy = Strategy::parallel_phased;
  options.topology.phased.on_ipu.accumulators = true;
  options.training.offload.activations = {.on = true, .minimum_bytes = 100};
  const OffloadOptions offload = offload_of(options);
  EXPECT_TRUE(offload.weights.on);
  EXPECT_TRUE(offload.activations.on);
  EXPECT_EQ(offload.activations.minimum_bytes, 100);
  EXPECT_TRUE(offload.optimizer_state.on);
  EXPECT_FALSE(offload.accumulators.on);
}

TEST(Options, APhaseHasAnIpuForEachStage) {
  const Phase phase{{"A0"}, {"A1"}};
  EXPECT_EQ(phase.on({4, 2}).stages[1].ipu, 2);
  EXPECT_EQ(refusal([&] { phase.on({0}); }),
            "phase: expected an IPU for each of its 2 stages, got 1 IPU");
}

TEST(Options, AStepOfMoreSamplesThanFitAnIntIsRefused) {
  Options options;
  options.batch_size = int_max;
  options.device_iterations = int_max;
  options.training.gradient_accumulation = int_max;
  options.topology.replication_factor = 1024;
  const std::string text = refusal([&] { options.validate(); });
  EXPECT_NE(text.find("batch_size * device_iterations * gradient_accumulation * "
                      "replication_factor: expected 1 to 2147483647, got 1.0141"),
            std::string::npos)
      << text;
}

TEST(Options, EnumeratorsAreNamedAsTheyAreSpelled) {
  EXPECT_EQ(to_string(Strategy::sharded), "sharded");
  EXPECT_EQ(to_string(PipelineSchedule::interleaved), "interleaved");
  EXPECT_EQ(to_string(Reduction::sum), "sum");
  EXPECT_EQ(to_string(OutputMode::every_n), "every_n");
  EXPECT_EQ(to_string(static_cast<OutputMode>(9)), "unknown");
}

std::vector<std::vector<std::string>> blocks_of(std::string_view text) {
  std::vector<std::vector<std::string>> result;
  for (const Stage& stage : parse_stages(text)) result.push_back(stage.blocks);
  return result;
}

TEST(ParseStages, SeparatesStagesByBarsAndBlocksByCommas) {
  using Expected = std::vector<std::vector<std::string>>;
  EXPECT_EQ(blocks_of("B1,B2|B3,B4"), (Expected{{"B1", "B2"}, {"B3", "B4"}}));
  EXPECT_EQ(blocks_of(" B1 ,\tB2 | layer 3 "), (Expected{{"B1", "B2"}, {"layer 3"}}));
  EXPECT_EQ(blocks_of("B1"), (Expected{{"B1"}}));
}

TEST(ParseStages, SaysWhichPartIsEmpty) {
  const std::string expected = ": expected a text such as \"B1,B2|B3,B4\", but ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "stage 0 has no block"},
      {"  ", "stage 0 has no block"},
      {"B1||B2", "stage 1 has no block"},
      {"B1|", "stage 1 has no block"},
      {"B1,,B2", "stage 0 has a block without a name"},
      {"B1|B2, ", "stage 1 has a block without a name"},
  };
  for (const auto& [text, why] : cases)
    EXPECT_EQ(refusal([&text = text] { parse_stages(text); }),
              "stages \"" + text + "\"" + expected + why);
}

TEST(ParsePhases, SeparatesPhasesBySemicolons) {
  const std::vector<Phase> phases = parse_phases("B1,B2|B3; B4");
  ASSERT_EQ(phases.size(), 2u);
  ASSERT_EQ(phases[0].stages.size(), 2u);
  EXPECT_EQ(phases[0].stages[0].blocks, (std::vector<std::string>{"B1", "B2"}));
  EXPECT_EQ(phases[1].stages.at(0).blocks, (std::vector<std::string>{"B4"}));
}

TEST(ParsePhases, SaysWhichPartIsEmpty) {
  EXPECT_EQ(refusal([] { parse_phases("B1;;B2"); }),
            "phases \"B1;;B2\": expected a text such as \"B1|B2;B3\", but phase 1 has no stage");
  EXPECT_EQ(refusal([] { parse_phases("B1;B2|"); }),
            "stages \"B2|\": expected a text such as \"B1,B2|B3,B4\", but stage 1 has no block");
}

}  // namespace
}  // namespace penstock
