#include "penstock/layer_stages.hpp"

#include <algorithm>
#include <set>

#include "engine/model/model_state.hpp"
#include "engine/model/text_table.hpp"
#include "engine/names/known_names.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"

namespace penstock {
namespace {

using graph::NodeId;
using graph::ValueId;

/// A PostOrder is a list of the nodes of a graph, each after the nodes whose outputs it reads.
class PostOrder {
 public:
  explicit PostOrder(const graph::Graph& graph) : graph_(graph), seen_(graph.nodes.size()) {
    for (const graph::Output& output : graph.outputs) add(graph.value(output.value).producer);
    if (graph.loss != graph::none) add(graph.value(graph.loss).producer);
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) add(static_cast<NodeId>(node));
  }

  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  /// Lists `last` behind all nodes that it depends on, unless they are listed already. The function
  /// does not recurse, because a network may be deeper than a thread's stack.
  void add(NodeId last) {
    if (last == graph::none || seen_[graph::index(last)]) return;
    std::vector<NodeId> open{last};
    while (!open.empty()) {
      const NodeId node = open.back();
      if (const NodeId next = next_input(node); next != graph::none) {
        open.push_back(next);
        continue;
      }
      open.pop_back();
      nodes_.push_back(node);
      seen_[graph::index(node)] = true;
    }
  }

  /// Returns the first node whose output `node` reads and that is not in the list, or none.
  NodeId next_input(NodeId node) const {
    for (const ValueId input : graph_.node(node).inputs) {
      const NodeId producer = graph_.value(input).producer;
      if (producer != graph::none && !seen_[graph::index(producer)]) return producer;
    }
    return graph::none;
  }

  const graph::Graph& graph_;
  std::vector<bool> seen_;
  std::vector<NodeId> nodes_;
};

std::vector<std::string> inputs_of(const graph::Graph& graph, const graph::Node& node) {
  std::vector<std::string> names;
  for (const ValueId input : node.inputs) {
    const graph::Value& value = graph.value(input);
    if (value.producer != graph::none)
      names.push_back(graph.node(value.producer).name);
    else if (value.kind == graph::ValueKind::input)
      names.push_back(value.name);
  }
  return names;
}

LayerStage described(const graph::Graph& graph, const graph::Node& node) {
  LayerStage layer{
      .layer = node.name, .op = std::string(node.op->name), .inputs = inputs_of(graph, node)};
  if (node.block == graph::none) return layer;
  const graph::Block& block = graph.blocks[graph::index(node.block)];
  layer.block = block.name;
  layer.ipu = block.ipu;
  layer.stage = block.stage;
  return layer;
}

[[noreturn]] void refuse(Errc code, const std::string& text) {
  throw Error(code, "set_stage_assignment: " + text);
}

void expect_layers(const graph::Graph& graph, const std::vector<NodeId>& order,
                   const LayerStages& layers) {
  if (layers.size() != order.size())
    refuse(Errc::invalid_argument, "expected the model's " + std::to_string(order.size()) +
                                       " layers, got " + std::to_string(layers.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = graph.node(order[i]).name;
    if (layers[i].layer != name)
      refuse(Errc::invalid_argument,
             "expected layer " + quoted_text(name) + " at position " + std::to_string(i) +
                 ", as stage_assignment() has it, got " + quoted_text(layers[i].layer));
    if (layers[i].stage < 0)
      refuse(Errc::invalid_argument, "layer " + quoted_text(name) +
                                         ": expected a stage of 0 or more, got " +
                                         std::to_string(layers[i].stage));
  }
}

void expect_forward_flow(const graph::Graph& graph, const std::vector<int>& stages) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId input : graph.nodes[i].inputs) {
      const NodeId producer = graph.value(input).producer;
      if (producer == graph::none || stages[graph::index(producer)] <= stages[i]) continue;
      refuse(Errc::invalid_topology,
             graph::to_string(graph.nodes[i]) + " in stage " + std::to_string(stages[i]) +
                 " needs the output of " + graph::to_string(graph.node(producer)) + " in stage " +
                 std::to_string(stages[graph::index(producer)]) +
                 "; a stage can use only what it or an earlier stage computes");
    }
}

void expect_every_stage(const std::vector<int>& stages) {
  const std::set<int> used(stages.begin(), stages.end());
  const int last = used.empty() ? -1 : *used.rbegin();
  for (int stage = 0; stage < last; ++stage)
    if (!used.contains(stage))
      refuse(Errc::invalid_topology, "stage " + std::to_string(last) + " has layers, but stage " +
                                         std::to_string(stage) + " has none");
}

std::string number_or_dash(int number) {
  return number < 0 ? "-" : std::to_string(number);
}

TextRow row_of(const LayerStage& layer) {
  return {layer.layer + " (" + layer.op + ")", joined(layer.inputs),
          layer.block.empty() ? "-" : layer.block, number_or_dash(layer.ipu),
          number_or_dash(layer.stage)};
}

JsonValue json(const std::string& name, const std::string& text) {
  return {.kind = JsonValue::Kind::text, .text = text, .name = name};
}

JsonValue json(const std::string& name, int number) {
  return {.kind = JsonValue::Kind::number, .text = std::to_string(number), .name = name};
}

JsonValue json(const LayerStage& layer) {
  JsonValue inputs{.kind = JsonValue::Kind::list, .name = "inputs"};
  for (const std::string& input : layer.inputs) inputs.items.push_back(json("", input));
  return {
      .kind = JsonValue::Kind::object,
      .items = {json("layer", layer.layer), json("op", layer.op), std::move(inputs),
                json("block", layer.block), json("ipu", layer.ipu), json("stage", layer.stage)}};
}

}  // namespace

LayerStages Model::stage_assignment() const {
  return impl_->calling("Model::stage_assignment", [&](Impl& impl) {
    const graph::Graph& graph = impl.network.graph();
    LayerStages layers;
    const PostOrder order(graph);
    for (const NodeId node : order.nodes()) layers.push_back(described(graph, graph.node(node)));
    return layers;
  });
}

void Model::set_stage_assignment(const LayerStages& layers) {
  impl_->calling("Model::set_stage_assignment", [&](Impl& impl) {
    const graph::Graph& graph = impl.network.graph();
    const PostOrder order(graph);
    expect_layers(graph, order.nodes(), layers);
    std::vector<int> stages(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i)
      stages[graph::index(order.nodes()[i])] = layers[i].stage;
    expect_every_stage(stages);
    expect_forward_flow(graph, stages);
    impl.network.set_stages(stages);
  });
}

void Model::reset_stage_assignment() {
  impl_->calling("Model::reset_stage_assignment", [&](Impl& impl) { impl.network.reset_stages(); });
}

LayerStages split_after(LayerStages layers, const std::string& layer) {
  return or_out_of_memory("split_after", [&] {
    const auto at = std::ranges::find(layers, layer, &LayerStage::layer);
    if (at == layers.end())
      throw Error(Errc::invalid_argument, "split_after: there is no layer " + quoted_text(layer) +
                                              instead_of(layer, layers, &LayerStage::layer));
    for (LayerStage& each : layers) each.stage = std::max(each.stage, 0);
    for (auto behind = at + 1; behind != layers.end(); ++behind) ++behind->stage;
    return std::move(layers);
  });
}

std::string to_string(const LayerStages& layers) {
  return or_out_of_memory("the table of layers", [&] {
    std::vector<TextRow> rows{{"layer (op)", "inputs", "block", "IPU", "stage"}};
    for (const LayerStage& layer : layers) rows.push_back(row_of(layer));
    return text_table(rows);
  });
}

std::string to_json(const LayerStages& layers) {
  return or_out_of_memory("the JSON of layers", [&] {
    JsonValue list{.kind = JsonValue::Kind::list};
    for (const LayerStage& layer : layers) list.items.push_back(json(layer));
    return to_json(list);
  });
}

}  // namespace penstock
