#include "actors/weight_update.hpp"

#include <algorithm>
#include <cstring>

#include "engine/values/memory.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::actors {

WeightUpdate::WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
                           std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules)
    : setup_(std::move(setup)), arena_(std::move(arena)), rules_(std::move(rules)) {
  const auto& variables = setup_->plan->stages[stage].variables;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (variables[k].accumulators.empty()) continue;
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

void WeightUpdate::run(UpdatePhase phase) {
  if (!finished_gradients_) finish_gradients();
  if (phase == UpdatePhase::measure)
    measure();
  else
    apply();
}

void WeightUpdate::finish_gradients() {
  const auto micro_batches = static_cast<double>(setup_->gradient_accumulation * setup_->replicas);
  const float scale =
      setup_->reduction == Reduction::mean ? static_cast<float>(1.0 / micro_batches) : 1.0f;
  for (const Trained& trained : trained_) finish_gradient(trained, scale);
  finished_gradients_ = true;
}

// The final gradient takes the place of the first use's sum: scale · (use 0 + use 1 + ...).
void WeightUpdate::finish_gradient(const Trained& trained, float scale) {
  const graph::VariablePlan& variable = arena_->stage().variables[trained.position];
  const auto elements = variable.type.shape.elements();
  const auto sums = [&](std::int64_t offset) {
    return reinterpret_cast<const float*>(sums_.get() + offset);
  };
  const auto gradient = arena_->accumulator(variable.accumulators[0], elements);
  const float* first = sums(variable.accumulators[0]);
  std::copy_n(first, first == gradient.data() ? 0 : gradient.size(), gradient.data());
  for (std::size_t use = 1; use < variable.accumulators.size(); ++use) {
    const float* sum = sums(variable.accumulators[use]);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += sum[i];
  }
  for (float& g : gradient) g *= scale;
}

void WeightUpdate::measure() {
  norms_.clear();
  for (const Trained& trained : trained_) {
    const graph::VariablePlan& variable = arena_->stage().variables[trained.position];
    norms_.push_back(
        {trained.variable, graph::squared_norm(arena_->accumulator(
                               variable.accumulators[0], variable.type.shape.elements()))});
  }
}

void WeightUpdate::apply() {
  applying_ = true;
  const auto clip = static_cast<float>(clip_factor_);
  for (const Trained& trained : trained_) {
    const graph::VariablePlan& variable = arena_->stage().variables[trained.position];
    const graph::ParameterRule& rule =
        rules_->variables[static_cast<std::size_t>(trained.variable)];
    const auto weight = arena_->variable(trained.position);
    const auto gradient =
        arena_->accumulator(variable.accumulators[0], variable.type.shape.elements());
    if (clips())
      for (float& g : gradient) g *= clip;
    std::vector<std::span<float>> state;
    for (const std::int64_t offset : trained.state_offsets)
      state.emplace_back(reinterpret_cast<float*>(state_.get() + offset), weight.size());
    rule.rule->update(rule.hyper, step_ + 1, weight, gradient, state);
  }
  const auto sums = arena_->accumulators();
  std::memset(sums.data(), 0, sums.size());
  finished_gradients_ = false;
  ++step_;
  applying_ = false;
}

}  // namespace penstock::actors
