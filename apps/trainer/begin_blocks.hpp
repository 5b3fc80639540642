// These functions do what the options --begin-block and --split-after say. A layer of a network
// from an ONNX file may be called as its node is, with slashes: "/layer4/conv1/Conv". A name
// may also be the end of a layer's or a group's name, behind a dot.
#pragma once

#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "penstock/model.hpp"

namespace trainer {

/// Removes the blocks that the network has by itself, and begins those of `starts`.
/// @throws penstock::Error if the model has no such layer, which lists the layers that are near it,
/// or if a block cannot begin there. The text begins with the option.
void begin_blocks(penstock::Model& model, const std::vector<BlockStart>& starts);

/// Removes the blocks that the network has by itself, and ends a stage behind each of `layers`, in
/// the order of Model::stage_assignment().
/// @throws penstock::Error as begin_blocks(), and if a stage would have no layer or would read from
/// a later one.
void split_after(penstock::Model& model, const std::vector<std::string>& layers);

}  // namespace trainer
