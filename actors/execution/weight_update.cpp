#include "actors/execution/weight_update.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "engine/values/memory.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::actors {
namespace {

/// Threads share a parameter by cache lines, each at least so many elements: a core updates them in
/// some ten microseconds.
constexpr std::int64_t line_elements = 16;
constexpr std::int64_t least_elements = 1 << 14;

}  // namespace

WeightUpdate::WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
                           std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules)
    : setup_(std::move(setup)), arena_(std::move(arena)), rules_(std::move(rules)) {
  const auto& variables = setup_->plan->stages[stage].variables;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (variables[k].gradients.empty()) continue;
    Trained trained{.position = k, .variable = variables[k].variable, .state_offsets = {}};
    const graph::ParameterRule& rule =
        rules_->variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < rule.rule->state(rule.hyper).size(); ++s) {
      trained.state_offsets.push_back(state_block_bytes_);
      state_block_bytes_ += aligned(variables[k].type.bytes());
    }
    trained_.push_back(std::move(trained));
  }
}

std::int64_t WeightUpdate::state_bytes() const {
  std::int64_t bytes = 0;
  for (const Trained& trained : trained_)
    bytes += static_cast<std::int64_t>(trained.state_offsets.size()) *
             arena_->stage().variables[trained.position].type.bytes();
  return bytes;
}

std::shared_ptr<std::byte> WeightUpdate::new_state() const {
  auto block = allocate_block(static_cast<std::size_t>(state_block_bytes_));
  for (const Trained& trained : trained_) {
    const graph::ParameterRule& rule =
        rules_->variables[static_cast<std::size_t>(trained.variable)];
    const auto tensors = rule.rule->state(rule.hyper);
    const std::size_t elements = arena_->variable(trained.position).size();
    for (std::size_t s = 0; s < tensors.size(); ++s)
      std::fill_n(reinterpret_cast<float*>(block.get() + trained.state_offsets[s]), elements,
                  tensors[s].initial);
  }
  return block;
}

std::vector<VariableState> WeightUpdate::read_state() const {
  std::vector<VariableState> states;
  for (const Trained& trained : trained_) {
    const graph::TensorType& type = plan_of(trained).type;
    VariableState& own = states.emplace_back(VariableState{trained.variable, {}});
    for (const std::int64_t offset : trained.state_offsets) {
      const auto copy = allocate_block(static_cast<std::size_t>(type.bytes()));
      std::memcpy(copy.get(), state_.get() + offset, static_cast<std::size_t>(type.bytes()));
      own.tensors.push_back(Tensor::wrap(type.dtype, type.shape, copy));
    }
  }
  return states;
}

std::shared_ptr<std::byte> WeightUpdate::restored_state(const OptimizerTensors& tensors) {
  auto block = new_state();
  for (const Trained& trained : trained_) {
    const auto& own = tensors.variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < own.size(); ++s)
      std::memcpy(block.get() + trained.state_offsets[s], own[s].raw(), own[s].bytes());
  }
  step_ = tensors.updates;
  return block;
}

void WeightUpdate::run(UpdatePhase phase, graph::PartRunner* runner) {
  if (!uses_added_) add_uses();
  if (phase == UpdatePhase::measure)
    measure();
  else
    apply(runner);
}

// The sum of a tied parameter takes the place of its first use's: use 0 + use 1 + ...
void WeightUpdate::add_uses() {
  for (const Trained& trained : trained_) {
    const std::vector<graph::GradientPlan>& uses = plan_of(trained).gradients;
    const auto total = own_sum_of(trained, 0);
    const float* so_far = sum_of(uses[0]);
    for (std::size_t use = 1; use < uses.size(); ++use) {
      graph::kernel_table().arithmetic.add(std::ssize(total), {so_far, false},
                                           {sum_of(uses[use]), false}, total.data());
      so_far = total.data();
    }
  }
  uses_added_ = true;
}

graph::SummedGradient WeightUpdate::gradient(const Trained& trained) const {
  const std::vector<graph::GradientPlan>& uses = plan_of(trained).gradients;
  const auto own = own_sum_of(trained, 0);
  return {.sum = uses.size() > 1 ? own.data() : sum_of(uses[0]),
          .cleared = own.data(),
          .scale = static_cast<float>(1 / divisor()),
          .clip = clips() ? static_cast<float>(clip_factor_) : 1.0f};
}

double WeightUpdate::divisor() const {
  double parts = 1;
  if (setup_->reduction == Reduction::mean) {
    parts = static_cast<double>(setup_->replicas);
    if (setup_->reduction_strategy == ReductionStrategy::post)
      parts *= static_cast<double>(setup_->gradient_accumulation);
  }
  return parts * rules_->loss_scaling;
}

void WeightUpdate::measure() {
  norms_.clear();
  for (const Trained& trained : trained_) {
    const graph::SummedGradient of = gradient(trained);
    norms_.push_back(
        {trained.variable, graph::squared_norm({of.sum, own_sum_of(trained, 0).size()}, of.scale)});
  }
}

void WeightUpdate::apply(graph::PartRunner* runner) {
  applying_ = true;
  rate_factor_ = rules_->learning_rate_factor ? rules_->learning_rate_factor(step_) : 1;
  for (const Trained& trained : trained_) {
    update(trained, runner);
    clear_other_uses(trained);
    write_copies(trained);
  }
  arena_->keep_buffers();
  uses_added_ = false;
  ++step_;
  applying_ = false;
}

void WeightUpdate::update(const Trained& trained, graph::PartRunner* runner) {
  const std::int64_t elements = std::ssize(arena_->variable(trained.position));
  const graph::Sharing shared = sharing(trained);
  if (!runner || shared.parts <= 1) return update_elements(trained, {0, elements});
  const auto work = [&](std::int32_t number) {
    update_elements(trained,
                    graph::elements_of(graph::part_of(shared, number), line_elements, elements));
  };
  runner->run(shared.parts, std::ref(work));
}

graph::Sharing WeightUpdate::sharing(const Trained& trained) const {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const std::int64_t elements = plan_of(trained).type.shape.elements();
  const std::int64_t parts =
      std::min<std::int64_t>(setup_->plan->threads_per_ipu, elements / least_elements);
  if (!rule.rule->elementwise || parts <= 1) return {};
  return {.units = (elements + line_elements - 1) / line_elements,
          .parts = static_cast<std::int32_t>(parts)};
}

void WeightUpdate::update_elements(const Trained& trained, const graph::Part& elements) {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const auto first = static_cast<std::size_t>(elements.begin);
  const auto count = static_cast<std::size_t>(elements.end - elements.begin);
  const auto weight = arena_->variable(trained.position).subspan(first, count);
  graph::SummedGradient gradient = this->gradient(trained);
  gradient.sum += first;
  gradient.cleared += first;
  std::vector<std::span<float>> state;
  for (const std::int64_t offset : trained.state_offsets)
    state.emplace_back(reinterpret_cast<float*>(state_.get() + offset) + first, count);
  graph::Hyper hyper = rule.hyper;
  hyper.learning_rate *= rate_factor_;
  rule.rule->update(hyper, step_ + 1, weight, gradient, state);
}

void WeightUpdate::clear_other_uses(const Trained& trained) {
  for (std::size_t use = 1; use < plan_of(trained).gradients.size(); ++use) {
    const auto sum = own_sum_of(trained, use);
    std::memset(sum.data(), 0, sum.size_bytes());
  }
}

void WeightUpdate::write_copies(const Trained& trained) {
  const auto weight = arena_->variable(trained.position);
  for (const graph::CopyPlan& copy : plan_of(trained).copies) {
    Arena& arena = *sums_.at(copy.stage).arena;
    std::ranges::copy(weight, arena.variable(static_cast<std::size_t>(copy.position)).begin());
  }
}

const graph::VariablePlan& WeightUpdate::plan_of(const Trained& trained) const {
  return arena_->stage().variables[trained.position];
}

const float* WeightUpdate::sum_of(const graph::GradientPlan& use) const {
  return reinterpret_cast<const float*>(sums_.at(use.stage).sums.get() + use.offset);
}

std::span<float> WeightUpdate::own_sum_of(const Trained& trained, std::size_t use) const {
  const graph::VariablePlan& variable = plan_of(trained);
  const graph::GradientPlan& gradient = variable.gradients[use];
  return sums_.at(gradient.stage)
      .arena->accumulator(gradient.offset, variable.type.shape.elements());
}

}  // namespace penstock::actors
