#include "apps/trainer/begin_blocks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/options/refuse.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

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

/// Returns the names of the layers that have parameters, in the model's order.
std::vector<std::string> trained_layers(const penstock::Model& model) {
  const penstock::LayerStages all = model.stage_assignment();
  std::vector<std::string> layers;
  for (const penstock::ParameterInfo& parameter : model.parameters()) {
    const std::string layer = without_last_part(parameter.name);
    if (std::ranges::count(all, layer, &penstock::LayerStage::layer) > 0) layers.push_back(layer);
  }
  return layers;
}

/// Returns names of layers and groups of layers for a text that refuses `name`. They are the
/// members of the smallest group that `name` may be meant to be in: instead of "layer4.7", there
/// are "layer4.0", "layer4.1" and so on.
std::vector<std::string> names_near(const std::string& name, const penstock::Model& model) {
  const std::vector<std::string> layers = trained_layers(model);
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

std::string there_are(std::vector<std::string> names) {
  constexpr std::size_t most_listed = 20;
  const std::size_t all = names.size();
  names.resize(std::min(all, most_listed));
  return "there are " + joined(names) +
         (all > names.size() ? " and " + std::to_string(all - names.size()) + " more" : "");
}

/// Returns the text of an error of Model::begin_block_at() without the name of that function.
std::string reason(const std::string& text, const std::string& layer) {
  const std::string call = "begin_block_at \"" + layer + "\": ";
  const std::size_t at = text.find(call);
  return at == text.npos ? text : text.substr(at + call.size());
}

void begin_block(penstock::Model& model, const BlockStart& start) try {
  if (!has_layer(model.stage_assignment(), start.layer))
    refuse(model.name() + " has no layer of that name; " +
           there_are(names_near(start.layer, model)));
  model.begin_block_at(start.layer, start.layer, start.ipu.value_or(-1));
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), "--begin-block " + excerpt(start.layer, longest_name) + ": " +
                                          reason(error.what(), start.layer));
}

}  // namespace

void begin_blocks(penstock::Model& model, const std::vector<BlockStart>& starts) {
  model.remove_block_marks();
  for (const BlockStart& start : starts) begin_block(model, start);
}

}  // namespace trainer
