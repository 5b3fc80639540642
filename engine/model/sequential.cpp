#include "penstock/sequential.hpp"

#include <algorithm>
#include <map>

#include "engine/log/log.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/text_table.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"

namespace penstock {
namespace {

void check_stages(const std::vector<int>& stages, std::size_t layers) {
  const auto refuse = [](const std::string& text) {
    throw Error(Errc::invalid_argument, "set_stages: " + text);
  };
  if (stages.size() != layers)
    refuse("expected a stage for each of " + std::to_string(layers) + " layers, got " +
           std::to_string(stages.size()));
  if (!stages.empty() && stages[0] != 0)
    refuse("expected stage 0 for the first layer, got " + std::to_string(stages[0]));
  for (std::size_t i = 1; i < stages.size(); ++i)
    if (stages[i] != stages[i - 1] && stages[i] != stages[i - 1] + 1)
      refuse("expected stage " + std::to_string(stages[i - 1]) + " or " +
             std::to_string(stages[i - 1] + 1) + " for layer " + std::to_string(i) +
             " (from 0), got " + std::to_string(stages[i]));
}

Value activated(Model& model, Value x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return model.relu(x);
    case Activation::sigmoid:
      return model.sigmoid(x);
    case Activation::tanh:
      return model.tanh(x);
    case Activation::softmax:
      return model.softmax(x);
    case Activation::none:
      break;
  }
  return x;
}

/// Runs `action` as the call `name` of `model`, and returns its result. Lines for logs are told
/// when the call is done.
auto calling(const Model& model, std::string_view name, const auto& action) {
  return or_out_of_memory(name, [&] {
    const auto calls = ModelAccess::calls(model);
    const ModelCall call(*calls, name);
    return Log::after_all(*calls, action);
  });
}

}  // namespace

Sequential::Sequential(const Model& model, Value begin) : model_(model), begin_(begin) {
  calling(model_, "Sequential", [&] { ModelAccess::expect_value("Sequential", model_, begin); });
}

std::size_t Sequential::size() const noexcept {
  std::size_t size = extents_.size();
  while (size > 0 && extents_[size - 1].growth && extents_[size - 1].growth->is_taken_back())
    --size;
  return size;
}

Value Sequential::output() const noexcept {
  const std::size_t layers = size();
  return layers == 0 ? begin_ : extents_[layers - 1].output;
}

// A function that adds layers to the chain calls this one first, so that layers that were taken
// back are always at the end of the chain.
void Sequential::drop_layers_taken_back() {
  extents_.resize(size());
}

// A layer's function may add to the chain itself, and may throw afterwards; the chain is then made
// what it was before.
Sequential& Sequential::add(const Layer& layer) {
  calling(model_, "Sequential::add", [&] {
    drop_layers_taken_back();
    Sequential before = *this;
    before.extents_.reserve(before.size() + 1);
    const auto& nodes = ModelAccess::graph(model_).nodes;
    Extent added{.begin = nodes.size(), .growth = ModelAccess::calls(model_)->growth()};
    try {
      ModelAccess::add(model_, [&] {
        added.output = call_host([&] { return layer(model_, before.output()); });
        ModelAccess::expect_value("layer " + std::to_string(before.size()) + " (from 0)",
                                  before.model_, added.output);
      });
    } catch (...) {
      *this = std::move(before);
      throw;
    }
    added.end = nodes.size();
    before.extents_.push_back(std::move(added));
    *this = std::move(before);
  });
  return *this;
}

Sequential& Sequential::flatten() {
  return add([](Model& model, Value x) { return model.flatten(x); });
}

Sequential& Sequential::dense(const std::string& name, std::int64_t units, Activation activation) {
  return or_out_of_memory("Sequential::dense", [&]() -> Sequential& {
    return add([&](Model& model, Value x) {
      return activated(model, model.linear(name, x, units), activation);
    });
  });
}

Sequential& Sequential::dropout(const std::string& name, double probability) {
  return or_out_of_memory("Sequential::dropout", [&]() -> Sequential& {
    return add([&](Model& model, Value x) { return model.dropout(name, x, probability); });
  });
}

void Sequential::set_stages(const std::vector<int>& stages) {
  constexpr std::string_view subject = "Sequential::set_stages";
  calling(model_, subject, [&] {
    ModelAccess::calls(model_)->expect_grown(subject);
    drop_layers_taken_back();
    check_stages(stages, size());
    std::vector<int> checked = stages;
    const auto& nodes = ModelAccess::graph(model_).nodes;
    std::map<std::string, int> stage_of;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const auto behind =
          std::ranges::upper_bound(extents_, node, {}, &Extent::begin) - extents_.begin();
      stage_of[nodes[node].name] = behind == 0 ? 0 : stages[static_cast<std::size_t>(behind - 1)];
    }
    LayerStages layers = model_.stage_assignment();
    for (LayerStage& layer : layers) layer.stage = stage_of.at(layer.layer);
    model_.set_stage_assignment(layers);
    assigned_ = std::move(checked);
  });
}

std::vector<int> Sequential::stages() const {
  return calling(model_, "Sequential::stages", [&] {
    const auto& graph = ModelAccess::graph(model_);
    std::vector<int> stages(size(), -1);
    bool holds = true;  // `holds` says whether the layers are in the stages that were given.
    for (std::size_t layer = 0; layer < size(); ++layer) {
      if (extents_[layer].begin == extents_[layer].end) continue;
      const graph::BlockId block = graph.nodes[extents_[layer].begin].block;
      if (block != graph::none) stages[layer] = graph.blocks[graph::index(block)].stage;
      holds = holds && (layer >= assigned_.size() || stages[layer] == assigned_[layer]);
    }
    // A layer that computes nothing has no node; its stage is known only from the stages that were
    // given.
    if (holds) std::ranges::copy(assigned_, stages.begin());
    return stages;
  });
}

std::vector<ChainLayer> Sequential::layers() const {
  return calling(model_, "Sequential::layers", [&] {
    const auto& nodes = ModelAccess::graph(model_).nodes;
    const std::vector<int> stages = this->stages();
    std::vector<ChainLayer> layers;
    for (std::size_t i = 0; i < size(); ++i) {
      ChainLayer layer{.stage = stages[i]};
      for (std::size_t node = extents_[i].begin; node < extents_[i].end; ++node)
        layer.ops.emplace_back(nodes[node].op->name);
      if (!layer.ops.empty()) layer.layer = nodes[extents_[i].begin].name;
      layers.push_back(std::move(layer));
    }
    return layers;
  });
}

std::string to_string(const Sequential& chain) {
  return or_out_of_memory("the table of a Sequential", [&] {
    std::vector<TextRow> rows{{"layer (ops)", "stage"}};
    for (const ChainLayer& layer : chain.layers())
      rows.push_back({layer.layer + " (" + joined(layer.ops) + ")",
                      layer.stage < 0 ? "-" : std::to_string(layer.stage)});
    return text_table(rows);
  });
}

std::string to_json(const Sequential& chain) {
  return or_out_of_memory("the JSON of a Sequential", [&] {
    using Kind = JsonValue::Kind;
    JsonValue list{.kind = Kind::list};
    for (const ChainLayer& layer : chain.layers()) {
      JsonValue ops{.kind = Kind::list, .name = "ops"};
      for (const std::string& op : layer.ops) ops.items.push_back({.kind = Kind::text, .text = op});
      const JsonValue name{.kind = Kind::text, .text = layer.layer, .name = "layer"};
      const JsonValue stage{
          .kind = Kind::number, .text = std::to_string(layer.stage), .name = "stage"};
      list.items.push_back({.kind = Kind::object, .items = {name, ops, stage}});
    }
    return to_json(list);
  });
}

}  // namespace penstock
