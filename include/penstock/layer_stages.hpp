// LayerStage: which pipeline stage a layer of a model is in. A model's list of them can be read,
// changed, set and printed. Plain data.
#pragma once

#include <string>
#include <vector>

namespace penstock {

/// Says which stage, block and IPU a layer is in.
struct LayerStage {
  std::string layer;                     ///< its name
  std::string op = {};                   ///< what it computes: "conv2d", "relu", "mse_loss"
  std::vector<std::string> inputs = {};  ///< the layers and the model's inputs that it reads
  std::string block = {};                ///< that it belongs to; empty: none
  int ipu = -1;                          ///< that the block names; -1: it names none
  int stage = -1;                        ///< -1: none was said
};
using LayerStages = std::vector<LayerStage>;

/// The same with a cut after `layer`: the layers behind it in the list are one stage further on. A
/// layer without a stage counts as one of stage 0.
/// @throws Error invalid_argument if there is no layer of that name.
LayerStages split_after(LayerStages layers, const std::string& layer);

/// A table with a line per layer.
std::string to_string(const LayerStages& layers);
/// A list of objects with the fields of LayerStage.
std::string to_json(const LayerStages& layers);

}  // namespace penstock
