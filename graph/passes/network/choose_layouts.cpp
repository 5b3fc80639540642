#include "graph/passes/network/choose_layouts.hpp"

#include <utility>
#include <vector>

#include "graph/ir/append.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/lanes/to_lanes.hpp"

namespace penstock::graph {
namespace {

/// Forms are the values that hold a value of the model in each layout. `none` says that the value
/// does not exist in a layout.
struct Forms {
  ValueId plain = none;
  ValueId lanes = none;
};

class Rewriting {
 public:
  Rewriting(const Graph& model, bool training)
      : model_(model), training_(training), forms_(model.values.size()) {
    result_.graph = model;
    result_.graph.nodes.clear();
    for (std::size_t id = 0; id < forms_.size(); ++id)
      if (model.values[id].kind != ValueKind::computed) forms_[id].plain = static_cast<ValueId>(id);
  }

  LayoutChoice run() {
    for (const Node& node : model_.nodes) {
      if (runs_in_lanes(node))
        rewrite(node);
      else
        copy(node);
    }
    for (Output& output : result_.graph.outputs) output.value = for_host(output.value);
    for (GradientAnchor& gradient : result_.graph.gradients) find_made(gradient);
    if (model_.loss != none) result_.graph.loss = for_host(model_.loss);
    return std::move(result_);
  }

 private:
  bool runs_in_lanes(const Node& node) const {
    if (!node.op->lane_use) return false;
    switch (node.op->lane_use(node.attributes, types_of(model_, node.inputs))) {
      case LaneUse::prefers:
        return true;
      case LaneUse::prefers_in_training:
        return training_;
      case LaneUse::follows:
        return forms_[index(node.inputs[0])].lanes != none;
      case LaneUse::follows_producer:
        return is_made(forms_[index(node.inputs[0])].lanes);
      case LaneUse::never:
        break;
    }
    return false;
  }

  /// Returns whether a node computes `form`, which is not `none` and no conversion either.
  bool is_made(ValueId form) const {
    const NodeId producer = form == none ? none : result_.graph.value(form).producer;
    return producer != none && !result_.graph.node(producer).op->enters_lanes;
  }

  const std::vector<ValueId>& emit(const Node& node, const Op& op, std::vector<ValueId> inputs,
                                   Attributes attributes) {
    Graph& graph = result_.graph;
    const NodeId id =
        append_named(graph, names_, op, std::move(inputs), std::move(attributes), node.name);
    graph.node(id).block = node.block;
    return graph.node(id).outputs;
  }

  /// Notes that `outputs` take the place of the outputs of `node`, which is a node of the model.
  /// The outputs of a node that works in the batch-lane layout have that layout, but for those that
  /// have no samples, such as statistics.
  void note(const Node& node, const std::vector<ValueId>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Forms& forms = forms_[index(node.outputs[i])];
      const bool plain = result_.graph.type(outputs[i]) == model_.type(node.outputs[i]);
      (plain ? forms.plain : forms.lanes) = outputs[i];
      result_.graph.value(outputs[i]).checkpoint = model_.value(node.outputs[i]).checkpoint;
    }
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(plain(input, node.block));
    note(node, emit(node, *node.op, std::move(inputs), node.attributes));
  }

  void rewrite(const Node& node) {
    std::vector<ValueId> inputs{lanes(node.inputs[0], node.block)};
    for (std::size_t i = 1; i < node.inputs.size(); ++i)
      inputs.push_back(plain(node.inputs[i], node.block));
    const Op& form = node.op->lane_form
                         ? node.op->lane_form(node.attributes, types_of(model_, node.inputs))
                         : *node.op;
    Attributes attributes = node.attributes;
    attributes.set("batch", model_.type(node.inputs[0]).shape[0]);
    attributes = only_declared(form.attributes, attributes);
    note(node, emit(node, form, std::move(inputs), std::move(attributes)));
    ++result_.lane_nodes;
  }

  ValueId convert(ValueId value, const Op& op, const char* suffix, Attributes attributes,
                  BlockId block) {
    Graph& graph = result_.graph;
    const std::string name = graph.value(value).name + suffix;
    const NodeId id = append_named(graph, names_, op, {value}, std::move(attributes), name);
    graph.node(id).block = block;
    ++result_.conversions;
    return graph.node(id).outputs[0];
  }

  ValueId plain(ValueId value, BlockId block) {
    Forms& forms = forms_[index(value)];
    if (forms.plain == none)
      forms.plain = convert(forms.lanes, from_lanes, "/from_lanes",
                            {{"batch", model_.type(value).shape[0]}}, block);
    return forms.plain;
  }

  ValueId lanes(ValueId value, BlockId block) {
    Forms& forms = forms_[index(value)];
    if (forms.lanes == none) forms.lanes = convert(forms.plain, to_lanes, "/to_lanes", {}, block);
    return forms.lanes;
  }

  /// Returns the plain form of `value`, which leaves the model. If `value` has to be converted, the
  /// conversion is put in the block that computes it. If nobody computes `value`, because it is a
  /// loss that was pruned, for example, `value` itself is returned.
  ValueId for_host(ValueId value) {
    const Forms& forms = forms_[index(value)];
    if (forms.plain == none && forms.lanes == none) return value;
    const NodeId producer = model_.value(value).producer;
    return plain(value, producer == none ? none : model_.node(producer).block);
  }

  /// Lets `gradient` name the form of its value that a node computes, and not the form that a
  /// conversion makes of it. The gradient of the converted form then contributes to the gradient of
  /// the form that is named.
  void find_made(GradientAnchor& gradient) const {
    const Forms& forms = forms_[index(gradient.value)];
    if (is_made(forms.lanes)) gradient.lane_batch = model_.type(gradient.value).shape[0];
    gradient.value = gradient.lane_batch > 0 ? forms.lanes : forms.plain;
  }

  const Graph& model_;
  bool training_;
  LayoutChoice result_;
  NodeNames names_;           // These are the names of the nodes of the result.
  std::vector<Forms> forms_;  // These are the forms of each value, by its ValueId in the model.
};

}  // namespace

LayoutChoice choose_layouts(const Graph& model, bool training) {
  return Rewriting(model, training).run();
}

}  // namespace penstock::graph
