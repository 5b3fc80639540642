#include "actors/execution/weight_update.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "engine/values/memory.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/optimizers/norm.hpp"
#include "graph/shards.hpp"

namespace penstock::actors {
namespace {

/// Threads share a parameter by cache lines, each at least so many elements: a core updates them in
/// some ten microseconds.
constexpr std::int64_t line_elements = 16;
constexpr std::int64_t least_elements = 1 << 14;

constexpr std::int64_t bytes_of(std::int64_t elements) {
  return elements * std::int64_t{sizeof(float)};
}

constexpr std::int64_t size(const graph::Part& part) {
  return part.end - part.begin;
}

}  // namespace

WeightUpdate::WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
                           std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules,
                           std::int64_t replica)
    : setup_(std::move(setup)),
      arena_(std::move(arena)),
      rules_(std::move(rules)),
      replica_(replica) {
  const auto& variables = setup_->plan->stages[stage].variables;
  for (std::size_t k = 0; k < variables.size(); ++k)
    if (!variables[k].gradients.empty()) trained_.push_back(trained_variable(k));
  moves_.bytes = state_bytes(true);
  moves_.padding_bytes = host_block_bytes_ - moves_.bytes;
  count_collectives();
}

WeightUpdate::Trained WeightUpdate::trained_variable(std::size_t position) {
  const graph::VariablePlan& variable = arena_->stage().variables[position];
  const std::int64_t elements = variable.type.shape.elements();
  Trained trained{.position = position,
                  .variable = variable.variable,
                  .state_offsets = {},
                  .on_host = setup_->offload.optimizer_state.takes(variable.type.bytes()),
                  .divided = false,
                  .elements = elements,
                  .own = {0, elements},
                  .own_elements = elements};
  const graph::ParameterRule& rule = rule_of(trained);
  if (divided(*setup_, rule, elements)) {
    trained.divided = true;
    trained.own = graph::shard_of(elements, setup_->replicas, replica_);
    trained.own_elements = graph::shard_elements(elements, setup_->replicas);
  }
  std::int64_t& bytes = trained.on_host ? host_block_bytes_ : ipu_block_bytes_;
  for (std::size_t s = 0; s < rule.rule->state(rule.hyper).size(); ++s) {
    trained.state_offsets.push_back(bytes);
    bytes += aligned(bytes_of(trained.own_elements));
  }
  return trained;
}

// The stage's gradient sums, some of which are those of other stages' parameters.
void WeightUpdate::count_collectives() {
  if (setup_->replicas == 1) return;
  for (const graph::StagePlan& stage : setup_->plan->stages)
    for (const graph::VariablePlan& variable : stage.variables)
      for (const graph::GradientPlan& gradient : variable.gradients) {
        if (static_cast<std::size_t>(gradient.stage) != arena_->number()) continue;
        const std::int64_t elements = variable.type.shape.elements();
        const std::int64_t away =
            bytes_of(elements - size(graph::shard_of(elements, setup_->replicas, replica_)));
        const auto& rule = rules_->variables[static_cast<std::size_t>(variable.variable)];
        const bool scattered = divided(*setup_, rule, elements);
        ++(scattered ? of_reduction_.reduce_scatters : of_reduction_.all_reduces);
        (scattered ? of_reduction_.scattered_bytes : of_reduction_.all_reduced_bytes) +=
            scattered ? away : 2 * away;
      }
}

void WeightUpdate::count_reduction() {
  collectives_.all_reduces += of_reduction_.all_reduces;
  collectives_.reduce_scatters += of_reduction_.reduce_scatters;
  collectives_.all_reduced_bytes += of_reduction_.all_reduced_bytes;
  collectives_.scattered_bytes += of_reduction_.scattered_bytes;
}

bool WeightUpdate::follows() const {
  return std::ranges::any_of(trained_, [this](const auto& t) { return moves_in_shards(t); });
}

bool WeightUpdate::gathers() const {
  return std::ranges::any_of(trained_, &Trained::divided);
}

bool WeightUpdate::moves_in_shards(const Trained& trained) const {
  return trained.divided && rule_of(trained).rule->in_shards;
}

const graph::ParameterRule& WeightUpdate::rule_of(const Trained& trained) const {
  return rules_->variables[static_cast<std::size_t>(trained.variable)];
}

graph::Hyper WeightUpdate::hyper_of(const Trained& trained) const {
  graph::Hyper hyper = rule_of(trained).hyper;
  hyper.learning_rate *= rate_factor_;
  return hyper;
}

std::int64_t WeightUpdate::state_bytes(bool on_host) const {
  std::int64_t bytes = 0;
  for (const Trained& trained : trained_)
    if (trained.on_host == on_host)
      bytes += std::ssize(trained.state_offsets) * bytes_of(trained.own_elements);
  return bytes;
}

std::int64_t WeightUpdate::staging_bytes() const {
  std::int64_t bytes = 0;
  for (const Trained& trained : trained_)
    bytes = std::max(bytes, graph::update_staging_bytes(staged(trained)));
  return bytes;
}

graph::StagedUpdate WeightUpdate::staged(const Trained& trained) const {
  return {.elements = trained.own_elements,
          .state_tensors =
              trained.on_host ? static_cast<std::int32_t>(trained.state_offsets.size()) : 0,
          .sum = sums_on_host(trained),
          .elementwise = rule_of(trained).rule->elementwise,
          .weight = weight_on_host(trained),
          .measured = moves_in_shards(trained) ? trained.elements : 0};
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
    const graph::ParameterRule& rule = rule_of(trained);
    const auto tensors = rule.rule->state(rule.hyper);
    for (std::size_t s = 0; s < tensors.size(); ++s)
      std::fill_n(reinterpret_cast<float*>(block_of(trained, state) + trained.state_offsets[s]),
                  trained.own_elements, tensors[s].initial);
  }
  return state;
}

std::vector<VariableState> WeightUpdate::read_state() const {
  std::vector<VariableState> states;
  for (const Trained& trained : trained_) {
    if (trained.divided ? graph::empty(trained.own) : replica_ > 0) continue;
    const graph::TensorType& type = plan_of(trained).type;
    const std::int64_t own = size(trained.own);
    VariableState& kept = states.emplace_back(VariableState{trained.variable, {}, 0});
    kept.first_element = trained.own.begin;
    for (const std::int64_t offset : trained.state_offsets) {
      const auto copy = allocate_block(static_cast<std::size_t>(bytes_of(own)));
      std::memcpy(copy.get(), block_of(trained, state_) + offset,
                  static_cast<std::size_t>(bytes_of(own)));
      kept.tensors.push_back(
          Tensor::wrap(type.dtype, trained.divided ? Shape{own} : type.shape, copy));
    }
  }
  return states;
}

StateBlocks WeightUpdate::restored_state(const OptimizerTensors& tensors) {
  StateBlocks state = new_state();
  for (const Trained& trained : trained_) {
    const auto& whole = tensors.variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < whole.size(); ++s)
      std::memcpy(block_of(trained, state) + trained.state_offsets[s],
                  whole[s].raw() + bytes_of(trained.own.begin),
                  static_cast<std::size_t>(bytes_of(size(trained.own))));
  }
  step_ = tensors.updates;
  return state;
}

void WeightUpdate::run(UpdatePhase phase, std::span<std::byte> scratch, graph::PartRunner* runner) {
  staging_ = Staging(scratch);
  if (!uses_added_) add_uses();
  switch (phase) {
    case UpdatePhase::measure:
      return measure();
    case UpdatePhase::follow:
      return follow();
    case UpdatePhase::apply:
      return apply(runner);
    case UpdatePhase::gather:
      return gather();
  }
}

// The sum of a tied parameter takes the place of its first use's: use 0 + use 1 + ...
void WeightUpdate::add_uses() {
  for (const Trained& trained : trained_) {
    const std::vector<graph::GradientPlan>& uses = plan_of(trained).gradients;
    if (sums_on_host(trained)) {
      add_in_pieces(trained);
      continue;
    }
    const auto [begin, end] = trained.own;
    float* const total = own_sum_of(trained, 0).data() + begin;
    const float* so_far = sum_of(uses[0]) + begin;
    for (std::size_t use = 1; use < uses.size(); ++use) {
      graph::kernel_table().arithmetic.add(end - begin, {so_far, false},
                                           {sum_of(uses[use]) + begin, false}, total);
      so_far = total;
    }
  }
  uses_added_ = true;
}

void WeightUpdate::add_in_pieces(const Trained& trained) {
  const std::vector<graph::GradientPlan>& uses = plan_of(trained).gradients;
  if (uses.size() == 1) return;
  float* const own = own_sum_of(trained, 0).data();
  OffloadReport& moves = arena_->accumulator_moves();
  const std::int64_t at_once = pair_at_once(trained);
  for (std::int64_t begin = trained.own.begin; begin < trained.own.end; begin += at_once) {
    const std::int64_t count = std::min(at_once, trained.own.end - begin);
    const auto total = staging_.load(0, sum_of(uses[0]) + begin, count, moves);
    for (std::size_t use = 1; use < uses.size(); ++use) {
      const auto more = staging_.load(1, sum_of(uses[use]) + begin, count, moves);
      graph::kernel_table().arithmetic.add(count, {total.data(), false}, {more.data(), false},
                                           total.data());
    }
    Staging::store(total, own + begin, moves);
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
  shard_norms_.clear();
  for (const Trained& trained : trained_) {
    const graph::SummedGradient of = gradient(trained);
    if (trained.divided)
      shard_norms_.push_back({trained.variable, norm_part(trained, of)});
    else
      norms_.push_back(
          {trained.variable,
           sums_on_host(trained)
               ? squared_norm_in_pieces(trained, of)
               : graph::squared_norm({of.sum, own_sum_of(trained, 0).size()}, of.scale)});
  }
}

graph::NormPart WeightUpdate::norm_part(const Trained& trained,
                                        const graph::SummedGradient& gradient) {
  const auto sums = [&](const graph::Part& part) -> std::span<const float> {
    if (sums_on_host(trained))
      return staging_.load(0, gradient.sum + part.begin, size(part), arena_->accumulator_moves());
    return {gradient.sum + part.begin, static_cast<std::size_t>(size(part))};
  };
  const auto squared_norm = [&](const graph::Part& part) {
    return graph::squared_norm(sums(part), gradient.scale);
  };
  const auto elements = [&](const graph::Part& part, float* to) {
    for (const float sum : sums(part)) *to++ = sum * gradient.scale;
  };
  return graph::norm_part(trained.own, trained.elements, {squared_norm, elements});
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

void WeightUpdate::follow() {
  shard_norms_.clear();
  for (const Trained& trained : trained_) {
    if (!moves_in_shards(trained)) continue;
    const Piece piece = bring(trained, trained.own);
    shard_norms_.push_back(
        {trained.variable, rule_of(trained).rule->in_shards->follow(
                               rule_of(trained).hyper, step_ + 1, trained.own, trained.elements,
                               piece.weight, piece.gradient, piece.state)});
    put_back(trained, piece);
  }
}

void WeightUpdate::apply(graph::PartRunner* runner) {
  applying_ = true;
  rate_factor_ = rules_->learning_rate_factor ? rules_->learning_rate_factor(step_) : 1;
  for (const Trained& trained : trained_) {
    if (moves_in_shards(trained))
      move(trained);
    else
      update(trained, runner);
    clear_sums(trained);
    if (!trained.divided) write_copies(trained);
  }
  if (!gathers()) end_update();
}

void WeightUpdate::gather() {
  for (const Trained& trained : trained_) {
    if (!trained.divided) continue;
    for (const auto& [replica, arena] : shards_) {
      const graph::Part shard = graph::shard_of(trained.elements, setup_->replicas, replica);
      const float* const from = arena->variable(trained.position).data() + shard.begin;
      std::copy_n(from, size(shard), weight(trained, shard).data());
      collectives_.gathered_bytes += bytes_of(size(shard));
    }
    ++collectives_.all_gathers;
    write_copies(trained);
  }
  end_update();
}

void WeightUpdate::end_update() {
  arena_->weights_changed();
  arena_->keep_buffers();
  uses_added_ = false;
  ++step_;
  applying_ = false;
}

void WeightUpdate::move(const Trained& trained) {
  const double squared_norm = squared_norm_of_weight(trained);
  const std::span<float> own = bring_weight(trained, trained.own);
  rule_of(trained).rule->in_shards->move(hyper_of(trained), step_ + 1, squared_norm,
                                         (*directions_)[static_cast<std::size_t>(trained.variable)],
                                         own, bring_state(trained, trained.own));
  put_back_weight(trained, trained.own.begin, own);
}

/// The norm's own blocks, in its own order.
double WeightUpdate::squared_norm_of_weight(const Trained& trained) {
  const graph::Part whole{0, trained.elements};
  if (!weight_on_host(trained)) return graph::squared_norm(weight(trained, whole));
  double squared = 0;
  for (std::int64_t begin = 0; begin < trained.elements; begin += graph::norm_block) {
    const std::int64_t count = std::min(graph::norm_block, trained.elements - begin);
    squared += graph::squared_norm(staging_.load(0, weight(trained, {begin, begin + count}).data(),
                                                 count, arena_->weight_moves()));
  }
  return squared;
}

std::span<float> WeightUpdate::bring_weight(const Trained& trained, const graph::Part& elements) {
  const std::span<float> here = weight(trained, elements);
  if (!weight_on_host(trained)) return here;
  const std::int64_t slot = graph::rule_tensors(staged(trained)).tensors - 1;
  return staging_.load(slot, here.data(), size(elements), arena_->weight_moves());
}

void WeightUpdate::put_back_weight(const Trained& trained, std::int64_t begin,
                                   std::span<const float> changed) {
  if (weight_on_host(trained))
    Staging::store(changed, weight(trained, {begin, begin + std::ssize(changed)}).data(),
                   arena_->weight_moves());
}

void WeightUpdate::update(const Trained& trained, graph::PartRunner* runner) {
  const std::int64_t at_once =
      graph::elements_at_once(graph::rule_tensors(staged(trained)), staging_.bytes());
  for (std::int64_t begin = trained.own.begin; begin < trained.own.end; begin += at_once) {
    const Piece piece = bring(trained, {begin, std::min(begin + at_once, trained.own.end)});
    update_piece(trained, piece, runner);
    put_back(trained, piece);
    put_back_weight(trained, begin, piece.weight);
  }
}

float* WeightUpdate::kept(const Trained& trained, std::size_t tensor, std::int64_t begin) const {
  return reinterpret_cast<float*>(block_of(trained, state_) + trained.state_offsets[tensor]) +
         (begin - trained.own.begin);
}

WeightUpdate::State WeightUpdate::bring_state(const Trained& trained, const graph::Part& elements) {
  State state;
  for (std::size_t s = 0; s < trained.state_offsets.size(); ++s) {
    float* const here = kept(trained, s, elements.begin);
    state.push_back(trained.on_host ? staging_.load(std::ssize(state), here, size(elements), moves_)
                                    : std::span(here, static_cast<std::size_t>(size(elements))));
  }
  return state;
}

WeightUpdate::Piece WeightUpdate::bring(const Trained& trained, const graph::Part& elements) {
  Piece piece{elements, bring_state(trained, elements), gradient(trained),
              bring_weight(trained, elements)};
  piece.gradient.sum += elements.begin;
  piece.gradient.cleared += elements.begin;
  if (sums_on_host(trained)) {
    const std::int64_t slot = trained.on_host ? std::ssize(piece.state) : 0;
    const auto sum =
        staging_.load(slot, piece.gradient.sum, size(elements), arena_->accumulator_moves());
    piece.gradient.sum = piece.gradient.cleared = sum.data();
  }
  return piece;
}

void WeightUpdate::put_back(const Trained& trained, const Piece& piece) {
  if (trained.on_host)
    for (std::size_t s = 0; s < piece.state.size(); ++s)
      Staging::store(piece.state[s], kept(trained, s, piece.elements.begin), moves_);
  if (sums_on_host(trained))
    Staging::store({piece.gradient.cleared, static_cast<std::size_t>(size(piece.elements))},
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
  Piece result{{piece.elements.begin + part.begin, piece.elements.begin + part.end},
               {},
               piece.gradient,
               piece.weight.subspan(static_cast<std::size_t>(part.begin),
                                    static_cast<std::size_t>(part.end - part.begin))};
  for (const std::span<float> tensor : piece.state)
    result.state.push_back(tensor.subspan(static_cast<std::size_t>(part.begin),
                                          static_cast<std::size_t>(part.end - part.begin)));
  result.gradient.sum += part.begin;
  result.gradient.cleared += part.begin;
  return result;
}

graph::Sharing WeightUpdate::sharing(const Trained& trained, std::int64_t elements) const {
  const std::int64_t parts =
      std::min<std::int64_t>(setup_->plan->threads_per_ipu, elements / least_elements);
  if (!rule_of(trained).rule->elementwise || parts <= 1) return {};
  return {.units = (elements + line_elements - 1) / line_elements,
          .parts = static_cast<std::int32_t>(parts)};
}

void WeightUpdate::update_elements(const Trained& trained, const Piece& piece) {
  rule_of(trained).rule->update(hyper_of(trained), step_ + 1, piece.weight, piece.gradient,
                                piece.state);
}

std::span<float> WeightUpdate::weight(const Trained& trained, const graph::Part& elements) const {
  return arena_->variable(trained.position)
      .subspan(static_cast<std::size_t>(elements.begin), static_cast<std::size_t>(size(elements)));
}

void WeightUpdate::clear_sums(const Trained& trained) {
  clear(trained, 0, {0, trained.own.begin});
  clear(trained, 0, {trained.own.end, trained.elements});
  for (std::size_t use = 1; use < plan_of(trained).gradients.size(); ++use)
    clear(trained, use, {0, trained.elements});
}

void WeightUpdate::clear(const Trained& trained, std::size_t use, const graph::Part& elements) {
  if (graph::empty(elements)) return;
  const auto sum = own_sum_of(trained, use)
                       .subspan(static_cast<std::size_t>(elements.begin),
                                static_cast<std::size_t>(size(elements)));
  if (sums_on_host(trained))
    clear_in_pieces(sum, pair_at_once(trained));
  else
    std::memset(sum.data(), 0, sum.size_bytes());
}

void WeightUpdate::clear_in_pieces(std::span<float> sum, std::int64_t at_once) {
  for (std::int64_t begin = 0; begin < std::ssize(sum); begin += at_once) {
    const auto zeros = staging_.room(0, std::min(at_once, std::ssize(sum) - begin));
    std::ranges::fill(zeros, 0.0f);
    Staging::store(zeros, sum.data() + begin, arena_->accumulator_moves());
  }
}

// That they changed is noted by their own stage, at the end of its part in the same update.
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
