// A host may give the inputs of a call by name, in any order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/training_model.hpp"

namespace penstock {

/// Returns the tensors of `inputs` in the order in which `names` lists the inputs of a model.
/// @throws Error invalid_argument, whose text begins with `call`, if an input of the model is not
/// in `inputs` or is there twice, or if a name in `inputs` is not that of an input of the model;
/// out_of_memory.
std::vector<Tensor> in_order(std::string_view call, const std::vector<std::string>& names,
                             const std::vector<NamedTensor>& inputs);

}  // namespace penstock
