#include "penstock/options_json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "tests/engine/settings/option_fields.hpp"

namespace penstock {
namespace {

using testing::expect_equal;

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
       "static_shapes, topology, training, output, runtime, recovery; did you mean "
       "\"batch_size\"?"},
      {"{\"output\": {\n\"modes\": \"all\"}}",
       "line 2: options.output: \"modes\" is none of its fields mode, period, anchors; "
       "did you mean \"mode\"?"},
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
