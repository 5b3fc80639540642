#include "tests/support/small_engine.hpp"

#include <algorithm>
#include <cstring>

#include "actors/system/actor_system.hpp"
#include "graph/compile/compile.hpp"
#include "graph/ops/list.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::testing {
namespace {

using graph::TensorType;

std::function<void(const ProbeRun&)> hook;

constexpr graph::IntegerAttribute stage_number{"stage"};

void run_probe(const graph::KernelCall& call, Direction direction) {
  if (hook) hook({stage_number.of(call.attributes), direction, call.random});
  std::memcpy(call.outputs[0].data, call.inputs[0].data,
              static_cast<std::size_t>(call.inputs[0].type->bytes()));
}

std::vector<TensorType> infer_same(const graph::Attributes&, graph::Types inputs) {
  return {inputs[0]};
}

graph::Cost no_cost(const graph::Attributes&, graph::Types, graph::Types) {
  return {};
}

const graph::Op probe_gradient{
    .name = "probe_gradient",
    .attributes = {stage_number},
    .infer = infer_same,
    .forward = [](const graph::KernelCall& call) { run_probe(call, Direction::backward); },
    .cost = no_cost};

void differentiate_probe(graph::GradientContext& context) {
  context.set(0, context.emit(probe_gradient, {context.gradient(0)}, context.attributes()));
}

/// This op computes y = x.
const graph::Op probe{
    .name = "probe",
    .attributes = {stage_number},
    .infer = infer_same,
    .forward = [](const graph::KernelCall& call) { run_probe(call, Direction::forward); },
    .backward = differentiate_probe,
    .cost = no_cost};

std::vector<TensorType> infer_tally(const graph::Attributes&, graph::Types inputs) {
  return {inputs[0], inputs[1]};
}

void run_tally(const graph::KernelCall& call) {
  const auto x = call.inputs[0].f32();
  float mean = 0;
  for (const float element : x) mean += element / static_cast<float>(x.size());
  call.outputs[1].f32()[0] = 0.9f * call.inputs[1].f32()[0] + 0.1f * mean;
  std::ranges::copy(x, call.outputs[0].f32().begin());
}

/// This op computes y = x. Its buffer, a running mean [1], follows the mean of x, as the statistics
/// of a batch norm do.
const graph::Op tally{
    .name = "tally",
    .infer = infer_tally,
    .forward = run_tally,
    .backward = [](graph::GradientContext& context) { context.set(0, context.gradient(0)); },
    .cost = no_cost,
    .updates = {{1, 1}},
    .inference = []() -> const graph::Op& { return graph::find_op("identity"); }};

/// This op computes dx = 2 x dy from (dy, x).
const graph::Op square_gradient{.name = "square_gradient",
                                .infer = infer_same,
                                .forward =
                                    [](const graph::KernelCall& call) {
                                      std::ranges::transform(
                                          call.inputs[0].f32(), call.inputs[1].f32(),
                                          call.outputs[0].f32().begin(),
                                          [](float dy, float x) { return 2 * x * dy; });
                                    },
                                .cost = no_cost};

/// This op computes y = x^2.
const graph::Op square{
    .name = "square",
    .infer = infer_same,
    .forward =
        [](const graph::KernelCall& call) {
          std::ranges::transform(call.inputs[0].f32(), call.outputs[0].f32().begin(),
                                 [](float x) { return x * x; });
        },
    .backward =
        [](graph::GradientContext& context) {
          context.set(0, context.emit(square_gradient, {context.gradient(0), context.input(0)}));
        },
    .cost = no_cost};

constexpr std::int64_t layers = 4;

graph::Graph network(const SmallEngineOptions& options) {
  constexpr std::int64_t features = SmallNetwork::features;
  ModelBuilder builder;
  graph::ValueId x = builder.input("x", {features}), weight = graph::none;
  const graph::ValueId y = builder.input("y", {features});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t stage = layer * options.stages / layers;
    const std::string number = std::to_string(layer);
    builder.block("B" + std::to_string(stage));
    if (layer == 0 || !options.tied)
      weight = builder.parameter("fc" + number + ".weight", {features, features});
    const graph::ValueId bias = builder.parameter("fc" + number + ".bias", {features});
    x = builder.apply("linear", {x, weight, bias}, {}, "fc" + number);
    const graph::ValueId running_mean = builder.buffer("tally" + number + ".running_mean", {1});
    x = builder.apply(tally, {x, running_mean}, {}, "tally" + number);
    x = builder.apply(probe, {x}, {{"stage", stage}}, "probe" + number);
    if (options.squares) x = builder.apply(square, {x}, {}, "square" + number);
  }
  builder.output("out", x);
  builder.loss(builder.apply("mse_loss", {x, y}, {}, "loss"));
  return builder.graph();
}

OffloadOptions offload_of(const SmallEngineOptions& options) {
  const Offload each{.on = options.offload};
  return {.optimizer_state = each, .accumulators = each, .activations = each, .weights = each};
}

std::shared_ptr<const graph::Plan> compiled(const SmallEngineOptions& options) {
  graph::CompileRequest request{.training = options.training,
                                .batch = SmallNetwork::batch,
                                .schedule = &graph::find_schedule(options.schedule),
                                .phased = options.phased,
                                .gradient_accumulation = options.gradient_accumulation,
                                .offload = offload_of(options),
                                .recompute = {.on = options.recompute, .stages = {}}};
  if (options.anchors) request.anchors = {{"fc1"}, {"fc1", true}, {"fc2.weight", true}};
  return std::make_shared<const graph::Plan>(graph::compile(network(options), request).plan);
}

std::vector<actors::OutputSelection> anchor_selections(bool anchors) {
  if (!anchors) return {};
  return {{OutputMode::sum}, {OutputMode::all}, {OutputMode::every_n, 3}};
}

}  // namespace

SmallNetwork::SmallNetwork(const SmallEngineOptions& options)
    : options_(options), plan_(compiled(options)) {}

actors::PipelineSetup SmallNetwork::setup() const {
  return {.plan = plan_,
          .replicas = options_.replicas,
          .gradient_accumulation = micro_batches(1),
          .reduction = options_.reduction,
          .offload = offload_of(options_),
          .sharding = {.optimizer_state = {.on = options_.shards, .minimum_elements = 2}},
          .seed = options_.seed,
          .outputs = {options_.output_mode, options_.output_period},
          .anchors = anchor_selections(options_.anchors),
          .trace = options_.trace,
          .trace_events = options_.trace_events,
          .stall_seconds = options_.stall_seconds};
}

actors::UpdateRules SmallNetwork::rules() const {
  const graph::OptimizerRule* rule =
      options_.own_rule ? options_.own_rule : &graph::find_optimizer_rule(options_.rule);
  actors::UpdateRules rules{.variables = {}, .max_grad_norm = options_.max_grad_norm};
  for (const graph::VariableInfo& variable : plan_->variables) {
    graph::ParameterRule& parameter_rule = rules.variables.emplace_back();
    if (variable.trainable)
      parameter_rule = {rule, graph::Hyper{.learning_rate = 0.05,
                                           .momentum = options_.momentum,
                                           .alpha = static_cast<double>(variable.stage)}};
  }
  return rules;
}

std::int64_t SmallNetwork::micro_batches(std::int64_t windows) const {
  return windows * (options_.training ? options_.gradient_accumulation : 1);
}

std::vector<Tensor> SmallNetwork::inputs(std::int64_t windows) const {
  const std::int64_t rows = micro_batches(windows) * options_.replicas * batch;
  std::vector<Tensor> tensors;
  for (const graph::TensorInfo& input : plan_->inputs)
    tensors.push_back(uniform({rows, features}, graph::hash_name(input.name)));
  return tensors;
}

std::vector<Tensor> SmallNetwork::first_variables() const {
  std::vector<Tensor> variables;
  for (const graph::VariableInfo& variable : plan_->variables)
    variables.push_back(uniform(variable.type.shape, graph::hash_name(variable.name), -0.5, 0.5));
  return variables;
}

SmallEngine::SmallEngine(const SmallEngineOptions& options)
    : SmallNetwork(options),
      runtime_(std::make_unique<actors::PipelineRuntime>(
          setup(), rules(),
          actors::SystemOptions{.threads = options.threads,
                                .deterministic = options.deterministic})) {
  runtime_->write_variables(first_variables());
  runtime_->system().run_pending();  // In a deterministic system, every actor begins here.
}

ProbeHook::ProbeHook(std::function<void(const ProbeRun&)> function) {
  hook = std::move(function);
}

ProbeHook::~ProbeHook() {
  hook = nullptr;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& left, const Tensor& right) {
    return left.dtype() == right.dtype() && left.shape() == right.shape() &&
           std::memcmp(left.raw(), right.raw(), left.bytes()) == 0;
  });
}

}  // namespace penstock::testing
