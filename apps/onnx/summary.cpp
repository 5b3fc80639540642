#include "apps/onnx/summary.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"

namespace onnx_tool {
namespace {

std::string text_of(const penstock::OnnxTensorInfo& tensor) {
  std::string text = penstock::terminal_text(tensor.name) + ' ' + tensor.type + '[';
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i > 0 ? "," : "") + penstock::terminal_text(tensor.shape[i]);
  return text + ']';
}

/// Returns a text as a terminal may show it. Of a long one, it returns the beginning, which ends
/// with a whole character of UTF-8.
std::string beginning_of(const std::string& text) {
  constexpr std::size_t most_bytes = 200;
  const std::string shown = penstock::terminal_text(text);
  if (shown.size() <= most_bytes) return shown;
  const auto continues_a_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  std::size_t end = most_bytes;
  while (continues_a_character(shown[end])) --end;
  return shown.substr(0, end) + "...";
}

/// Prints the metadata of a file, of each name and text no more than its beginning.
void print_metadata(const std::map<std::string, std::string>& metadata) {
  for (const auto& [name, text] : metadata)
    std::cout << "metadata " << beginning_of(name) << ' ' << beginning_of(text) << '\n';
}

void print_tensors(const char* kind, const std::vector<penstock::OnnxTensorInfo>& tensors) {
  for (const penstock::OnnxTensorInfo& tensor : tensors)
    std::cout << kind << ' ' << text_of(tensor) << '\n';
}

/// RefusedNodes are the names of the nodes that the import refuses, by operator.
using RefusedNodes = std::map<std::string, std::set<std::string>>;

/// Returns the refused nodes of a file that cannot be imported. If it is refused for another
/// reason, those are the nodes whose operators are not known.
RefusedNodes refused_nodes(const penstock::LoadedOnnx& file) {
  RefusedNodes refused;
  for (const penstock::OnnxOperatorUse& use : file.summary().operators)
    if (!use.supported) refused[use.op_type].insert(use.nodes.begin(), use.nodes.end());
  try {
    for (const penstock::OnnxRefusal& refusal : file.refusals({}))
      refused[refusal.op_type].insert(refusal.nodes.begin(), refusal.nodes.end());
  } catch (const penstock::Error&) {
    // The import itself has failed in the same way, and print_summary() prints why.
  }
  return refused;
}

/// Prints how many nodes use an operator, and how many of them are refused.
void print_operator(const penstock::OnnxOperatorUse& use, const RefusedNodes& refused) {
  std::cout << "operator " << penstock::terminal_text(use.op_type) << ' ' << use.nodes.size();
  if (const auto of_operator = refused.find(use.op_type); of_operator != refused.end()) {
    const auto count = std::ranges::count_if(
        use.nodes, [&](const std::string& name) { return of_operator->second.contains(name); });
    // Refused nodes in the branches of an If are none of the nodes that are counted here.
    if (count > 0) std::cout << ", " << count << " of " << use.nodes.size() << " refused";
  }
  std::cout << '\n';
}

/// Returns the text of a refusal, in which the command that is given all inputs stands in place of
/// fields that a program may set.
std::string with_commands(std::string text) {
  for (const auto& [field, command] :
       {std::pair("OnnxOptions::inputs may give ", "penstock-onnx run is given "),
        std::pair("OnnxOptions::dimensions may say what ",
                  "the inputs tell penstock-onnx run what ")})
    for (auto at = text.find(field); at != text.npos; at = text.find(field, at))
      text.replace(at, std::string_view(field).size(), command);
  return text;
}

/// Prints how large the parameters are, and the layers.
void print_layers(const penstock::OnnxLayers& layers) {
  std::int64_t trained = 0, others = 0;
  for (const penstock::OnnxLayer& layer : layers) {
    trained += layer.parameters;
    others += layer.constants;
  }
  std::cout << "parameters " << trained << " trained, " << others << " constant\n\n"
            << to_string(layers);
}

}  // namespace

void print_summary(const std::string& path) {
  const penstock::LoadedOnnx file(path);
  const penstock::OnnxSummary& summary = file.summary();
  std::cout << "producer " << penstock::terminal_text(summary.producer) << ", format "
            << summary.ir_version << ", operators of version " << summary.opset << '\n';
  print_metadata(summary.metadata);
  print_tensors("input", summary.inputs);
  print_tensors("output", summary.outputs);
  try {
    const penstock::OnnxLayers layers = file.layers({});
    for (const penstock::OnnxOperatorUse& use : summary.operators) print_operator(use, {});
    print_layers(layers);
  } catch (const penstock::Error& error) {
    const RefusedNodes refused = refused_nodes(file);
    for (const penstock::OnnxOperatorUse& use : summary.operators) print_operator(use, refused);
    std::cout << "not importable: " << penstock::terminal_text(with_commands(error.what())) << '\n';
  }
}

}  // namespace onnx_tool
