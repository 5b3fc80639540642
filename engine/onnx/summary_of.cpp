// This says what is in an ONNX file.
#include <map>
#include <set>

#include "engine/onnx/file_uses.hpp"
#include "engine/onnx/import/graph_plan.hpp"

namespace penstock {
namespace {

OnnxTensorInfo info_of(const OnnxValueInfo& value) {
  OnnxTensorInfo info{.name = value.name, .type = to_string(value.type)};
  if (value.shape)
    for (const OnnxDim& dim : *value.shape)
      info.shape.push_back(dim.size           ? std::to_string(*dim.size)
                           : dim.name.empty() ? "?"
                                              : dim.name);
  return info;
}

OnnxTensorInfo info_of(const OnnxTensor& tensor) {
  OnnxTensorInfo info{.name = tensor.name, .type = to_string(tensor.type)};
  for (const std::int64_t size : tensor.dims) info.shape.push_back(std::to_string(size));
  return info;
}

}  // namespace

OnnxSummary summary_of(const OnnxFile& file) {
  OnnxSummary summary{.producer = file.producer,
                      .ir_version = file.ir_version,
                      .opset = opset_of(file),
                      .metadata = file.metadata};
  std::set<std::string> initializers;
  for (const auto& tensor : file.graph.initializers) {
    summary.initializers.push_back(info_of(*tensor));
    initializers.insert(tensor->name);
  }
  for (const OnnxValueInfo& input : file.graph.inputs)
    if (!initializers.contains(input.name)) summary.inputs.push_back(info_of(input));
  for (const OnnxValueInfo& output : file.graph.outputs) summary.outputs.push_back(info_of(output));
  std::map<std::string, OnnxOperatorUse> uses;
  for (const OnnxNode& node : written_out(file)) {
    OnnxOperatorUse& use = uses[operator_name(node)];
    use.op_type = operator_name(node);
    use.nodes.push_back(layer_name(node));
    use.supported = is_supported(node);
  }
  for (auto& [name, use] : uses) summary.operators.push_back(std::move(use));
  return summary;
}

}  // namespace penstock
