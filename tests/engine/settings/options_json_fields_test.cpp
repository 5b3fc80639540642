// These tests check that every field of options goes to JSON and comes back.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "engine/compile_request.hpp"
#include "engine/model/model_access.hpp"
#include "graph/codec/compile_key.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/options_json.hpp"
#include "tests/engine/settings/all_differ.hpp"
#include "tests/engine/settings/option_fields.hpp"

namespace penstock {
namespace {

using testing::expect_all_differ;
using testing::expect_equal;
using testing::fields;
using testing::own_fields;

/// Returns options in which every field is changed that fits the others.
Options changed_options() {
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
  options.runtime = {.threads = 1000,
                     .trace = true,
                     .trace_events = 5000,
                     .stall_seconds = 0.1,
                     .cache_directory = "plans",
                     .cache_bytes = 1 << 20,
                     .log_level = LogLevel::warning,
                     .monitor = false};
  options.recovery = {.attempts = 7, .wait_seconds = 0.5};
  return options;
}

/// Returns options with the fields that exclude some of those in changed_options().
Options changed_otherwise() {
  Options options;
  options.topology.automatic_stages = 3;
  options.training.reduction_strategy = ReductionStrategy::running;
  return options;
}

/// Returns options with the field that excludes some of those in changed_options() and
/// changed_otherwise().
Options changed_rule() {
  Options options;
  options.topology.stage_rule = StageRule::auto_increment;
  return options;
}

/// Returns options with the fields that only phases have, except `separate_backward_phase`.
Options changed_phases() {
  Options options;
  options.topology.strategy = Strategy::serial_phased;
  options.training.gradient_accumulation = 2;
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
  expect_equal(options_from_json(to_json(changed_options())), changed_options());
  expect_equal(options_from_json(to_json(changed_rule())), changed_rule());
  expect_equal(options_from_json(to_json(changed_otherwise())), changed_otherwise());
  expect_equal(options_from_json(to_json(Options{}), changed_otherwise()), Options{});
  expect_equal(options_from_json("{}"), Options{});
}

TEST(OptionsJson, D1_TheTestsAboveChangeEveryField) {
  Options options = changed_options();
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
  expect_all_differ(fields(options.recovery), fields(usual.recovery));
}

/// Calls `visit(path)` with the path of each field of a group or of the groups in it, such as
/// "/runtime/trace".
void for_each_field(const nlohmann::json& group, const std::string& path, const auto& visit) {
  for (const auto& [name, value] : group.items()) {
    if (value.is_object())
      for_each_field(value, path + "/" + name, visit);
    else
      visit(path + "/" + name);
  }
}

/// Returns the options of `json`, or nothing if they do not fit together.
std::optional<Options> accepted(const nlohmann::json& json) {
  try {
    return options_from_json(json.dump());
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns the keys of the compilations for training and for inference with `options`.
std::string keys_of(const Options& options) {
  Model model("network");
  model.loss(model.mse_loss(model.linear("fc", model.input("x", {2}), 2), model.input("y", {2})));
  const Optimizer optimizer{AdamW{}};
  const auto key = [&](const Optimizer* used) {
    return graph::compile_key(ModelAccess::graph(model),
                              compile_request(options, used, {"fc.weight", "fc.bias"}, false));
  };
  return key(&optimizer) + key(nullptr);
}

// A plan in the cache must not serve other options. The options in `of_the_run` have no influence
// on a plan.
TEST(OptionsJson, EveryOptionOfACompilationIsPartOfItsKey) {
  const std::set<std::string> of_the_run{"/seed",
                                         "/static_shapes",
                                         "/topology/input_group_size",
                                         "/training/reduction",
                                         "/output/mode",
                                         "/output/period",
                                         "/runtime/trace",
                                         "/runtime/trace_events",
                                         "/runtime/stall_seconds",
                                         "/runtime/cache_directory",
                                         "/runtime/cache_bytes",
                                         "/runtime/log_level",
                                         "/runtime/monitor",
                                         "/recovery/attempts",
                                         "/recovery/wait_seconds"};
  const auto usual = nlohmann::json::parse(to_json(Options{}));
  std::set<std::string> in_the_key, changed_alone, all;
  const auto change = [&](const nlohmann::json& json, const std::string& path,
                          const nlohmann::json& value) {
    auto other = json;
    other[nlohmann::json::json_pointer(path)] = value;
    const auto options = accepted(json), otherwise = accepted(other);
    if (!otherwise || other == json) return;
    changed_alone.insert(path);
    if (keys_of(*options) != keys_of(*otherwise)) in_the_key.insert(path);
  };
  for (const Options& options : {changed_options(), changed_otherwise(), changed_rule(),
                                 changed_phases(), changed_backward_phase()}) {
    const auto json = nlohmann::json::parse(to_json(options));
    for_each_field(json, "", [&](const std::string& path) {
      const nlohmann::json::json_pointer field(path);
      all.insert(path);
      change(json, path, usual[field]);
      change(usual, path, json[field]);
    });
  }
  EXPECT_EQ(changed_alone, all);
  for (const std::string& path : all)
    EXPECT_EQ(in_the_key.contains(path), !of_the_run.contains(path)) << path;
}

TEST(OptionsJson, D1_IsPrintedAGroupAtATime) {
  std::ostringstream stream;
  stream << changed_options();
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
    "threads": 1000,
    "trace": true,
    "trace_events": 5000,
    "stall_seconds": 0.1,
    "cache_directory": "plans",
    "cache_bytes": 1048576,
    "log_level": "warning",
    "monitor": false
  },
  "recovery": {
    "attempts": 7,
    "wait_seconds": 0.5
  }
})");
}

}  // namespace
}  // namespace penstock
