// begin_blocks() does what the option --begin-block says.
#pragma once

#include <vector>

#include "apps/trainer/options/options.hpp"
#include "penstock/model.hpp"

namespace trainer {

/// Removes the blocks that the network has by itself, and begins those of `starts`.
/// @throws penstock::Error if the model has no such layer, which lists the layers that are near it,
/// or if a block cannot begin there. The text begins with the option.
void begin_blocks(penstock::Model& model, const std::vector<BlockStart>& starts);

}  // namespace trainer
