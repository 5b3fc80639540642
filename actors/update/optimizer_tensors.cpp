#include "actors/update/optimizer_tensors.hpp"

#include <algorithm>
#include <cstring>

#include "graph/plan/shards.hpp"
#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

void begin_anew(const StageUpdate& update, const StateBlocks& state) {
  for (const TrainedVariable& trained : update.trained)
    for (std::size_t s = 0; s < trained.initial_state.size(); ++s)
      std::fill_n(reinterpret_cast<float*>(block_of(trained, state) + trained.state_offsets[s]),
                  trained.own_elements, trained.initial_state[s]);
}

/// Returns the bytes of the state's tensors that are in the host store, or that are not, where
/// `elements_of` returns how many elements each tensor of a variable has.
template <class ElementsOf>
std::int64_t bytes_where(const StageUpdate& update, bool in_host_store, ElementsOf elements_of) {
  std::int64_t bytes = 0;
  for (const TrainedVariable& trained : update.trained)
    if (trained.state_in_host_store == in_host_store)
      bytes += std::ssize(trained.state_offsets) * bytes_of(elements_of(trained));
  return bytes;
}

}  // namespace

std::byte* block_of(const TrainedVariable& trained, const StateBlocks& state) {
  return (trained.state_in_host_store ? state.in_host_store : state.on_ipu).get();
}

StateBlocks new_state(const StageUpdate& update) {
  StateBlocks state;
  if (update.ipu_block_bytes > 0)
    state.on_ipu = allocate_block(static_cast<std::size_t>(update.ipu_block_bytes));
  if (update.host_block_bytes > 0)
    state.in_host_store = allocate_block(static_cast<std::size_t>(update.host_block_bytes));
  begin_anew(update, state);
  return state;
}

std::vector<VariableState> read_state(const StageUpdate& update) {
  std::vector<VariableState> states;
  for (const TrainedVariable& trained : update.trained) {
    if (graph::empty(trained.share)) continue;
    const graph::TensorType& type = trained.plan->type;
    const std::int64_t elements = size(trained.share);
    VariableState& kept = states.emplace_back(VariableState{trained.variable, {}, 0});
    kept.first_element = trained.share.begin;
    const bool is_whole = elements == trained.elements();
    for (const std::int64_t offset : trained.state_offsets) {
      const auto copy = allocate_block(static_cast<std::size_t>(bytes_of(elements)));
      std::memcpy(copy.get(), block_of(trained, update.all_state) + offset,
                  static_cast<std::size_t>(bytes_of(elements)));
      kept.tensors.push_back(
          Tensor::wrap(type.dtype, is_whole ? type.shape : Shape{elements}, copy));
    }
  }
  return states;
}

void restore_state(StageUpdate& update, const OptimizerTensors& tensors) noexcept {
  begin_anew(update, update.all_state);
  for (const TrainedVariable& trained : update.trained) {
    if (graph::empty(trained.share)) continue;
    const auto& whole = tensors.variables[static_cast<std::size_t>(trained.variable)];
    for (std::size_t s = 0; s < whole.size(); ++s)
      std::memcpy(block_of(trained, update.all_state) + trained.state_offsets[s],
                  whole[s].raw() + bytes_of(trained.share.begin),
                  static_cast<std::size_t>(bytes_of(size(trained.share))));
  }
  update.step = tensors.updates;
}

std::int64_t state_bytes_in_host_store(const StageUpdate& update) {
  return bytes_where(update, true, [](const auto& trained) { return trained.own_elements; });
}

std::int64_t state_bytes_on_ipu(const StageUpdate& update) {
  return bytes_where(update, false, [](const auto& trained) { return trained.elements_on_ipu(); });
}

std::int64_t shared_state_bytes(const StageUpdate& update) {
  return bytes_where(update, false,
                     [](const auto& trained) { return trained.sharded ? 0 : trained.elements(); });
}

std::int64_t state_padding_on_ipu(const StageUpdate& update) {
  return update.ipu_block_bytes -
         bytes_where(update, false, [](const auto& trained) { return trained.own_elements; });
}

}  // namespace penstock::actors
