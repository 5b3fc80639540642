// everything_trained() returns all that a training has made of a model: its weights and buffers,
// and the optimizer's state.
#pragma once

#include <map>
#include <string>

#include "penstock/model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {

using TensorsByName = std::map<std::string, Tensor>;

inline TensorsByName everything_trained(const Model& model, const TrainingModel& training) {
  TensorsByName tensors;
  for (const NamedTensor& state : training.optimizer_state()) tensors[state.name] = state.tensor;
  for (const ParameterInfo& parameter : model.parameters())
    tensors[parameter.name] = model.weight(parameter.name);
  return tensors;
}

/// Returns the name of a tensor that differs, or an empty text if there is none.
inline std::string first_difference(const TensorsByName& a, const TensorsByName& b) {
  if (a.size() != b.size()) return "other tensors";
  for (const auto& [name, tensor] : a)
    if (!same_bits(tensor, b.at(name))) return name;
  return "";
}

}  // namespace penstock::testing
