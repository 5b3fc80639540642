#include "apps/trainer/begin_blocks.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/options/refuse.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr std::size_t most_listed = 20;  // A text that refuses a name lists so many others.

/// Returns whether `layer` is `name` or one of the layers whose names begin with `name` and a dot.
/// All layers belong to the empty name.
bool belongs_to(std::string_view layer, std::string_view name) {
  return name.empty() || layer == name ||
         (layer.starts_with(name) && layer.substr(name.size()).starts_with('.'));
}

/// Returns `name` without its last dot and what follows it; the text is empty if there is no dot.
std::string without_last_part(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? "" : name.substr(0, dot);
}

bool has_layer(const penstock::LayerStages& layers, std::string_view name) {
  return std::ranges::any_of(
      layers, [&](const penstock::LayerStage& layer) { return belongs_to(layer.layer, name); });
}

/// Returns the names of the layers that have parameters, in the model's order. The layers of an
/// ONNX file have other names than their parameters; then the names of all layers of the file are
/// returned, without the loss that the trainer adds.
std::vector<std::string> layers_to_list(const penstock::Model& model) {
  const penstock::LayerStages all = model.stage_assignment();
  std::vector<std::string> layers;
  for (const penstock::ParameterInfo& parameter : model.parameters()) {
    const std::string layer = without_last_part(parameter.name);
    if (std::ranges::count(all, layer, &penstock::LayerStage::layer) > 0) layers.push_back(layer);
  }
  if (layers.empty())
    for (const penstock::LayerStage& layer : all)
      if (layer.op != "cross_entropy") layers.push_back(layer.layer);
  return layers;
}

/// Returns names of layers and groups of layers for a text that refuses `name`. They are the
/// members of the smallest group that `name` may be meant to be in: instead of "layer4.7", there
/// are "layer4.0", "layer4.1" and so on.
std::vector<std::string> names_near(const std::string& name, const penstock::Model& model) {
  const std::vector<std::string> layers = layers_to_list(model);
  const auto is_in = [](const std::string& layer, const std::string& group) {
    return layer != group && belongs_to(layer, group);
  };
  std::string group = name;
  do group = without_last_part(group);
  while (!group.empty() && std::ranges::none_of(layers, [&](const std::string& layer) {
    return is_in(layer, group);
  }));
  std::vector<std::string> names;
  for (const std::string& layer : layers) {
    const std::string near = layer.substr(0, layer.find('.', group.empty() ? 0 : group.size() + 1));
    if (is_in(layer, group) && std::ranges::count(names, near) == 0) names.push_back(near);
  }
  return names;
}

/// Returns the text of an error of Model::begin_block_at() without the name of that function.
std::string reason(const std::string& text, const std::string& layer) {
  const std::string call = "begin_block_at \"" + layer + "\": ";
  const std::size_t at = text.find(call);
  return at == text.npos ? text : text.substr(at + call.size());
}

/// Returns the name of the first layer, or group of layers, whose name ends with a dot and `name`;
/// an empty text if there is none. PyTorch's exporter writes "layer4/layer4.0" for the module
/// "layer4.0".
std::string group_ending_with(const penstock::LayerStages& layers, const std::string& name) {
  for (const penstock::LayerStage& layer : layers) {
    const std::size_t at = (layer.layer + '.').find('.' + name + '.');
    if (at != std::string::npos) return layer.layer.substr(0, at + 1 + name.size());
  }
  return "";
}

/// Returns the name of the layer, or of the group of layers, that `name` stands for: `name` itself
/// or, failing that, what an import makes of a node's name, or the end of a group's name.
std::string found_layer(const penstock::Model& model, const std::string& name) {
  const penstock::LayerStages layers = model.stage_assignment();
  if (has_layer(layers, name)) return name;
  std::string of_node = name.starts_with('/') ? name.substr(1) : name;
  std::ranges::replace(of_node, '/', '.');
  if (!of_node.empty() && has_layer(layers, of_node)) return of_node;
  if (const std::string group = group_ending_with(layers, of_node); !group.empty()) return group;
  refuse("the model " + model.name() + " has no layer of that name; there are " +
         joined_first(names_near(of_node, model), most_listed));
}

/// Throws `error` with the option in front of its text.
[[noreturn]] void refuse_layer(const char* option, const std::string& layer,
                               const penstock::Error& error) {
  throw penstock::Error(error.code(), option + (' ' + excerpt(layer, longest_name)) + ": " +
                                          reason(error.what(), layer));
}

void begin_block(penstock::Model& model, const BlockStart& start) try {
  const std::string layer = found_layer(model, start.layer);
  model.begin_block_at(layer, layer, start.ipu.value_or(-1));
} catch (const penstock::Error& error) {
  refuse_layer("--begin-block", start.layer, error);
}

/// Returns `layers` with a cut behind the last layer that belongs to `name`.
penstock::LayerStages cut_behind(const penstock::Model& model, penstock::LayerStages layers,
                                 const std::string& name) try {
  const std::string found = found_layer(model, name);
  const auto is_in = [&](const penstock::LayerStage& layer) {
    return belongs_to(layer.layer, found);
  };
  const auto last = std::find_if(layers.rbegin(), layers.rend(), is_in);
  if (last == layers.rbegin()) refuse("no layer is behind it");
  const std::string layer = last->layer;
  return penstock::split_after(std::move(layers), layer);
} catch (const penstock::Error& error) {
  refuse_layer("--split-after", name, error);
}

}  // namespace

void begin_blocks(penstock::Model& model, const std::vector<BlockStart>& starts) {
  model.remove_block_marks();
  for (const BlockStart& start : starts) begin_block(model, start);
}

void split_after(penstock::Model& model, const std::vector<std::string>& layers) {
  model.remove_block_marks();
  penstock::LayerStages stages = model.stage_assignment();
  for (const std::string& layer : layers) stages = cut_behind(model, std::move(stages), layer);
  try {
    model.set_stage_assignment(stages);
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), std::string("--split-after: ") + error.what());
  }
}

}  // namespace trainer
