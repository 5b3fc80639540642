#include "engine/onnx/export/export_graph.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "engine/onnx/export/op_exports.hpp"
#include "engine/onnx/export/own_linear.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/version.hpp"

namespace penstock {
namespace {

constexpr std::int64_t ir_version = 8, opset = 17;
constexpr const char* name_of_samples = "batch";

class GraphExport {
 public:
  explicit GraphExport(const ExportRequest& request)
      : request_(request), types_(request.model, request.batch), names_(model().values.size()) {
    for (const graph::Node& node : model().nodes)
      if (const graph::Node* const linear = own_linear(model(), node)) parts_.insert(linear);
  }

  ExportedGraph written() {
    reserve_names();
    add_inputs();
    add_weights();
    add_nodes();
    add_outputs();
    result_.file.ir_version = ir_version;
    result_.file.producer = "penstock " + std::string(version);
    result_.file.opsets = {{"", opset}};
    // A graph without a name breaks the format.
    result_.file.graph.name = model().name.empty() ? "model" : model().name;
    result_.file.graph.nodes = std::move(nodes_.all());
    for (Tensor& tensor : nodes_.kept()) result_.elements.push_back(std::move(tensor));
    return std::move(result_);
  }

 private:
  const graph::Graph& model() const { return types_.model(); }
  std::string& name(graph::ValueId value) { return names_[graph::index(value)]; }

  /// Gives each value a name. Those of inputs, weights and outputs are the model's own.
  void reserve_names() {
    for (const graph::ValueId input : model().inputs)
      name(input) = nodes_.unused_value(model().value(input).name);
    for (const graph::Variable& variable : model().variables)
      name(variable.value) = nodes_.unused_value(model().value(variable.value).name);
    for (const graph::Output& output : model().outputs) {
      output_names_.push_back(nodes_.unused_value(output.name));
      if (name(output.value).empty()) name(output.value) = output_names_.back();
    }
    for (const graph::Node& node : model().nodes)
      for (const graph::ValueId value : node.outputs)
        if (name(value).empty()) name(value) = nodes_.unused_value(model().value(value).name);
  }

  OnnxValueInfo described(graph::ValueId value, const std::string& as) const {
    const graph::TensorType& type = types_.type(value);
    std::vector<OnnxDim> dims;
    for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
      OnnxDim dim;
      if (types_.counts_samples(value, axis))
        dim.name = name_of_samples;
      else if (!types_.is_open(value, axis))
        dim.size = type.shape.begin()[axis];
      dims.push_back(dim);
    }
    return {.name = as, .type = onnx_type_of(type.dtype), .shape = std::move(dims)};
  }

  void add_inputs() {
    for (const graph::ValueId input : model().inputs)
      result_.file.graph.inputs.push_back(described(input, name(input)));
  }

  void add_weights() {
    for (const graph::Variable& variable : model().variables) {
      result_.elements.push_back(request_.weight(model().value(variable.value).name));
      result_.file.graph.initializers.push_back(std::make_shared<const OnnxTensor>(
          onnx_tensor_of(result_.elements.back(), name(variable.value))));
    }
  }

  void add_nodes() {
    for (const graph::Node& node : model().nodes) {
      if (parts_.contains(&node)) continue;
      try {
        add_node(node);
      } catch (const Error& error) {
        if (error.code() != Errc::unsupported) throw;
        refusals_ += (refusals_.empty() ? "" : "; ") + to_string(node) + ": " + error.what();
      }
    }
    if (!refusals_.empty())
      throw Error(Errc::unsupported,
                  "model " + quoted_text(model().name) +
                      " has layers that cannot be written in the ONNX format: " + refusals_);
  }

  void add_node(const graph::Node& node) {
    const OpExport* const entry = find_export(*node.op);
    if (!entry) {
      const auto known = std::ranges::find(op_refusals(), node.op, &OpRefusal::op);
      refuse_export(known != op_refusals().end() ? std::string(known->reason)
                                                 : "it computes gradients, or is a part of a plan");
    }
    NodeExport call(nodes_, types_, names_, node);
    entry->write(call);
  }

  void add_outputs() {
    for (std::size_t i = 0; i < model().outputs.size(); ++i) {
      const graph::ValueId value = model().outputs[i].value;
      if (name(value) != output_names_[i])
        nodes_.add({.name = nodes_.unused_node(output_names_[i]),
                    .op_type = "Identity",
                    .inputs = {name(value)},
                    .outputs = {output_names_[i]}});
      result_.file.graph.outputs.push_back(described(value, output_names_[i]));
    }
  }

  const ExportRequest& request_;
  BatchTypes types_;
  std::vector<std::string> names_;  ///< `names_` has the name of each value.
  std::vector<std::string> output_names_;
  std::set<const graph::Node*> parts_;  ///< `parts_` are written with the nodes that read them.
  Nodes nodes_;
  ExportedGraph result_;
  std::string refusals_;
};

}  // namespace

ExportedGraph export_graph(const ExportRequest& request) {
  return GraphExport(request).written();
}

}  // namespace penstock
