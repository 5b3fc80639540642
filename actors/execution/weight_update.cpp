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
    bytes = std::max(bytes, graph::update_staging_bytes(staged(trained)));
  return bytes;
}

graph::StagedUpdate WeightUpdate::staged(const Trained& trained) const {
  return {.elements = plan_of(trained).type.shape.elements(),
          .state_tensors =
              trained.on_host ? static_cast<std::int32_t>(trained.state_offsets.size()) : 0,
          .sum = sums_on_host(trained),
          .elementwise =
              rules_->variables[static_cast<std::size_t>(trained.variable)].rule->elementwise};
}

bool WeightUpdate::sums_on_host(const Trained& trained) const {
  return plan_of(trained).gradients[0].on_host;
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
  staging_ = Staging(scratch);
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
    if (sums_on_host(trained)) {
      add_in_pieces(trained);
      continue;
    }
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

void WeightUpdate::add_in_pieces(const Trained& trained) {
  const std::vector<graph::GradientPlan>& uses = plan_of(trained).gradients;
  if (uses.size() == 1) return;
  const std::span<float> own = own_sum_of(trained, 0);
  OffloadReport& moves = arena_->accumulator_moves();
  const std::int64_t at_once = pair_at_once(trained);
  for (std::int64_t begin = 0; begin < std::ssize(own); begin += at_once) {
    const std::int64_t count = std::min(at_once, std::ssize(own) - begin);
    const auto total = staging_.load(0, sum_of(uses[0]) + begin, count, moves);
    for (std::size_t use = 1; use < uses.size(); ++use) {
      const auto more = staging_.load(1, sum_of(uses[use]) + begin, count, moves);
      graph::kernel_table().arithmetic.add(count, {total.data(), false}, {more.data(), false},
                                           total.data());
    }
    Staging::store(total, own.data() + begin, moves);
  }
}

std::int64_t WeightUpdate::pair_at_once(const Trained& trained) const {
  return graph::elements_at_once({.elements = plan_of(trained).type.shape.elements(), .tensors = 2},
                                 staging_.bytes());
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
        {trained.variable,
         sums_on_host(trained)
             ? squared_norm_in_pieces(trained, of)
             : graph::squared_norm({of.sum, own_sum_of(trained, 0).size()}, of.scale)});
  }
}

/// The norm's own blocks, in its own order.
double WeightUpdate::squared_norm_in_pieces(const Trained& trained,
                                            const graph::SummedGradient& gradient) {
  const std::int64_t elements = plan_of(trained).type.shape.elements();
  double squared = 0;
  for (std::int64_t begin = 0; begin < elements; begin += graph::norm_block) {
    const std::int64_t count = std::min(graph::norm_block, elements - begin);
    squared += graph::squared_norm(
        staging_.load(0, gradient.sum + begin, count, arena_->accumulator_moves()), gradient.scale);
  }
  return squared;
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
      graph::elements_at_once(graph::rule_tensors(staged(trained)), staging_.bytes());
  for (std::int64_t begin = 0; begin < elements; begin += at_once) {
    const Piece piece = bring(trained, {begin, std::min(begin + at_once, elements)});
    update_piece(trained, piece, runner);
    put_back(trained, piece);
  }
}

WeightUpdate::Piece WeightUpdate::bring(const Trained& trained, const graph::Part& elements) {
  const std::int64_t count = elements.end - elements.begin;
  Piece piece{elements, {}, gradient(trained)};
  piece.gradient.sum += elements.begin;
  piece.gradient.cleared += elements.begin;
  for (const std::int64_t offset : trained.state_offsets) {
    float* const kept =
        reinterpret_cast<float*>(block_of(trained, state_) + offset) + elements.begin;
    piece.state.push_back(trained.on_host
                              ? staging_.load(std::ssize(piece.state), kept, count, moves_)
                              : std::span(kept, static_cast<std::size_t>(count)));
  }
  if (sums_on_host(trained)) {
    const std::int64_t slot = trained.on_host ? std::ssize(piece.state) : 0;
    const auto sum = staging_.load(slot, piece.gradient.sum, count, arena_->accumulator_moves());
    piece.gradient.sum = piece.gradient.cleared = sum.data();
  }
  return piece;
}

void WeightUpdate::put_back(const Trained& trained, const Piece& piece) {
  if (trained.on_host)
    for (std::size_t s = 0; s < piece.state.size(); ++s)
      Staging::store(piece.state[s],
                     reinterpret_cast<float*>(state_.on_host.get() + trained.state_offsets[s]) +
                         piece.elements.begin,
                     moves_);
  if (sums_on_host(trained))
    Staging::store({piece.gradient.cleared,
                    static_cast<std::size_t>(piece.elements.end - piece.elements.begin)},
                   own_sum_of(trained, 0).data() + piece.elements.begin,
                   arena_->accumulator_moves());
}

void WeightUpdate::update_piece(const Trained& trained, const Piece& piece,
                                graph::PartRunner* runner) {
  const std::int64_t elements = piece.elements.end - piece.elements.begin;
  const graph::Sharing shared = sharing(trained, elements);
  if (!runner || shared.parts <= 1) return update_elements(trained, piece);
  const auto work = [&](std::int32_t number) {
    update_elements(trained, part_of(piece, graph::elements_of(graph::part_of(shared, number),
                                                               line_elements, elements)));
  };
  runner->run(shared.parts, std::ref(work));
}

WeightUpdate::Piece WeightUpdate::part_of(const Piece& piece, const graph::Part& part) {
  Piece result{
      {piece.elements.begin + part.begin, piece.elements.begin + part.end}, {}, piece.gradient};
  for (const std::span<float> tensor : piece.state)
    result.state.push_back(tensor.subspan(static_cast<std::size_t>(part.begin),
                                          static_cast<std::size_t>(part.end - part.begin)));
  result.gradient.sum += part.begin;
  result.gradient.cleared += part.begin;
  return result;
}

graph::Sharing WeightUpdate::sharing(const Trained& trained, std::int64_t elements) const {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const std::int64_t parts =
      std::min<std::int64_t>(setup_->plan->threads_per_ipu, elements / least_elements);
  if (!rule.rule->elementwise || parts <= 1) return {};
  return {.units = (elements + line_elements - 1) / line_elements,
          .parts = static_cast<std::int32_t>(parts)};
}

void WeightUpdate::update_elements(const Trained& trained, const Piece& piece) {
  const graph::ParameterRule& rule = rules_->variables[static_cast<std::size_t>(trained.variable)];
  const auto [begin, end] = piece.elements;
  const auto weight =
      arena_->variable(trained.position)
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  graph::Hyper hyper = rule.hyper;
  hyper.learning_rate *= rate_factor_;
  rule.rule->update(hyper, step_ + 1, weight, piece.gradient, piece.state);
}

void WeightUpdate::clear_other_uses(const Trained& trained) {
  for (std::size_t use = 1; use < plan_of(trained).gradients.size(); ++use) {
    if (sums_on_host(trained)) {
      clear_in_pieces(trained, use);
      continue;
    }
    const auto sum = own_sum_of(trained, use);
    std::memset(sum.data(), 0, sum.size_bytes());
  }
}

void WeightUpdate::clear_in_pieces(const Trained& trained, std::size_t use) {
  const std::span<float> sum = own_sum_of(trained, use);
  const std::int64_t at_once = pair_at_once(trained);
  for (std::int64_t begin = 0; begin < std::ssize(sum); begin += at_once) {
    const auto zeros = staging_.room(0, std::min(at_once, std::ssize(sum) - begin));
    std::ranges::fill(zeros, 0.0f);
    Staging::store(zeros, sum.data() + begin, arena_->accumulator_moves());
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
  const StageSums& of_stage = sums_.at(use.stage);
  return reinterpret_cast<const float*>((use.on_host ? of_stage.host_sums : of_stage.sums).get() +
                                        use.offset);
}

std::span<float> WeightUpdate::own_sum_of(const Trained& trained, std::size_t use) const {
  const graph::VariablePlan& variable = plan_of(trained);
  const graph::GradientPlan& gradient = variable.gradients[use];
  return sums_.at(gradient.stage)
      .arena->accumulator(gradient.offset, variable.type.shape.elements(), gradient.on_host);
}

}  // namespace penstock::actors
