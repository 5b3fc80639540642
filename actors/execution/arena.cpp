#include "actors/execution/arena.hpp"

#include <cstring>

#include "graph/values/memory.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

using graph::Edge;
using graph::EdgeKind;

Arena::Arena(std::shared_ptr<const graph::Plan> plan, std::size_t stage, std::int64_t live,
             const Arena* first)
    : plan_(std::move(plan)), stage_(stage), live_(static_cast<std::size_t>(live)) {
  const graph::StagePlan& stage_plan = this->stage();
  const std::size_t edges =
      stage_plan.forward_receives.size() + stage_plan.backward_receives.size();
  if (first)
    share_memory_of(*first);
  else
    make_shared_memory();
  buffers_ = allocate(stage_plan.buffer_bytes);
  accumulators_ = allocate(stage_plan.accumulator_bytes);
  kept_ = allocate(stage_plan.kept_bytes);
  make_host_accumulators();
  count_host_weights();
  received_.assign(live_, std::vector<Tensor>(edges));
  received_at_.assign(edges, nullptr);
  make_stash();
  make_sent_back();
  count_transfers();
}

Arena::Block Arena::allocate(std::int64_t bytes) {
  bytes_ += bytes;
  return bytes > 0 ? allocate_block(static_cast<std::size_t>(bytes)) : nullptr;
}

void Arena::make_host_accumulators() {
  if (stage().host_accumulator_bytes == 0) return;
  host_accumulators_ = allocate_block(static_cast<std::size_t>(stage().host_accumulator_bytes));
  for (const graph::StagePlan& owner : plan_->stages)
    for (const graph::VariablePlan& variable : owner.variables)
      for (const graph::GradientPlan& gradient : variable.gradients)
        if (graph::in_host_store(gradient.home.space) &&
            static_cast<std::size_t>(gradient.stage) == stage_)
          moves_.accumulators.bytes += variable.type.bytes();
  moves_.accumulators.padding_bytes = stage().host_accumulator_bytes - moves_.accumulators.bytes;
}

// An IPU has its limit of memory, and its line in reports, for what its own replica needs, although
// the replicas share it. `bytes_` therefore counts it for each.
void Arena::share_memory_of(const Arena& first) {
  shares_parameters_ = true;
  parameters_ = first.parameters_;
  host_weights_ = host_weights_block_ = first.host_weights_block_;
  preparation_ = first.preparation_;
  bytes_ += stage().parameter_bytes + stage().prepared_bytes;
}

void Arena::make_shared_memory() {
  parameters_ = allocate(stage().parameter_bytes);
  preparation_ = std::make_shared<Preparation>();
  preparation_->block = allocate(stage().prepared_bytes);
  if (stage().host_parameter_bytes > 0)
    host_weights_ = allocate_block(static_cast<std::size_t>(stage().host_parameter_bytes));
  host_weights_block_ = host_weights_;
}

void Arena::count_host_weights() {
  for (const graph::VariablePlan& variable : stage().variables)
    if (graph::in_host_store(variable.home.space)) weight_moves_.bytes += variable.type.bytes();
  weight_moves_.padding_bytes = stage().host_parameter_bytes - weight_moves_.bytes;
}

void Arena::count_transfers() {
  const graph::StagePlan& stage_plan = stage();
  const std::int32_t slots = graph::host_stash_slots(stage_plan);
  programs_move_ = stage_plan.host_accumulator_bytes > 0;
  for (const graph::Program* program : {&stage_plan.forward, &stage_plan.backward})
    for (const graph::Instruction& instruction : program->instructions) {
      programs_move_ |= instruction.transfer != graph::Transfer::none;
      if (instruction.transfer == graph::Transfer::store)
        moves_.activations.bytes += slots * instruction.input_types[0].bytes();
    }
  moves_.activations.padding_bytes = slots * stage_plan.host_stash_bytes - moves_.activations.bytes;
}

void Arena::make_stash() {
  const graph::StagePlan& stage_plan = stage();
  stash_ = allocate(stage_plan.stash_bytes * stage_plan.in_flight);
  output_block_ = allocate(stage_plan.output_bytes * stage_plan.output_slots);
  for (std::int32_t s = 0; s < graph::host_stash_slots(stage_plan); ++s)
    host_stash_.push_back(stage_plan.host_stash_bytes > 0 ? allocate_block(static_cast<std::size_t>(
                                                                stage_plan.host_stash_bytes))
                                                          : nullptr);
  for (const std::int32_t id : stage_plan.forward_sends) {
    const Edge& edge = plan_->edges[static_cast<std::size_t>(id)];
    std::vector<Tensor> ring(slots_of(edge.source.space));
    if (edge.kind != EdgeKind::order)
      for (std::size_t s = 0; s < ring.size(); ++s) ring[s] = tensor_at(edge.type, edge.source, s);
    sends_forward_.push_back(std::move(ring));
  }
  for (std::int32_t s = 0; s < stage_plan.output_slots; ++s) {
    std::vector<Tensor> outputs;
    for (const graph::OutputPlan& output : stage_plan.outputs)
      outputs.push_back(tensor_at(plan_->outputs[static_cast<std::size_t>(output.output)].type,
                                  output.source, static_cast<std::size_t>(s)));
    outputs_.emplace_back(std::move(outputs));
  }
}

std::size_t Arena::slots_of(graph::Space space) const {
  if (space == graph::Space::host_stash) return host_stash_.size();
  return static_cast<std::size_t>(space == graph::Space::outputs ? stage().output_slots
                                                                 : stage().in_flight);
}

Tensor Arena::tensor_at(const graph::TensorType& type, const graph::Location& place,
                        std::size_t slot) const {
  const auto number = static_cast<std::int64_t>(slot);
  const auto wrapped = [&](const Block& block, std::int64_t offset) {
    return Tensor::wrap(type.dtype, type.shape, {block, block.get() + offset + place.offset});
  };
  if (place.space == graph::Space::host_stash) return wrapped(host_stash_[slot], 0);
  if (place.space == graph::Space::outputs)
    return wrapped(output_block_, number * stage().output_bytes);
  return wrapped(stash_, number * stage().stash_bytes);
}

void Arena::make_sent_back() {
  for (const std::int32_t id : stage().backward_sends) {
    const Edge& edge = plan_->edges[static_cast<std::size_t>(id)];
    std::vector<Tensor> ring(static_cast<std::size_t>(graph::edge_depth(*plan_, edge)));
    if (edge.kind != EdgeKind::order) {
      const std::int64_t bytes = aligned(edge.type.bytes());
      const Block block = allocate(bytes * static_cast<std::int64_t>(ring.size()));
      for (std::size_t i = 0; i < ring.size(); ++i)
        ring[i] = Tensor::wrap(edge.type.dtype, edge.type.shape,
                               {block, block.get() + static_cast<std::int64_t>(i) * bytes});
    }
    sends_back_.push_back(std::move(ring));
  }
  sent_back_at_.assign(sends_back_.size(), nullptr);
}

void Arena::receive(std::size_t position, std::int64_t micro_batch, Tensor tensor) {
  received_[slot(micro_batch, live_)][position] = std::move(tensor);
}

void Arena::release(std::int64_t micro_batch) {
  for (Tensor& tensor : received_[slot(micro_batch, live_)]) tensor = Tensor();
}

void Arena::prepare(const ProgramRun& run) {
  if (stage().prepare.instructions.empty()) return;
  const std::lock_guard lock(preparation_->mutex);
  if (preparation_->version == weight_version_) return;
  graph::run(stage().prepare, {.parameters = parameters_.get(),
                               .buffers = buffers_.get(),
                               .scratch = run.scratch,
                               .prepared = preparation_->block.get(),
                               .runner = run.runner,
                               .heartbeat = run.heartbeat});
  preparation_->version = weight_version_;
}

void Arena::run(const ProgramRun& run) {
  prepare(run);
  const std::vector<Tensor>& received = received_[slot(run.micro_batch, live_)];
  for (std::size_t i = 0; i < received.size(); ++i)
    received_at_[i] = received[i] ? received[i].raw() : nullptr;
  for (std::size_t i = 0; i < sends_back_.size(); ++i) {
    const Tensor& tensor = sends_back(i, run.micro_batch);
    sent_back_at_[i] = tensor ? const_cast<std::byte*>(tensor.raw()) : nullptr;
  }
  const auto at = [&](graph::Space space) {
    const std::size_t slots = slots_of(space);
    return static_cast<std::int64_t>(slots == 0 ? 0 : slot(run.micro_batch, slots));
  };
  // Only a backward adds to the gradient sums. A forward may run before the host store has lent the
  // sums.
  const bool adds_sums = run.direction == Direction::backward;
  const graph::Bindings bindings{
      .parameters = parameters_.get(),
      .buffers = buffers_.get(),
      .weight_room = run.weight_room,
      .accumulators = accumulators_.get(),
      .host_accumulators = adds_sums ? host_accumulators_.get() : nullptr,
      .stash = stash_.get() + at(graph::Space::stash) * stage().stash_bytes,
      .host_stash = host_stash_[static_cast<std::size_t>(at(graph::Space::host_stash))].get(),
      .scratch = run.scratch,
      .received = received_at_,
      .sent_back = sent_back_at_,
      .prepared = preparation_->block.get(),
      .outputs = output_block_.get() + at(graph::Space::outputs) * stage().output_bytes,
      .random = run.random,
      .loss_scale = run.loss_scale,
      .summed = run.summed,
      .runner = run.runner,
      .moves = programs_move_ ? &moves_ : nullptr,
      .heartbeat = run.heartbeat,
      .times = times_of(run)};
  graph::run(run.direction == Direction::forward ? stage().forward : stage().backward, bindings);
}

void Arena::time_programs() {
  times_programs_ = true;
  times_ = {};
  times_.forward.nanoseconds.assign(stage().forward.instructions.size(), 0);
  times_.backward.nanoseconds.assign(stage().backward.instructions.size(), 0);
}

graph::StageProgramTimes Arena::take_program_times() {
  graph::StageProgramTimes times = times_;
  if (times_programs_) time_programs();
  return times;
}

graph::ProgramTimes* Arena::times_of(const ProgramRun& run) {
  // One of every four consecutive micro-batches is timed, and its place among the four changes from
  // four to four. Otherwise the first micro-batch of a window, for which no weights are in a cache,
  // might be timed always or never.
  if (!times_programs_ || (run.micro_batch + run.micro_batch / 4) % 4 != 0) return nullptr;
  return run.direction == Direction::forward ? &times_.forward : &times_.backward;
}

const Tensor& Arena::sends_forward(std::size_t position, std::int64_t micro_batch) const {
  const std::vector<Tensor>& ring = sends_forward_[position];
  return ring[slot(micro_batch, ring.size())];
}

const Tensor& Arena::sends_back(std::size_t position, std::int64_t micro_batch) const {
  const std::vector<Tensor>& ring = sends_back_[position];
  return ring[slot(micro_batch, ring.size())];
}

const TensorList& Arena::outputs(std::int64_t micro_batch) const {
  return outputs_[slot(micro_batch, outputs_.size())];
}

std::span<float> Arena::variable(std::size_t k) {
  const graph::VariablePlan& variable = stage().variables[k];
  return {reinterpret_cast<float*>(place_of(variable)),
          static_cast<std::size_t>(variable.type.shape.elements())};
}

std::span<float> Arena::accumulator(const graph::Location& home, std::int64_t elements) {
  std::byte* const block =
      (graph::in_host_store(home.space) ? host_accumulators_ : accumulators_).get();
  return {reinterpret_cast<float*>(block + home.offset), static_cast<std::size_t>(elements)};
}

std::span<std::byte> Arena::accumulators() {
  return {accumulators_.get(), static_cast<std::size_t>(stage().accumulator_bytes)};
}

std::span<std::byte> Arena::host_accumulators() {
  if (!host_accumulators_) return {};
  return {host_accumulators_.get(), static_cast<std::size_t>(stage().host_accumulator_bytes)};
}

void Arena::bring_weights(std::byte* weight_room, graph::Heartbeat* heartbeat) {
  for (const graph::VariablePlan& variable : stage().variables) {
    if (!graph::in_host_store(variable.home.space)) continue;
    std::memcpy(weight_room + variable.home.offset, host_weights_.get() + variable.home.offset,
                static_cast<std::size_t>(variable.type.bytes()));
    ++weight_moves_.loads;
    weight_moves_.loaded_bytes += variable.type.bytes();
    if (heartbeat) heartbeat->beat();
  }
}

std::byte* Arena::place_of(const graph::VariablePlan& variable) const {
  const auto block = [&]() -> const Block& {
    if (graph::in_host_store(variable.home.space)) return host_weights_block_;
    return variable.home.space == graph::Space::buffers ? buffers_ : parameters_;
  };
  return block().get() + variable.home.offset;
}

const std::byte* Arena::newest(std::size_t k) const {
  const graph::VariablePlan& variable = stage().variables[k];
  return variable.kept_offset == graph::none ? place_of(variable)
                                             : kept_.get() + variable.kept_offset;
}

void Arena::keep_buffers() {
  for (const graph::VariablePlan& variable : stage().variables)
    if (variable.kept_offset != graph::none)
      std::memcpy(kept_.get() + variable.kept_offset, place_of(variable),
                  static_cast<std::size_t>(variable.type.bytes()));
}

Tensor Arena::read_variable(std::size_t k) const {
  const graph::VariablePlan& variable = stage().variables[k];
  const auto bytes = static_cast<std::size_t>(variable.type.bytes());
  const auto copy = allocate_block(bytes);
  std::memcpy(copy.get(), newest(k), bytes);
  return Tensor::wrap(variable.type.dtype, variable.type.shape, copy);
}

void Arena::write_variable(std::size_t k, const Tensor& value) {
  const graph::VariablePlan& variable = stage().variables[k];
  if (value.dtype() != variable.type.dtype || !(value.shape() == variable.type.shape))
    throw Error(Errc::shape_mismatch,
                plan_->variables[static_cast<std::size_t>(variable.variable)].name + ": expected " +
                    graph::to_string(variable.type) + ", got " + to_string(value.shape()));
  const bool is_buffer = variable.home.space == graph::Space::buffers;
  if (is_buffer || !shares_parameters_) std::memcpy(place_of(variable), value.raw(), value.bytes());
  weights_changed();
  if (variable.kept_offset != graph::none)
    std::memcpy(kept_.get() + variable.kept_offset, value.raw(), value.bytes());
}

}  // namespace penstock::actors
