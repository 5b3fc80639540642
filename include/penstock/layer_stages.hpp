// A LayerStage says which pipeline stage a layer of a model is in. The list of a model's layers can
// be read, changed, set and printed. It is plain data.
#pragma once

#include <string>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// A LayerStage says which stage, block and IPU a layer is in.
struct LayerStage {
  std::string layer;  ///< `layer` is the name of the layer.
  /// `op` is the name of what the layer computes, such as "conv2d", "relu" or "mse_loss".
  std::string op = {};
  /// `inputs` has the names of the layers, and of the inputs of the model, that the layer reads.
  std::vector<std::string> inputs = {};
  /// `block` is the name of the block that the layer belongs to. It is empty if the layer belongs
  /// to none.
  std::string block = {};
  /// `ipu` is the IPU of the block, or -1 if the block has none of its own.
  int ipu = -1;
  int stage = -1;  ///< `stage` is the stage of the layer, or -1 if none was set.
};
/// LayerStages are a list of the layers of a model.
using LayerStages = std::vector<LayerStage>;

/// Returns `layers` with a cut after `layer`: the layers behind it in the list are one stage
/// further on. A layer without a stage counts as one of stage 0. @throws Error invalid_argument if
/// there is no layer of that name.
LayerStages split_after(LayerStages layers, const std::string& layer);

/// Returns a table with a line per layer.
std::string to_string(const LayerStages& layers);
/// Returns a list of objects with the fields of LayerStage, as JSON.
std::string to_json(const LayerStages& layers);

}  // namespace penstock
