// This says what the layers of an imported ONNX file are, and how large they are.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model_access.hpp"
#include "engine/model/text_table.hpp"
#include "engine/onnx/file_uses.hpp"
#include "graph/ir/op.hpp"
#include "graph/passes/network/model_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/terminal_text.hpp"

namespace penstock {
namespace {

using graph::index;
using graph::ValueId;

/// Returns what the file says of the size of the axis that counts samples, or nothing if a sample
/// is a whole set of inputs.
std::optional<OnnxDim> samples_in(const OnnxFile& file, const ImportedGraph& imported) {
  OnnxDim samples{.name = "batch"};
  for (const ImportedInput& input : imported.inputs) {
    if (input.placement.whole) return std::nullopt;
    const auto info = std::ranges::find(file.graph.inputs, input.name, &OnnxValueInfo::name);
    if (info == file.graph.inputs.end() || !info->shape) continue;
    const OnnxDim& dim = info->shape->at(input.placement.axis);
    if (dim.size || !dim.name.empty()) return dim;
  }
  return samples;
}

/// Returns the model as inference computes it, without what no output needs.
graph::Graph computed_part(const graph::Graph& model) {
  std::vector<ValueId> wanted;
  for (const graph::Output& output : model.outputs) wanted.push_back(output.value);
  return graph::prune(graph::inference_form(graph::prune(model, wanted)), wanted);
}

/// A VariableSizes says how many elements the parameters and the buffers have on which a value
/// depends, and which no layer has counted yet.
struct VariableSizes {
  std::int64_t parameters = 0;
  std::int64_t constants = 0;
};

/// A LayerList makes the list of the layers of a model that computes one sample.
class LayerList {
 public:
  LayerList(const graph::Graph& model, std::optional<OnnxDim> samples)
      : model_(computed_part(model)),
        doubled_(graph::with_batch(model_, 2)),
        samples_(std::move(samples)),
        varies_(model_.values.size()),
        is_output_(model_.values.size()),
        uncounted_(model_.values.size()) {
    for (const ValueId input : model_.inputs) varies_[index(input)] = true;
    for (const graph::Output& output : model_.outputs) is_output_[index(output.value)] = true;
    for (const graph::Variable& variable : model_.variables) {
      const graph::Value& value = model_.value(variable.value);
      const bool is_parameter = value.kind == graph::ValueKind::parameter;
      VariableSizes& sizes = uncounted_[index(variable.value)];
      (is_parameter ? sizes.parameters : sizes.constants) = value.type.shape.elements();
    }
  }

  OnnxLayers list() {
    for (const graph::Node& node : model_.nodes) add(node);
    double all = 0;
    for (const OnnxLayer& layer : layers_) all += layer.cost_share;
    if (all > 0)
      for (OnnxLayer& layer : layers_) layer.cost_share /= all;
    return std::move(layers_);
  }

 private:
  /// Adds the layer of a node or, if the node is computed before the forward, lets the layers that
  /// read its result count its variables. The cost share of the layer is an amount of work as yet.
  void add(const graph::Node& node) {
    const VariableSizes sizes = count_variables(node);
    const bool varies =
        std::ranges::any_of(node.inputs, [&](ValueId x) { return varies_[index(x)]; });
    for (const ValueId output : node.outputs) varies_[index(output)] = varies;
    const ValueId first = node.outputs[0];
    if (!varies && node.outputs.size() == 1 && !is_output_[index(first)]) {
      uncounted_[index(first)] = sizes;
      return;
    }
    layers_.push_back({.name = node.name,
                       .op = std::string(node.op->name),
                       .shape = shape_of(first),
                       .parameters = sizes.parameters,
                       .constants = sizes.constants,
                       .cost_share = work_of(node)});
  }

  VariableSizes count_variables(const graph::Node& node) {
    VariableSizes sum;
    for (const ValueId input : node.inputs) {
      const VariableSizes sizes = std::exchange(uncounted_[index(input)], {});
      sum.parameters += sizes.parameters;
      sum.constants += sizes.constants;
    }
    return sum;
  }

  double work_of(const graph::Node& node) const {
    if (!node.op->cost) return 0;
    return node.op
        ->cost(node.attributes, types_of(model_, node.inputs), types_of(model_, node.outputs))
        .work();
  }

  std::vector<std::string> shape_of(ValueId value) const {
    const Shape& one = model_.type(value).shape;
    const Shape& two = doubled_.type(value).shape;
    std::vector<std::string> shape;
    for (std::size_t axis = 0; axis < one.rank(); ++axis) {
      const std::int64_t size = one.begin()[axis];
      if (size == two.begin()[axis])
        shape.push_back(std::to_string(size));
      else if (samples_)
        shape.push_back(size_of_samples(size));
    }
    return shape;
  }

  /// Returns the size of an axis that has `rows` elements of each sample.
  std::string size_of_samples(std::int64_t rows) const {
    if (samples_->size) return std::to_string(rows * *samples_->size);
    return (rows == 1 ? "" : std::to_string(rows) + "*") + samples_->name;
  }

  const graph::Graph model_;
  const graph::Graph doubled_;  // This is the model for two samples.
  const std::optional<OnnxDim> samples_;
  // This says, for each ValueId, whether the value depends on samples.
  std::vector<bool> varies_;
  std::vector<bool> is_output_;
  std::vector<VariableSizes> uncounted_;
  OnnxLayers layers_;
};

TextRow row_of(const OnnxLayer& layer) {
  return {terminal_text(layer.name) + " (" + layer.op + ")",
          '[' + terminal_text(joined(layer.shape, {}, ",")) + ']', std::to_string(layer.parameters),
          decimal_text(100 * layer.cost_share, 1)};
}

}  // namespace

OnnxLayers layers_of(const OnnxFile& file, const ImportedGraph& imported) {
  return LayerList(ModelAccess::graph(imported.model), samples_in(file, imported)).list();
}

std::string to_string(const OnnxLayers& layers) {
  return or_out_of_memory("the table of layers", [&] {
    std::vector<TextRow> rows{{"layer (op)", "output", "parameters", "cost %"}};
    OnnxLayer total{.name = ""};
    for (const OnnxLayer& layer : layers) {
      rows.push_back(row_of(layer));
      total.parameters += layer.parameters;
      total.cost_share += layer.cost_share;
    }
    rows.push_back({"total of " + count_text(std::ssize(layers), "layer"), "",
                    std::to_string(total.parameters), decimal_text(100 * total.cost_share, 1)});
    return text_table(rows);
  });
}

}  // namespace penstock
