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
    Trained trained{.position = k,
                    .variable = variables[k].variable,
                    .state_offsets = {},
                    .on_host = setup_->offload.optimizer_state.takes(variables[k].type.bytes())};
    std::int64_t& bytes = trained.on_host ? host_block_bytes_ : ipu_block_bytes_;
    const graph::ParameterRule& rule =
        rules_->variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < rule.rule->state(rule.hyper).size(); ++s) {
      trained.state_offsets.push_back(bytes);
      bytes += aligned(variables[k].type.bytes());
    }
    trained_.push_back(std::move(trained));
  }
  moves_.bytes = state_bytes_on_host();
}

std::int64_t WeightUpdate::state_bytes(bool on_host) const {
  std::int64_t bytes = 0;
  for (const Trained& trained : trained_)
    if (trained.on_host == on_host)
      bytes += std::ssize(trained.state_offsets) * plan_of(trained).type.bytes();
  return bytes;
}

std::int64_t WeightUpdate::state_bytes_on_ipu() const {
  return state_bytes(false);
}

std::int64_t WeightUpdate::state_bytes_on_host() const {
  return state_bytes(true);
}

std::int64_t WeightUpdate::staging_bytes() const {
  std::int64_t bytes = 0;
  for (const Trained& trained : trained_)
    if (trained.on_host) bytes = std::max(bytes, graph::least_staging_bytes(staged(trained)));
  return bytes;
}

graph::StagedTensors WeightUpdate::staged(const Trained& trained) const {
  return {
      .elements = plan_of(trained).type.shape.elements(),
      .tensors = static_cast<std::int32_t>(trained.state_offsets.size()),
      .in_pieces = rules_->variables[static_cast<std::size_t>(trained.variable)].rule->elementwise};
}

std::byte* WeightUpdate::block_of(const Trained& trained, const StateBlocks& state) {
  return (trained.on_host ? state.on_host : state.on_ipu).get();
}

StateBlocks WeightUpdate::new_state() const {
  StateBlocks state;
  if (ipu_block_bytes_ > 0)
    state.on_ipu = allocate_block(static_cast<std::size_t>(ipu_block_bytes_));
  if (host_block_bytes_ > 0)
    state.on_host = allocate_block(static_cast<std::size_t>(host_block_bytes_));
  for (const Trained& trained : trained_) {
    const graph::ParameterRule& rule =
        rules_->variables[static_cast<std::size_t>(trained.variable)];
    const auto tensors = rule.rule->state(rule.hyper);
    const std::size_t elements = arena_->variable(trained.position).size();
    for (std::size_t s = 0; s < tensors.size(); ++s)
      std::fill_n(reinterpret_cast<float*>(block_of(trained, state) + trained.state_offsets[s]),
                  elements, tensors[s].initial);
  }
  return state;
}

std::vector<VariableState> WeightUpdate::read_state() const {
  std::vector<VariableState> states;
  for (const Trained& trained : trained_) {
    const graph::TensorType& type = plan_of(trained).type;
    VariableState& own = states.emplace_back(VariableState{trained.variable, {}});
    for (const std::int64_t offset : trained.state_offsets) {
      const auto copy = allocate_block(static_cast<std::size_t>(type.bytes()));
      std::memcpy(copy.get(), block_of(trained, state_) + offset,
                  static_cast<std::size_t>(type.bytes()));
      own.tensors.push_back(Tensor::wrap(type.dtype, type.shape, copy));
    }
  }
  return states;
}

StateBlocks WeightUpdate::restored_state(const OptimizerTensors& tensors) {
  StateBlocks state = new_state();
  for (const Trained& trained : trained_) {
    const auto& own = tensors.variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < own.size(); ++s)
      std::memcpy(block_of(trained, state) + trained.state_offsets[s], own[s].raw(),
                  own[s].bytes());
  }
  step_ = tensors.updates;
  return state;
}

void WeightUpdate::run(UpdatePhase phase, std::span<std::byte> scratch, graph::PartRunner* runner) {
  scratch_ = scratch;
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
  return gradient_parts(*setup_) * rules_->loss_scaling;
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
  const std::int64_t elements = plan_of(trained).type.shape.elements();
  const std::int64_t at_once =
      trained.on_host ? graph::elements_at_once(staged(trained), std::ssize(scratch_)) : elements;
  for (std::int64_t begin = 0; begin < elements; begin += at_once) {
    const graph::Part piece{begin, std::min(begin + at_once, elements)};
    const State state = state_of(trained, piece);
    if (trained.on_host) load(trained, piece, state);
    update_piece(trained, piece, state, runner);
    if (trained.on_host) store(trained, piece, state);
  }
}

WeightUpdate::State WeightUpdate::state_of(const Trained& trained, const graph::Part& piece) const {
  const std::int64_t bytes = (piece.end - piece.begin) * std::int64_t{sizeof(float)};
  State state;
  for (const std::int64_t offset : trained.state_offsets) {
    std::byte* const at =
        trained.on_host ? scratch_.data() + std::ssize(state) * aligned(bytes)
                        : state_.on_ipu.get() + offset + piece.begin * std::int64_t{sizeof(float)};
    state.emplace_back(reinterpret_cast<float*>(at),
                       static_cast<std::size_t>(piece.end - piece.begin));
  }
  return state;
}

void WeightUpdate::load(const Trained& trained, const graph::Part& piece, const State& state) {
  for (std::size_t s = 0; s < state.size(); ++s) {
    const auto* const kept =
        reinterpret_cast<const float*>(state_.on_host.get() + trained.state_offsets[s]);
    std::memcpy(state[s].data(), kept + piece.begin, state[s].size_bytes());
    ++moves_.loads;
    moves_.loaded_bytes += static_cast<std::int64_t>(state[s].size_bytes());
  }
}

void WeightUpdate::store(const Trained& trained, const graph::Part& piece, const State& state) {
  for (std::size_t s = 0; s < state.size(); ++s) {
    auto* const kept = reinterpret_cast<float*>(state_.on_host.get() + trained.state_offsets[s]);
    std::memcpy(kept + piece.begin, state[s].data(), state[s].size_bytes());
    ++moves_.stores;
    moves_.stored_bytes += static_cast<std::int64_t>(state[s].size_bytes());
  }
}

void WeightUpdate::update_piece(const Trained& trained, const graph::Part& piece,
                                const State& state, graph::PartRunner* runner) {
  const std::int64_t elements = piece.end - piece.begin;
  const graph::Sharing shared = sharing(trained, elements);
  if (!runner || shared.parts <= 1) return update_elements(trained, piece, state);
  const auto work = [&](std::int32_t number) {
    const graph::Part part =
        graph::elements_of(graph::part_of(shared, number), line_elements, elements);
    State of_part;
    for (const std::span<float> tensor : state)
      of_part.push_back(tensor.subspan(static_cast<std::size_t>(part.begin),
                                       static_cast<std::size_t>(part.end - part.begin)));
    update_elements(trained, {piece.begin + part.begin, piece.begin + part.end}, of_part);
  };
  runner->run(shared.parts, std::ref(work));
}

graph::Sharing WeightUpdate::sharing(const Trained& trained, std::int64_t elements) const {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const std::int64_t parts =
      std::min<std::int64_t>(setup_->plan->threads_per_ipu, elements / least_elements);
  if (!rule.rule->elementwise || parts <= 1) return {};
  return {.units = (elements + line_elements - 1) / line_elements,
          .parts = static_cast<std::int32_t>(parts)};
}

void WeightUpdate::update_elements(const Trained& trained, const graph::Part& elements,
                                   const State& state) {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const auto first = static_cast<std::size_t>(elements.begin);
  const auto count = static_cast<std::size_t>(elements.end - elements.begin);
  const auto weight = arena_->variable(trained.position).subspan(first, count);
  graph::SummedGradient gradient = this->gradient(trained);
  gradient.sum += first;
  gradient.cleared += first;
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
