#include "engine/onnx/import/graph_plan.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/import/branches.hpp"
#include "engine/onnx/import/copy_count.hpp"
#include "engine/onnx/import/imported.hpp"
#include "engine/onnx/import/node_import.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::int64_t first_opset = 7, last_opset = 21;

void check_version(std::int64_t opset, const std::vector<OnnxNode>& nodes) {
  const auto is_own = [](const OnnxNode& node) { return node.domain.empty(); };
  if (std::ranges::none_of(nodes, is_own)) return;
  if (opset < first_opset || opset > last_opset)
    throw Error(Errc::unsupported,
                "expected operators of a version from " + std::to_string(first_opset) + " to " +
                    std::to_string(last_opset) + ", got " + std::to_string(opset) +
                    "; export the model with one of these versions (opset_version), or convert the "
                    "file with onnx.version_converter");
}

/// Checks that each name is computed once, and before it is read.
void check_names(const OnnxGraph& graph, const std::vector<OnnxNode>& nodes) {
  std::set<std::string> names;
  for (const OnnxValueInfo& input : graph.inputs)
    if (!names.insert(input.name).second)
      corrupt("two inputs are called " + quoted_text(input.name));
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializers) {
    if (!initializers.insert(initializer->name).second)
      corrupt("two initializers are called " + quoted_text(initializer->name));
    names.insert(initializer->name);
  }
  for (const OnnxNode& node : nodes) {
    for (const std::string& input : node.inputs)
      if (!input.empty() && !names.contains(input))
        corrupt("node " + quoted_text(layer_name(node)) + " reads " + quoted_text(input) +
                ", which no earlier node computes");
    for (const std::string& output : node.outputs)
      if (!output.empty() && !names.insert(output).second)
        corrupt("node " + quoted_text(layer_name(node)) + " computes " + quoted_text(output) +
                ", which is there already");
  }
  for (const OnnxValueInfo& output : graph.outputs)
    if (!names.contains(output.name))
      corrupt("no node computes the output " + quoted_text(output.name));
}

/// Leaves out the nodes that no output needs, and the names of outputs that nobody reads.
std::vector<OnnxNode> needed(const OnnxGraph& graph, std::vector<OnnxNode> nodes) {
  std::set<std::string> read;
  for (const OnnxValueInfo& output : graph.outputs) read.insert(output.name);
  std::vector<OnnxNode> kept;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    bool is_read = false;
    for (std::string& output : node->outputs) {
      if (!read.contains(output)) output.clear();
      is_read = is_read || !output.empty();
    }
    if (!is_read) continue;
    read.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  return kept;
}

/// Returns an initializer with its elements or, if there can be no such tensor, with the reason.
ReadInitializer read_initializer(const OnnxTensor& tensor, TensorReader& reader) {
  try {
    return {tensor.name, tensor.type, reader.read(tensor)};
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return {tensor.name, tensor.type, {}, error};
  }
}

/// Returns those initializers that something reads.
std::vector<ReadInitializer> read_initializers(const OnnxGraph& graph,
                                               const std::vector<OnnxNode>& nodes,
                                               TensorReader& reader) {
  std::set<std::string> read;
  for (const OnnxValueInfo& output : graph.outputs) read.insert(output.name);
  for (const OnnxNode& node : nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::vector<ReadInitializer> initializers;
  for (const auto& tensor : graph.initializers)
    if (read.contains(tensor->name)) initializers.push_back(read_initializer(*tensor, reader));
  return initializers;
}

/// FunctionCalls write out the nodes of a file's own functions.
class FunctionCalls {
 public:
  explicit FunctionCalls(const OnnxFile& file) {
    for (const OnnxFunction& function : file.functions)
      functions_.try_emplace({function.domain, function.name}, &function);
  }

  void append(OnnxNode node, int depth) {
    const auto found = functions_.find({node.domain, node.op_type});
    if (found == functions_.end()) {
      if (nodes_.size() == most_nodes) corrupt("functions make more nodes than can be imported");
      nodes_.push_back(std::move(node));
      return;
    }
    const OnnxFunction& function = *found->second;
    if (depth == deepest) corrupt("functions call each other, or more than 16 deep");
    const Call call{node, function, layer_name(node) + "."};
    copies_.add((function.inputs.size() + function.outputs.size()) * sizeof(Names::value_type));
    Names names;
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    for (std::size_t i = 0; i < function.outputs.size(); ++i)
      if (i < node.outputs.size() && !node.outputs[i].empty())
        names[function.outputs[i]] = node.outputs[i];
      else
        names.erase(function.outputs[i]);
    for (const OnnxNode& inner : function.nodes) append(written_out(inner, call, names), depth + 1);
  }

  std::vector<OnnxNode> nodes() && { return std::move(nodes_); }

 private:
  static constexpr std::size_t most_nodes = 1'000'000;
  static constexpr int deepest = 16;

  struct Call {
    const OnnxNode& caller;
    const OnnxFunction& function;
    std::string prefix;  ///< The names of what the function computes begin with `prefix`.
  };
  /// Names are what the caller calls the inputs and outputs of a function.
  using Names = std::map<std::string, std::string>;

  std::string renamed(const std::string& name, const Call& call, const Names& names) {
    if (name.empty()) return counted("");
    const auto found = names.find(name);
    return counted(found == names.end() ? call.prefix + name : found->second);
  }

  std::string counted(std::string name) {
    copies_.add(name);
    return name;
  }

  /// Returns a node of a function with the names and the attributes that it has for the caller.
  OnnxNode written_out(const OnnxNode& node, const Call& call, const Names& names) {
    copies_.add(sizeof node);
    OnnxNode written{.name = counted(call.prefix + layer_name(node)),
                     .op_type = counted(node.op_type),
                     .domain = counted(node.domain)};
    for (const std::string& name : node.inputs)
      written.inputs.push_back(renamed(name, call, names));
    for (const std::string& name : node.outputs)
      written.outputs.push_back(renamed(name, call, names));
    for (const OnnxAttribute& attribute : node.attributes) {
      const OnnxAttribute* const value =
          attribute.reference.empty() ? &attribute : referred(attribute.reference, call);
      if (!value) continue;
      copies_.add(*value);
      OnnxAttribute& copy = written.attributes.emplace_back(*value);
      copy.name = attribute.name;
      if (value == &attribute && value->graph) copy.graph = branch(*value->graph, call, names);
    }
    return written;
  }

  /// Returns the value that the caller or else the function itself gives to an attribute of the
  /// function, or null.
  static const OnnxAttribute* referred(const std::string& name, const Call& call) {
    if (const OnnxAttribute* const value = call.caller.find(name)) return value;
    const auto fallback = std::ranges::find(call.function.defaults, name, &OnnxAttribute::name);
    return fallback == call.function.defaults.end() ? nullptr : &*fallback;
  }

  /// Returns a branch of a node in a function with the names that the caller has for them. What the
  /// branch defines itself hides inputs and outputs of the function that are called the same. The
  /// branch has no name and no types of its inputs and outputs, which nothing asks for.
  std::shared_ptr<const OnnxGraph> branch(const OnnxGraph& graph, const Call& call, Names names) {
    copies_.add(sizeof graph + names.size() * sizeof(Names::value_type));
    for (const OnnxValueInfo& input : graph.inputs) names.erase(input.name);
    for (const auto& initializer : graph.initializers) names.erase(initializer->name);
    for (const OnnxNode& node : graph.nodes)
      for (const std::string& output : node.outputs) names.erase(output);
    auto written = std::make_shared<OnnxGraph>();
    written->has_sparse_initializers = graph.has_sparse_initializers;
    const auto add_renamed = [&](std::vector<OnnxValueInfo>& list, const OnnxValueInfo& value) {
      copies_.add(sizeof value);
      list.push_back({.name = renamed(value.name, call, names)});
    };
    for (const OnnxValueInfo& input : graph.inputs) add_renamed(written->inputs, input);
    for (const OnnxValueInfo& output : graph.outputs) add_renamed(written->outputs, output);
    for (const std::shared_ptr<const OnnxTensor>& initializer : graph.initializers) {
      copies_.add(*initializer);
      auto tensor = std::make_shared<OnnxTensor>(*initializer);
      tensor->name = renamed(tensor->name, call, names);
      written->initializers.push_back(std::move(tensor));
    }
    for (const OnnxNode& node : graph.nodes)
      written->nodes.push_back(written_out(node, call, names));
    return written;
  }

  std::map<std::pair<std::string_view, std::string_view>, const OnnxFunction*> functions_;
  CopyCount copies_;
  std::vector<OnnxNode> nodes_;
};

/// Names the first dimensions that the file leaves open without a name, as some exporters write
/// that of the samples. Returns the names of the inputs that have such a dimension.
std::set<std::string> name_open_batch(std::vector<OnnxValueInfo>& inputs) {
  std::set<std::string> named;
  for (OnnxValueInfo& input : inputs) {
    if (!input.shape || input.shape->empty()) continue;
    OnnxDim& first = input.shape->front();
    if (first.size || !first.name.empty()) continue;
    first.name = "batch";
    named.insert(input.name);
  }
  return named;
}

}  // namespace

std::vector<OnnxNode> written_out(const OnnxFile& file) {
  FunctionCalls calls(file);
  for (const OnnxNode& node : file.graph.nodes) calls.append(node, 0);
  return std::move(calls).nodes();
}

std::int64_t opset_of(const OnnxFile& file) {
  const auto found = file.opsets.find("");
  return found == file.opsets.end() ? 0 : found->second;
}

bool is_supported(const OnnxNode& node) {
  if (!node.domain.empty()) return false;
  return find_operator(node.op_type) || is_folded(node.op_type) || node.op_type == if_operator;
}

std::string layer_name(const OnnxNode& node) {
  std::string name = node.name;
  for (const std::string& output : node.outputs)
    if (name.empty()) name = output;
  if (name.empty()) name = node.op_type;
  name = printable(name);
  if (name.starts_with('/')) name.erase(0, 1);
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string operator_name(const OnnxNode& node) {
  return printable(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
}

GraphPlan plan_graph(const OnnxFile& file, TensorReader& reader) {
  GraphPlan plan{.opset = opset_of(file)};
  if (file.graph.has_sparse_initializers)
    throw Error(Errc::unsupported,
                "the graph has sparse initializers; export the model with dense ones");
  std::vector<OnnxNode> nodes = written_out(file);
  list_captures(nodes);
  check_version(plan.opset, nodes);
  check_names(file.graph, nodes);
  plan.nodes = needed(file.graph, std::move(nodes));
  std::set<std::string> initializers;
  for (const auto& initializer : file.graph.initializers) initializers.insert(initializer->name);
  for (const OnnxValueInfo& input : file.graph.inputs)
    if (!initializers.contains(input.name)) plan.inputs.push_back(input);
  plan.guessed_batches = name_open_batch(plan.inputs);
  if (plan.inputs.size() > most_inputs)
    throw Error(Errc::unsupported, "expected at most " + std::to_string(most_inputs) +
                                       " inputs, got " + std::to_string(plan.inputs.size()));
  plan.initializers = read_initializers(file.graph, plan.nodes, reader);
  std::set<std::string> outputs;
  for (const OnnxValueInfo& output : file.graph.outputs) outputs.insert(output.name);
  plan.patterns = find_patterns(plan.nodes, outputs, initializers);
  return plan;
}

}  // namespace penstock
