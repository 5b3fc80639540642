#include "actors/update/whole_state.hpp"

#include <cstring>
#include <map>

#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

using Block = std::shared_ptr<std::byte>;

void copy(const VariableState& part, std::vector<Block>& whole, const graph::TensorType& type) {
  while (whole.size() < part.tensors.size())
    whole.push_back(allocate_block(static_cast<std::size_t>(type.bytes())));
  for (std::size_t s = 0; s < whole.size(); ++s)
    std::memcpy(whole[s].get() + part.first_element * static_cast<std::int64_t>(sizeof(float)),
                part.tensors[s].raw(), part.tensors[s].bytes());
}

}  // namespace

std::vector<std::vector<Tensor>> whole_state(const graph::Plan& plan,
                                             std::span<const VariableState> states) {
  std::vector<std::vector<Tensor>> result(plan.variables.size());
  std::map<std::size_t, std::vector<Block>> in_parts;
  for (const VariableState& state : states) {
    const auto variable = static_cast<std::size_t>(state.variable);
    const graph::TensorType& type = plan.variables[variable].type;
    if (!state.tensors.empty() && !(state.tensors[0].shape() == type.shape))
      copy(state, in_parts[variable], type);
    else
      result[variable] = state.tensors;
  }
  for (const auto& [variable, blocks] : in_parts)
    for (const Block& block : blocks) {
      const graph::TensorType& type = plan.variables[variable].type;
      result[variable].push_back(Tensor::wrap(type.dtype, type.shape, block));
    }
  return result;
}

}  // namespace penstock::actors
