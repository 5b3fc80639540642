#include "apps/onnx/summary.hpp"

#include <cstdint>
#include <iostream>
#include <set>
#include <string>

#include "penstock/penstock.hpp"

namespace onnx_tool {
namespace {

std::string text_of(const penstock::OnnxTensorInfo& tensor) {
  std::string text = penstock::terminal_text(tensor.name) + ' ' + tensor.type + '[';
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i > 0 ? "," : "") + penstock::terminal_text(tensor.shape[i]);
  return text + ']';
}

void print_tensors(const char* kind, const std::vector<penstock::OnnxTensorInfo>& tensors) {
  for (const penstock::OnnxTensorInfo& tensor : tensors)
    std::cout << kind << ' ' << text_of(tensor) << '\n';
}

/// Returns the operators of the nodes that the import refuses.
std::set<std::string> refused_operators(const penstock::LoadedOnnx& file) try {
  std::set<std::string> operators;
  for (const penstock::OnnxRefusal& refusal : file.refusals({})) operators.insert(refusal.op_type);
  return operators;
} catch (const penstock::Error&) {
  return {};  // The whole file is refused for another reason, which print_layers() prints.
}

/// Prints the layers of the model and how large its parameters are, or why there is no model.
void print_layers(const penstock::LoadedOnnx& file) try {
  const penstock::OnnxLayers layers = file.layers({});
  std::int64_t trained = 0, others = 0;
  for (const penstock::OnnxLayer& layer : layers) {
    trained += layer.parameters;
    others += layer.constants;
  }
  std::cout << "parameters " << trained << " trained, " << others << " constant\n\n"
            << to_string(layers);
} catch (const penstock::Error& error) {
  std::cout << "not importable: " << penstock::terminal_text(error.what()) << '\n';
}

}  // namespace

void print_summary(const std::string& path) {
  const penstock::LoadedOnnx file(path);
  const penstock::OnnxSummary& summary = file.summary();
  std::cout << "producer " << penstock::terminal_text(summary.producer) << ", format "
            << summary.ir_version << ", operators of version " << summary.opset << '\n';
  print_tensors("input", summary.inputs);
  print_tensors("output", summary.outputs);
  const std::set<std::string> refused = refused_operators(file);
  for (const penstock::OnnxOperatorUse& use : summary.operators)
    std::cout << "operator " << penstock::terminal_text(use.op_type) << ' ' << use.nodes.size()
              << (use.supported && !refused.contains(use.op_type) ? "" : " unsupported") << '\n';
  print_layers(file);
}

}  // namespace onnx_tool
