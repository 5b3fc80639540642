#include "actors/execution/weight_update.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "graph/plan/shards.hpp"
#include "graph/values/memory.hpp"
#include "penstock/error.hpp"

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

/// Returns how many gradient sums a stage's update adds up to one at most: those of all replicas,
/// or of all uses of a parameter.
std::size_t most_addends(const PipelineSetup& setup, std::size_t stage) {
  auto most = static_cast<std::size_t>(setup.replicas);
  for (const graph::VariablePlan& variable : setup.plan->stages[stage].variables)
    most = std::max(most, variable.gradients.size());
  return most;
}

}  // namespace

WeightUpdate::WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
                           std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules,
                           std::int64_t replica)
    : setup_(std::move(setup)),
      arena_(std::move(arena)),
      rules_(std::move(rules)),
      replica_(replica),
      sums_(arena_, most_addends(*setup_, stage)) {
  const auto& variables = setup_->plan->stages[stage].variables;
  for (std::size_t k = 0; k < variables.size(); ++k)
    if (!variables[k].gradients.empty()) trained_.push_back(trained_variable(k));
  number_shard_norms();
  make_room(norms_);
  moves_.bytes = state_bytes(true);
  moves_.padding_bytes = host_block_bytes_ - moves_.bytes;
  count_all_reduces();
}

WeightUpdate::Trained WeightUpdate::trained_variable(std::size_t position) {
  const graph::VariablePlan& variable = arena_->stage().variables[position];
  const std::int64_t elements = variable.type.shape.elements();
  Trained trained;
  trained.variable = variable.variable;
  trained.plan = &variable;
  trained.position = position;
  trained.on_host = setup_->offload.optimizer_state.takes(variable.type.bytes());
  const graph::ParameterRule& rule = rule_of(trained);
  trained.divided = divided(*setup_, rule, elements);
  trained.own = trained.divided ? graph::shard_of(elements, setup_->replicas, replica_)
                                : graph::Part{0, elements};
  trained.own_elements =
      trained.divided ? graph::shard_elements(elements, setup_->replicas) : elements;
  std::int64_t& bytes = trained.on_host ? host_block_bytes_ : ipu_block_bytes_;
  for (const graph::StateTensor& tensor : rule.rule->state(rule.hyper)) {
    if (trained.state_offsets.size() == graph::most_state_tensors)
      throw Error(Errc::internal,
                  "optimizer rule \"" + std::string(rule.rule->name) + "\" keeps more than " +
                      std::to_string(graph::most_state_tensors) + " tensors of a parameter");
    trained.state_offsets.push_back(bytes);
    trained.initial_state.push_back(tensor.initial);
    bytes += aligned(bytes_of(trained.own_elements));
  }
  return trained;
}

// Counts for the stage's gradient sums, some of which are of other stages' parameters.
void WeightUpdate::count_all_reduces() {
  if (setup_->replicas == 1) return;
  for (const graph::StagePlan& stage : setup_->plan->stages)
    for (const graph::VariablePlan& variable : stage.variables)
      for (const graph::GradientPlan& gradient : variable.gradients) {
        if (static_cast<std::size_t>(gradient.stage) != arena_->number()) continue;
        const std::int64_t elements = variable.type.shape.elements();
        const auto& rule = rules_->variables[static_cast<std::size_t>(variable.variable)];
        if (divided(*setup_, rule, elements)) continue;
        ++of_reducer_.all_reduces;
        of_reducer_.all_reduced_bytes +=
            2 * bytes_of(elements - size(graph::shard_of(elements, setup_->replicas, replica_)));
      }
}

void WeightUpdate::count_reduction() {
  collectives_.all_reduces += of_reducer_.all_reduces;
  collectives_.all_reduced_bytes += of_reducer_.all_reduced_bytes;
}

bool WeightUpdate::follows() const {
  return std::ranges::any_of(trained_, [this](const auto& t) { return moves_in_shards(t); });
}

bool WeightUpdate::reduces() const {
  return gathers() || of_reducer_.all_reduces > 0;
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
          .sum = trained.sums_on_host(),
          .elementwise = rule_of(trained).rule->elementwise,
          .weight = trained.weight_on_host(),
          .measured = moves_in_shards(trained) ? trained.elements() : 0};
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
  begin_anew(state);
  return state;
}

void WeightUpdate::begin_anew(const StateBlocks& state) const {
  for (const Trained& trained : trained_)
    for (std::size_t s = 0; s < trained.initial_state.size(); ++s)
      std::fill_n(reinterpret_cast<float*>(block_of(trained, state) + trained.state_offsets[s]),
                  trained.own_elements, trained.initial_state[s]);
}

std::vector<VariableState> WeightUpdate::read_state() const {
  std::vector<VariableState> states;
  for (const Trained& trained : trained_) {
    if (trained.divided ? graph::empty(trained.own) : replica_ > 0) continue;
    const graph::TensorType& type = trained.plan->type;
    const std::int64_t own = size(trained.own);
    VariableState& kept = states.emplace_back(VariableState{trained.variable, {}, 0});
    kept.first_element = trained.own.begin;
    for (const std::int64_t offset : trained.state_offsets) {
      const auto copy = allocate_block(static_cast<std::size_t>(bytes_of(own)));
      std::memcpy(copy.get(), block_of(trained, all_state_) + offset,
                  static_cast<std::size_t>(bytes_of(own)));
      kept.tensors.push_back(
          Tensor::wrap(type.dtype, trained.divided ? Shape{own} : type.shape, copy));
    }
  }
  return states;
}

void WeightUpdate::restore_state(const OptimizerTensors& tensors) noexcept {
  begin_anew(all_state_);
  for (const Trained& trained : trained_) {
    const auto& whole = tensors.variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < whole.size(); ++s)
      std::memcpy(block_of(trained, all_state_) + trained.state_offsets[s],
                  whole[s].raw() + bytes_of(trained.own.begin),
                  static_cast<std::size_t>(bytes_of(size(trained.own))));
  }
  step_ = tensors.updates;
}

void WeightUpdate::run(UpdatePhase phase, std::span<std::byte> scratch, graph::PartRunner* runner,
                       graph::Heartbeat* heartbeat) {
  staging_ = Staging(scratch, heartbeat);
  if (phase != UpdatePhase::reduce && !uses_added_) add_uses();
  switch (phase) {
    case UpdatePhase::reduce:
      return reduce(runner);
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

void WeightUpdate::reduce(graph::PartRunner* runner) {
  for (const Trained& trained : trained_)
    if (trained.divided) sums_.reduce_scatter(trained, staging_, collectives_);
  sums_.add_up_share(replica_, {runner, setup_->plan->threads_per_ipu}, staging_);
  count_reduction();
}

void WeightUpdate::add_uses() {
  for (const Trained& trained : trained_) sums_.add_uses(trained, staging_);
  uses_added_ = true;
}

graph::SummedGradient WeightUpdate::gradient(const Trained& trained) const {
  return {.sum = sums_.to_read(trained),
          .cleared = sums_.own(trained),
          .scale = gradient_scale(),
          .clip = clips() ? static_cast<float>(clip_factor_) : 1.0f};
}

double WeightUpdate::divisor() const {
  return gradient_parts(*setup_) * rules_->loss_scaling;
}

void WeightUpdate::apply(graph::PartRunner* runner) {
  // If the function throws, the weights are still whole.
  rate_factor_ = rules_->learning_rate_factor ? rules_->learning_rate_factor(step_) : 1;
  applying_ = true;
  for (const Trained& trained : trained_) {
    if (moves_in_shards(trained))
      move_shard(trained);
    else
      update(trained, runner);
    sums_.clear(trained, staging_);
    if (!trained.divided) write_copies(trained);
  }
  if (!gathers()) end_update();
}

void WeightUpdate::gather() {
  for (const Trained& trained : trained_) {
    if (!trained.divided) continue;
    const auto replicas = sums_.replicas();
    for (std::int64_t replica = 0; replica < std::ssize(replicas); ++replica) {
      if (replica == replica_) continue;
      const graph::Part shard = graph::shard_of(trained.elements(), setup_->replicas, replica);
      const float* const from =
          replicas[static_cast<std::size_t>(replica)]->variable(trained.position).data() +
          shard.begin;
      std::copy_n(from, size(shard), weight(trained, shard).data());
      staging_.beat();
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
  // Here, where nothing can fail between the weights and their count.
  if (replica_ == 0 && setup_->update_count) setup_->update_count->count_stage();
}

std::span<float> WeightUpdate::bring_weight(const Trained& trained, const graph::Part& elements) {
  const std::span<float> here = weight(trained, elements);
  if (!trained.weight_on_host()) return here;
  const std::int64_t slot = graph::rule_tensors(staged(trained)).tensors - 1;
  return staging_.load(slot, here.data(), size(elements), arena_->weight_moves());
}

void WeightUpdate::put_back_weight(const Trained& trained, std::int64_t begin,
                                   std::span<const float> changed) {
  if (trained.weight_on_host())
    staging_.store(changed, weight(trained, {begin, begin + std::ssize(changed)}).data(),
                   arena_->weight_moves());
}

void WeightUpdate::update(const Trained& trained, graph::PartRunner* runner) {
  std::int64_t at_once =
      graph::elements_at_once(graph::rule_tensors(staged(trained)), staging_.bytes());
  if (rule_of(trained).rule->elementwise) at_once = std::min(at_once, most_at_once);
  for (std::int64_t begin = trained.own.begin; begin < trained.own.end; begin += at_once) {
    const Piece piece = bring(trained, {begin, std::min(begin + at_once, trained.own.end)});
    update_piece(trained, piece, runner);
    put_back(trained, piece);
    put_back_weight(trained, begin, piece.weight);
    staging_.beat();
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
    const auto slot = static_cast<std::int64_t>(s);
    state.push_back(trained.on_host ? staging_.load(slot, here, size(elements), moves_)
                                    : std::span(here, static_cast<std::size_t>(size(elements))));
  }
  return state;
}

WeightUpdate::Piece WeightUpdate::bring(const Trained& trained, const graph::Part& elements) {
  Piece piece{elements, bring_state(trained, elements), gradient(trained),
              bring_weight(trained, elements)};
  piece.gradient.sum += elements.begin;
  piece.gradient.cleared += elements.begin;
  if (trained.sums_on_host()) {
    const std::int64_t slot = trained.on_host ? static_cast<std::int64_t>(piece.state.size()) : 0;
    const auto sum =
        staging_.load(slot, piece.gradient.sum, size(elements), arena_->accumulator_moves());
    piece.gradient.sum = piece.gradient.cleared = sum.data();
  }
  return piece;
}

void WeightUpdate::put_back(const Trained& trained, const Piece& piece) {
  if (trained.on_host)
    for (std::size_t s = 0; s < piece.state.size(); ++s)
      staging_.store(piece.state[s], kept(trained, s, piece.elements.begin), moves_);
  if (trained.sums_on_host())
    staging_.store({piece.gradient.cleared, static_cast<std::size_t>(size(piece.elements))},
                   sums_.own(trained) + piece.elements.begin, arena_->accumulator_moves());
}

void WeightUpdate::update_piece(const Trained& trained, const Piece& piece,
                                graph::PartRunner* runner) {
  const std::int64_t elements = piece.elements.end - piece.elements.begin;
  if (rule_of(trained).rule->in_shards) return update_by_norms(trained, piece);
  const graph::Sharing shared = sharing(trained, elements);
  if (!runner || shared.parts <= 1) return update_elements(trained, piece);
  const auto work = [&](std::int32_t number) {
    update_elements(trained, part_of(piece, graph::elements_of(graph::piece_of(shared, number),
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
  for (std::size_t s = 0; s < piece.state.size(); ++s)
    result.state.push_back(piece.state[s].subspan(static_cast<std::size_t>(part.begin),
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

// Their own stage notes that they changed, at the end of its part in the same update.
void WeightUpdate::write_copies(const Trained& trained) {
  const auto weight = arena_->variable(trained.position);
  for (const graph::CopyPlan& copy : trained.plan->copies) {
    Arena& arena = sums_.arena_of(copy.stage);
    std::ranges::copy(weight, arena.variable(static_cast<std::size_t>(copy.position)).begin());
    staging_.beat();
  }
}

}  // namespace penstock::actors
