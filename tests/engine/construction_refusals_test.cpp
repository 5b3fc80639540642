// These tests check that a refused construction of a training or an inference model leaves no
// threads and no memory behind, and that the Model then trains as if nobody had tried.

#include <gtest/gtest.h>

#include <functional>

#include "graph/values/memory.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

constexpr const char* weights[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};

struct Form {
  /// If this is true, there are stages 0 and 1 instead of blocks B1 and B2.
  bool by_number = false;
  int losses = 1;
};

Model network(const Form& form = {}) {
  Model model("network");
  Value x = model.input("x", {3});
  const Value y = model.input("y", {2});
  {
    const auto block = form.by_number ? model.pipeline_stage(0) : model.block("B1");
    x = model.relu(model.linear("fc1", x, 4));
  }
  const auto block = form.by_number ? model.pipeline_stage(1) : model.block("B2");
  x = model.linear("fc2", x, 2);
  model.output("out", x);
  if (form.losses > 0) model.mse_loss(x, y);
  if (form.losses > 1) model.identity_loss(x);
  return model;
}

Options good() {
  Options options{.batch_size = 2, .runtime = {.threads = 2}};
  options.training.gradient_accumulation = 3;
  return options;
}

/// A Refused says what is wrong with the options or the optimizer, and how it is refused.
struct Refused {
  Errc code;
  std::function<void(Options& options, Optimizer& optimizer)> spoil;
  std::string text;  // This is the text of the refusal, or its beginning.
  bool in_inference = true;
  Form form = {};
};

const std::vector<Refused> table{
    {Errc::invalid_argument, [](Options& o, Optimizer&) { o.batch_size = 0; },
     "options.batch_size: expected 1 or more, got 0"},
    {Errc::invalid_argument, [](Options& o, Optimizer&) { o.topology.phased.batch_serial = true; },
     "options.topology.phased.batch_serial: expected false, for the strategy is pipelined, got "
     "true"},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.stages = {{"B1"}, {"B3"}};
     },
     "stage 1: there is no block \"B3\"; the model has \"B1\", \"B2\""},
    {Errc::invalid_topology, [](Options& o, Optimizer&) { o.topology.stages = {{"B1"}}; },
     "block \"B2\" is in no stage"},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.stages = {{"B1", "B2"}, {"B2"}};
     },
     "block \"B2\" is in stage 0 and in stage 1"},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) { o.topology.stage_rule = StageRule::same_as_ipu; },
     "options.topology.stage_rule: same_as_ipu expects an IPU of every block, but "},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.strategy = Strategy::parallel_phased;
       o.topology.ipus = {0, 2};
     },
     "parallel_phased: phase 1 is on IPU 2; expected even phases on even IPUs and odd phases on "
     "odd"},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.strategy = Strategy::serial_phased;
       o.topology.ipus = {0, 1};
     },
     "serial_phased: phase 1 is on IPU 1; expected all phases on the same, IPU 0 "},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.strategy = Strategy::serial_phased;
       o.topology.phased.phases = {Phase{{"B1"}, {"B2"}}.on({0, 0})};
     },
     "phase 0: stage 1 and one before it are on IPU 0; "},
    {Errc::invalid_argument,
     [](Options& o, Optimizer&) {
       o.topology.replication_factor = 4;
       o.topology.input_group_size = 3;
     },
     "options.topology.input_group_size: expected a divisor of the replication factor, 4, got 3"},
    {Errc::invalid_model,
     [](Options&, Optimizer&) {},
     "model \"network\": has no loss, and training needs one: ",
     false,
     {.losses = 0}},
    {Errc::invalid_model,
     [](Options&, Optimizer&) {},
     "model \"network\": has several independent losses, ",
     false,
     {.losses = 2}},
    {Errc::invalid_topology, [](Options& o, Optimizer&) { o.topology.ipus = {0}; },
     "options.topology.ipus: expected one IPU per stage, 2 (B1|B2), got 1"},
    {Errc::invalid_topology, [](Options& o, Optimizer&) { o.topology.automatic_stages = 99; },
     "the model cannot be cut into 99 stages: at most 3 are possible; ask for fewer", false},
    {Errc::invalid_argument,
     [](Options& o, Optimizer&) { o.topology.automatic_stages = 2; },
     "options.topology.automatic_stages: expected 0, for the model gives its layers pipeline "
     "stages by number, got 2",
     true,
     {.by_number = true}},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.topology.ipus = {65535, 0};
       o.topology.replication_factor = 2;
     },
     "options.topology.replication_factor: expected IPU numbers up to 65535 in every replica, but "
     "replica 1 of the stage on IPU 65535 would be on IPU 65537; place the stages on lower ones"},
    {Errc::out_of_memory, [](Options& o, Optimizer&) { o.topology.ipu_memory_bytes = 64; },
     "options.topology.ipu_memory_bytes: stage 0 on IPU 0 needs "},
    {Errc::invalid_argument,
     [](Options& o, Optimizer&) { o.output.anchors = {{.name = "a", .tensor = "fc3"}}; },
     "options.output.anchors[0]: expected the name of a layer, got \"fc3\": the model has no "
     "tensor of that name"},
    {Errc::invalid_topology,
     [](Options& o, Optimizer&) {
       o.training.recompute = true;
       o.training.recompute_stages = {7};
     },
     "options.training.recompute_stages: expected stages before stage 1, for the last one never "
     "recomputes, got 7",
     false},
    {Errc::invalid_argument, [](Options&, Optimizer& o) { o.loss_scaling = 1e38; },
     "optimizer.loss_scaling: expected at most 2.8356863910078204e+37, as the gradient is a mean "
     "of 3 as well, got 1e+38",
     false},
    {Errc::invalid_argument, [](Options&, Optimizer& o) { o = Sgd{.learning_rate = -1}; },
     "sgd.learning_rate: expected 0 or more, got -1", false},
    {Errc::invalid_argument,
     [](Options&, Optimizer& o) {
       o.groups = {{.parameters = {"fc3.weight"}, .settings = Sgd{.momentum = -1}}};
     },
     "optimizer.groups[0].sgd.momentum: expected 0 or more, got -1", false},
};

std::vector<Tensor> values_of(const Model& model) {
  std::vector<Tensor> values;
  for (const char* name : weights) values.push_back(model.weight(name));
  return values;
}

void expect_same(const std::vector<Tensor>& values, const std::vector<Tensor>& others) {
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(testing::same_bits(values[i], others[i])) << weights[i];
}

/// Trains `model` for a step, and returns its weights.
std::vector<Tensor> trained(const Model& model) {
  TrainingModel training(model, good(), AdamW{});
  training.step({testing::uniform({6, 3}, 1), testing::uniform({6, 2}, 2)});
  return values_of(model);
}

bool refused(const Refused& row, const std::function<void()>& construct) {
  const std::string text = testing::refusal(row.code, construct);
  return text.starts_with(row.text);
}

TEST(Construction, RefusedLeavesNothingBehindAndTheModelAsItWas) {
  const std::vector<Tensor> expected = trained(network());
  const std::size_t threads = testing::thread_count();
  for (const Refused& row : table) {
    SCOPED_TRACE(row.text);
    const Model model = network(row.form);
    const std::vector<Tensor> before = values_of(model);
    const std::uint64_t bytes = memory_counters().bytes_live;
    Options options = good();
    Optimizer optimizer = AdamW{};
    row.spoil(options, optimizer);
    EXPECT_TRUE(refused(row, [&] { TrainingModel(model, options, optimizer); }));
    EXPECT_TRUE(!row.in_inference || refused(row, [&] { InferenceModel(model, options); }));
    EXPECT_EQ(memory_counters().bytes_live, bytes);
    EXPECT_TRUE(testing::threads_fall_to(threads));
    expect_same(values_of(model), before);
    if (row.form.losses == 1) expect_same(trained(model), expected);
  }
}

}  // namespace
}  // namespace penstock
