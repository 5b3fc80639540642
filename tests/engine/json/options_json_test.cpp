#include "penstock/options_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <tuple>

#include "penstock/error.hpp"
#include "tests/engine/json/all_differ.hpp"

namespace penstock {
namespace {

using testing::expect_all_differ;

// All fields of each group; a field that is added does not compile until it is listed, changed in
// `changed`, and thereby asked of the JSON. `log` and `compile_progress`
// are functions and have no text.

auto fields(const Stage& stage) {
  const auto& [blocks, ipu] = stage;
  return std::tie(blocks, ipu);
}

auto fields(const Topology& topology) {
  const auto& [strategy, schedule, stages, rule, automatic_stages, ipus, memory, replicas,
               input_group, threads, phased] = topology;
  return std::tie(strategy, schedule, rule, automatic_stages, ipus, memory, replicas, input_group,
                  threads);
}

auto fields(const PhasedOptions& phased) {
  const auto& [phases, liveness, separate_backward_phase, batch_serial, on_ipu] = phased;
  const auto& [weights, activations, accumulators, state] = on_ipu;
  return std::tie(liveness, separate_backward_phase, batch_serial, weights, activations,
                  accumulators, state);
}

auto fields(const TrainingOptions& training) {
  const auto& [accumulation, reduction, strategy, offload, sharding, recompute, stages] = training;
  return std::tie(accumulation, reduction, strategy, recompute, stages);
}

auto fields(const ShardingOptions& sharding) {
  const auto& [state] = sharding;
  return std::tie(state.on, state.minimum_elements);
}

auto fields(const OffloadOptions& offload) {
  const auto& [state, sums, activations, weights] = offload;
  return std::tie(state.on, state.minimum_bytes, sums.on, sums.minimum_bytes, activations.on,
                  activations.minimum_bytes, weights.on, weights.minimum_bytes);
}

auto fields(const Anchor& anchor) {
  const auto& [name, tensor, gradient, mode, period] = anchor;
  return std::tie(name, tensor, gradient, mode, period);
}

auto fields(const OutputOptions& output) {
  const auto& [mode, period, anchors] = output;
  return std::tie(mode, period);
}

auto fields(const RuntimeOptions& runtime) {
  const auto& [threads, trace, stall_seconds, cache_directory, cache_bytes, log, log_level,
               compile_progress] = runtime;
  static_cast<void>(log);
  static_cast<void>(compile_progress);
  return std::tie(threads, trace, stall_seconds, cache_directory, cache_bytes, log_level);
}

auto own_fields(const Options& options) {
  const auto& [batch_size, device_iterations, seed, static_shapes, topology, training, output,
               runtime] = options;
  return std::tie(batch_size, device_iterations, seed, static_shapes);
}

void expect_equal(const std::vector<Stage>& left, const std::vector<Stage>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(fields(left[i]), fields(right[i]));
}

void expect_equal(const PhasedOptions& left, const PhasedOptions& right) {
  EXPECT_EQ(fields(left), fields(right));
  ASSERT_EQ(left.phases.size(), right.phases.size());
  for (std::size_t i = 0; i < left.phases.size(); ++i)
    expect_equal(left.phases[i].stages, right.phases[i].stages);
}

void expect_equal(const Options& left, const Options& right) {
  EXPECT_EQ(own_fields(left), own_fields(right));
  EXPECT_EQ(fields(left.topology), fields(right.topology));
  EXPECT_EQ(fields(left.training), fields(right.training));
  EXPECT_EQ(fields(left.training.offload), fields(right.training.offload));
  EXPECT_EQ(fields(left.training.sharding), fields(right.training.sharding));
  EXPECT_EQ(fields(left.output), fields(right.output));
  EXPECT_EQ(fields(left.runtime), fields(right.runtime));
  const auto& anchors = left.output.anchors;
  ASSERT_EQ(anchors.size(), right.output.anchors.size());
  for (std::size_t i = 0; i < anchors.size(); ++i)
    EXPECT_EQ(fields(anchors[i]), fields(right.output.anchors[i]));
  expect_equal(left.topology.stages, right.topology.stages);
  expect_equal(left.topology.phased, right.topology.phased);
}

/// No field as it is by default.
Options changed() {
  Options options;
  options.batch_size = 16;
  options.device_iterations = 3;
  options.seed = std::numeric_limits<std::uint64_t>::max();
  options.static_shapes = true;
  options.topology.strategy = Strategy::sharded;
  options.topology.schedule = PipelineSchedule::interleaved;
  options.topology.stages = {Stage{"B1", "B \"2\""}.on(7), Stage{"B3"}};
  options.topology.ipus = {3, 1};
  options.topology.ipu_memory_bytes = std::int64_t{1} << 40;
  options.topology.replication_factor = 2;
  options.topology.input_group_size = 2;
  options.topology.threads_per_ipu = 4;
  options.training.gradient_accumulation = 5;
  options.training.reduction = Reduction::sum;
  options.training.offload.optimizer_state = {.on = true, .minimum_bytes = 4096};
  options.training.offload.accumulators = {.on = true, .minimum_bytes = 64};
  options.training.offload.activations = {.on = true, .minimum_bytes = 65536};
  options.training.offload.weights = {.on = true, .minimum_bytes = 0};
  options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 1000};
  options.training.recompute = true;
  options.training.recompute_stages = {0, 1};
  options.output = {.mode = OutputMode::every_n, .period = 9};
  options.output.anchors = {
      {.name = "a", .tensor = "fc", .gradient = true, .mode = OutputMode::sum, .period = 2}};
  options.runtime = {.threads = 8,
                     .trace = true,
                     .stall_seconds = 0.1,
                     .cache_directory = "plans",
                     .cache_bytes = 1 << 20,
                     .log_level = LogLevel::warning};
  return options;
}

/// The fields that exclude some of `changed`'s.
Options changed_otherwise() {
  Options options;
  options.topology.automatic_stages = 3;
  options.training.reduction_strategy = ReductionStrategy::running;
  return options;
}

/// And what excludes some of both.
Options changed_rule() {
  Options options;
  options.topology.stage_rule = StageRule::auto_increment;
  return options;
}

/// What only phases have.
Options changed_phases() {
  Options options;
  options.topology.strategy = Strategy::serial_phased;
  options.topology.phased = {
      .phases = {Phase{{"A0"}, {"A1"}}.on({2, 1}), Phase{{"B", "C"}}},
      .liveness = PhaseLiveness::off_ipu_after_forward_no_overlap,
      .batch_serial = true,
      .on_ipu = {
          .weights = true, .activations = true, .accumulators = true, .optimizer_state = true}};
  return options;
}

Options changed_backward_phase() {
  Options options;
  options.topology.strategy = Strategy::parallel_phased;
  options.topology.phased.separate_backward_phase = true;
  return options;
}

TEST(OptionsJson, D1_EveryFieldComesBackAsItWas) {
  expect_equal(options_from_json(to_json(changed_phases())), changed_phases());
  expect_equal(options_from_json(to_json(changed_backward_phase())), changed_backward_phase());
  expect_equal(options_from_json(to_json(changed())), changed());
  expect_equal(options_from_json(to_json(changed_rule())), changed_rule());
  expect_equal(options_from_json(to_json(changed_otherwise())), changed_otherwise());
  expect_equal(options_from_json(to_json(Options{}), changed_otherwise()), Options{});
  expect_equal(options_from_json("{}"), Options{});
}

TEST(OptionsJson, D1_TheTestsAboveChangeEveryField) {
  Options options = changed();
  options.topology.automatic_stages = changed_otherwise().topology.automatic_stages;
  options.topology.stage_rule = changed_rule().topology.stage_rule;
  options.training.reduction_strategy = changed_otherwise().training.reduction_strategy;
  options.topology.phased = changed_phases().topology.phased;
  options.topology.phased.separate_backward_phase = true;
  const Options usual;
  EXPECT_FALSE(options.topology.phased.phases.empty());
  expect_all_differ(fields(options.topology.phased), fields(usual.topology.phased));
  expect_all_differ(own_fields(options), own_fields(usual));
  expect_all_differ(fields(options.topology), fields(usual.topology));
  expect_all_differ(fields(options.topology.stages.at(0)), fields(Stage{}));
  expect_all_differ(fields(options.output.anchors.at(0)), fields(Anchor{}));
  expect_all_differ(fields(options.training), fields(usual.training));
  expect_all_differ(fields(options.training.offload), fields(usual.training.offload));
  expect_all_differ(fields(options.training.sharding), fields(usual.training.sharding));
  expect_all_differ(fields(options.output), fields(usual.output));
  expect_all_differ(fields(options.runtime), fields(usual.runtime));
}

TEST(OptionsJson, D1_IsPrintedAGroupAtATime) {
  std::ostringstream stream;
  stream << changed();
  EXPECT_EQ(stream.str(), R"({
  "batch_size": 16,
  "device_iterations": 3,
  "seed": 18446744073709551615,
  "static_shapes": true,
  "topology": {
    "strategy": "sharded",
    "schedule": "interleaved",
    "stages": [{"blocks": ["B1", "B \"2\""], "ipu": 7}, {"blocks": ["B3"], "ipu": -1}],
    "stage_rule": "by_block",
    "automatic_stages": 0,
    "ipus": [3, 1],
    "ipu_memory_bytes": 1099511627776,
    "replication_factor": 2,
    "input_group_size": 2,
    "threads_per_ipu": 4,
    "phased": {
      "phases": [],
      "liveness": "always_live",
      "separate_backward_phase": false,
      "batch_serial": false,
      "on_ipu": {
        "weights": false,
        "activations": false,
        "accumulators": false,
        "optimizer_state": false
      }
    }
  },
  "training": {
    "gradient_accumulation": 5,
    "reduction": "sum",
    "reduction_strategy": "post",
    "offload": {
      "optimizer_state": {
        "on": true,
        "minimum_bytes": 4096
      },
      "accumulators": {
        "on": true,
        "minimum_bytes": 64
      },
      "activations": {
        "on": true,
        "minimum_bytes": 65536
      },
      "weights": {
        "on": true,
        "minimum_bytes": 0
      }
    },
    "sharding": {
      "optimizer_state": {
        "on": true,
        "minimum_elements": 1000
      }
    },
    "recompute": true,
    "recompute_stages": [0, 1]
  },
  "output": {
    "mode": "every_n",
    "period": 9,
    "anchors": [{"name": "a", "tensor": "fc", "gradient": true, "mode": "sum", "period": 2}]
  },
  "runtime": {
    "threads": 8,
    "trace": true,
    "stall_seconds": 0.1,
    "cache_directory": "plans",
    "cache_bytes": 1048576,
    "log_level": "warning"
  }
})");
}

TEST(OptionsJson, C5_ALaterGroupChangesOnlyTheFieldsThatItNames) {
  const Options interleaved = options_from_json(
      R"({"topology": {"schedule": "interleaved", "replication_factor": 2},
          "training": {"reduction": "sum"}})");
  const Options both = options_from_json(
      R"({"training": {"gradient_accumulation": 4}, "topology": {"ipus": [1]}})", interleaved);
  Options expected;
  expected.topology.schedule = PipelineSchedule::interleaved;
  expected.topology.replication_factor = 2;
  expected.topology.ipus = {1};
  expected.training.reduction = Reduction::sum;
  expected.training.gradient_accumulation = 4;
  expect_equal(both, expected);
}

TEST(OptionsJson, C5_AListIsReplacedAsAWhole) {
  Options base;
  base.topology.stages = {Stage{"A", "B"}.on(3), Stage{"C"}};
  const Options options =
      options_from_json(R"({"topology": {"stages": [{"blocks": ["A"]}]}})", base);
  ASSERT_EQ(options.topology.stages.size(), 1U);
  EXPECT_EQ(options.topology.stages[0].blocks, std::vector<std::string>{"A"});
  EXPECT_EQ(options.topology.stages[0].ipu, -1);
}

TEST(OptionsJson, KeepsTheHostsLog) {
  int lines = 0;
  Options base;
  base.runtime.log = [&](std::string_view) { ++lines; };
  options_from_json(R"({"runtime": {"threads": 1}})", base).runtime.log("");
  EXPECT_EQ(lines, 1);
}

TEST(OptionsJson, D1_RefusesByLineAndName) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "line 1: options: expected an object, got a list"},
      {"{\"batch_size\": 1,\n\"batch_size\": 2}",
       "line 2: \"batch_size\" is there twice, first in line 1"},
      {"{\n\"batchsize\": 1}",
       "line 2: options: \"batchsize\" is none of its fields batch_size, device_iterations, seed, "
       "static_shapes, topology, training, output, runtime"},
      {"{\"output\": {\n\"modes\": \"all\"}}",
       "line 2: options.output: \"modes\" is none of its fields mode, period, anchors"},
      {"{\"runtime\": {\n\n\"log\": null}}", "line 3: options.runtime: \"log\" is none of its"},
      {"{\n\"batch_size\": \"1\"}",
       "line 2: options.batch_size: expected a whole number from -2147483648 to 2147483647, got "
       "\"1\""},
      {"{\n\"batch_size\": 1.0\n}", "line 2: options.batch_size: expected a whole number"},
      {"{\"seed\": 18446744073709551616}", "line 1: options.seed: expected a whole number from 0"},
      {"{\"seed\": -1}", "line 1: options.seed: expected a whole number from 0"},
      {"{\n\"batch_size\": 0\n}", "line 2: options.batch_size: expected 1 or more, got 0"},
      {"{\"topology\": {\n\"ipus\": [1,\n-1\n]}}",
       "line 3: options.topology.ipus[1]: expected 0 to 65535, got -1"},
      {"{\"topology\": {\n\"stages\": [\n{\"blocks\": []}]}}",
       "line 3: options.topology.stages[0].blocks: expected at least one block, got none"},
      {"{\"topology\": {\n\"stages\": [\n{}]}}",
       "line 3: options.topology.stages[0].blocks: expected at least one block, got none"},
      {"{\"topology\": {\n\"stages\": \"B1|B2\"}}",
       "line 2: options.topology.stages: expected a list, got \"B1|B2\""},
      {"{\"topology\": {\"schedule\":\n\"1f1b\"}}",
       "line 2: options.topology.schedule: expected one of grouped, interleaved, sequential, got "
       "\"1f1b\""},
      {"{\"training\": {\"recompute\": 1}}",
       "line 1: options.training.recompute: expected true or false, got 1"},
      {"{\"training\":\n{\"reduction\": \"sum\",\n\"reduction_strategy\": \"running\"}}",
       "line 3: options.training.reduction_strategy: expected post, as the reduction is sum"},
      {"{\"runtime\": {\"stall_seconds\": true}}",
       "line 1: options.runtime.stall_seconds: expected a number, got true"},
      {"{\"training\": null}", "line 1: options.training: expected an object, got null"},
      {"{\"batch_size\": 2147483647, \"device_iterations\": 2}",
       "options: batch_size * device_iterations"},
  };
  for (const auto& [json, expected] : cases) {
    std::string refusal = "accepted";
    try {
      options_from_json(json);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      refusal = error.what();
    }
    EXPECT_EQ(refusal.substr(0, std::string(expected).size()), expected) << refusal;
  }
}

}  // namespace
}  // namespace penstock
