#include "engine/onnx/import/graph_plan.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/branches.hpp"
#include "engine/onnx/import/node_import.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::int64_t first_opset = 7, last_opset = 21;
constexpr std::size_t most_inputs = 1024;

void check_version(std::int64_t opset, const std::vector<OnnxNode>& nodes) {
  const auto is_own = [](const OnnxNode& node) { return node.domain.empty(); };
  if (std::ranges::none_of(nodes, is_own)) return;
  if (opset < first_opset || opset > last_opset)
    throw Error(Errc::unsupported,
                "expected operators of a version from " + std::to_string(first_opset) + " to " +
                    std::to_string(last_opset) + ", got " + std::to_string(opset));
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

}  // namespace

void check_operators(const std::vector<OnnxNode>& nodes) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const OnnxNode& node : nodes)
    if (!is_supported(node)) missing[operator_name(node)].push_back(layer_name(node));
  if (missing.empty()) return;
  const auto line = [](const auto& entry) {
    const std::vector<std::string>& names = entry.second;
    constexpr std::size_t most = 3;
    const std::vector<std::string> shown(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
    return entry.first + " (" + joined(shown, quoted_text) +
           (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "") +
           ")";
  };
  throw Error(Errc::unsupported, "these operators cannot be imported: " + joined(missing, line));
}

namespace {

/// Returns those initializers that something reads.
std::vector<ReadInitializer> read_initializers(const OnnxGraph& graph,
                                               const std::vector<OnnxNode>& nodes,
                                               const std::filesystem::path& directory) {
  std::set<std::string> read;
  for (const OnnxValueInfo& output : graph.outputs) read.insert(output.name);
  for (const OnnxNode& node : nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::vector<const OnnxTensor*> tensors;
  for (const auto& tensor : graph.initializers)
    if (read.contains(tensor->name)) tensors.push_back(tensor.get());
  ExternalCount external(directory);
  for (const OnnxTensor* const tensor : tensors) count_external(external, *tensor);
  std::vector<ReadInitializer> initializers;
  for (const OnnxTensor* const tensor : tensors)
    initializers.push_back({tensor->name, tensor->type, values_of(*tensor, directory)});
  return initializers;
}

/// FunctionCalls write out the nodes of a file's own functions.
class FunctionCalls {
 public:
  explicit FunctionCalls(const OnnxFile& file) : file_(file) {}

  void append(const OnnxNode& node, int depth) {
    const OnnxFunction* const function = find(node);
    if (!function) {
      if (nodes_.size() == most_nodes) corrupt("functions make more nodes than can be imported");
      nodes_.push_back(node);
      return;
    }
    if (depth == deepest) corrupt("functions call each other, or more than 16 deep");
    if (++calls_ > most_nodes) corrupt("functions are called more often than can be imported");
    const Call call{node, *function, layer_name(node) + "."};
    Names names;
    for (std::size_t i = 0; i < function->inputs.size(); ++i)
      names[function->inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    for (std::size_t i = 0; i < function->outputs.size(); ++i)
      if (i < node.outputs.size() && !node.outputs[i].empty())
        names[function->outputs[i]] = node.outputs[i];
      else
        names.erase(function->outputs[i]);
    for (OnnxNode inner : function->nodes) {
      write_out(inner, call, names);
      append(inner, depth + 1);
    }
  }

  std::vector<OnnxNode> nodes() && { return std::move(nodes_); }

 private:
  static constexpr std::size_t most_nodes = 1'000'000;
  static constexpr std::size_t most_copied = 4'000'000;
  static constexpr int deepest = 16;

  const OnnxFunction* find(const OnnxNode& node) const {
    for (const OnnxFunction& function : file_.functions)
      if (function.name == node.op_type && function.domain == node.domain) return &function;
    return nullptr;
  }

  struct Call {
    const OnnxNode& caller;
    const OnnxFunction& function;
    std::string prefix;  ///< The names of what the function computes begin with `prefix`.
  };
  /// Names are what the caller calls the inputs and outputs of a function.
  using Names = std::map<std::string, std::string>;

  static void rename(std::string& name, const Call& call, const Names& names) {
    if (name.empty()) return;
    const auto found = names.find(name);
    name = found == names.end() ? call.prefix + name : found->second;
  }

  /// Gives a node of a function the names and the attributes that it has for the caller.
  void write_out(OnnxNode& node, const Call& call, const Names& names) {
    node.name = call.prefix + layer_name(node);
    for (std::string& name : node.inputs) rename(name, call, names);
    for (std::string& name : node.outputs) rename(name, call, names);
    std::vector<OnnxAttribute> attributes;
    for (OnnxAttribute& attribute : node.attributes) {
      if (attribute.reference.empty()) {
        if (attribute.graph) attribute.graph = branch(*attribute.graph, call, names);
        attributes.push_back(std::move(attribute));
      } else if (const OnnxAttribute* const value = referred(attribute.reference, call)) {
        attributes.push_back(*value);
        attributes.back().name = attribute.name;
      }
    }
    node.attributes = std::move(attributes);
  }

  /// Returns the value that the caller or else the function itself gives to an attribute of the
  /// function, or null.
  static const OnnxAttribute* referred(const std::string& name, const Call& call) {
    if (const OnnxAttribute* const value = call.caller.find(name)) return value;
    const auto fallback = std::ranges::find(call.function.defaults, name, &OnnxAttribute::name);
    return fallback == call.function.defaults.end() ? nullptr : &*fallback;
  }

  /// Returns a branch of a node in a function with the names that the caller has for them. What the
  /// branch defines itself hides inputs and outputs of the function that are called the same.
  std::shared_ptr<const OnnxGraph> branch(const OnnxGraph& graph, const Call& call, Names names) {
    count_copied(names.size());
    for (const OnnxValueInfo& input : graph.inputs) names.erase(input.name);
    for (const auto& initializer : graph.initializers) names.erase(initializer->name);
    for (const OnnxNode& node : graph.nodes) {
      count_copied(1 + node.inputs.size() + node.outputs.size());
      for (const std::string& output : node.outputs) names.erase(output);
    }
    auto renamed = std::make_shared<OnnxGraph>(graph);
    for (OnnxValueInfo& input : renamed->inputs) rename(input.name, call, names);
    for (OnnxValueInfo& output : renamed->outputs) rename(output.name, call, names);
    for (std::shared_ptr<const OnnxTensor>& initializer : renamed->initializers) {
      count_copied(1 + initializer->floats.size() + initializer->doubles.size() +
                   initializer->integers.size());
      auto tensor = std::make_shared<OnnxTensor>(*initializer);
      rename(tensor->name, call, names);
      initializer = std::move(tensor);
    }
    for (OnnxNode& node : renamed->nodes) write_out(node, call, names);
    return renamed;
  }

  /// Counts names, nodes and elements of which a branch has copies of its own.
  void count_copied(std::size_t count) {
    copied_ += count;
    if (copied_ > most_copied) corrupt("functions have more in branches than can be imported");
  }

  const OnnxFile& file_;
  std::size_t calls_ = 0, copied_ = 0;
  std::vector<OnnxNode> nodes_;
};

/// Names the first dimensions that the file leaves open without a name, as some exporters write
/// that of the samples. A negative size leaves a dimension open, too. Returns the names of the
/// inputs that have such a dimension.
std::set<std::string> name_open_batch(std::vector<OnnxValueInfo>& inputs) {
  std::set<std::string> named;
  for (OnnxValueInfo& input : inputs) {
    if (!input.shape) continue;
    for (OnnxDim& dim : *input.shape)
      if (dim.size && *dim.size < 0) dim.size.reset();
    if (input.shape->empty()) continue;
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

GraphPlan plan_graph(const OnnxFile& file, const std::filesystem::path& directory) {
  GraphPlan plan{.opset = opset_of(file)};
  if (file.graph.has_sparse_initializers)
    throw Error(Errc::unsupported, "the graph has sparse initializers");
  std::vector<OnnxNode> nodes = written_out(file);
  list_captures(nodes);
  check_version(plan.opset, nodes);
  check_names(file.graph, nodes);
  plan.nodes = needed(file.graph, std::move(nodes));
  check_operators(plan.nodes);
  std::set<std::string> initializers;
  for (const auto& initializer : file.graph.initializers) initializers.insert(initializer->name);
  for (const OnnxValueInfo& input : file.graph.inputs)
    if (!initializers.contains(input.name)) plan.inputs.push_back(input);
  plan.guessed_batches = name_open_batch(plan.inputs);
  if (plan.inputs.size() > most_inputs)
    throw Error(Errc::unsupported, "more than " + std::to_string(most_inputs) + " inputs");
  plan.initializers = read_initializers(file.graph, plan.nodes, directory);
  std::set<std::string> outputs;
  for (const OnnxValueInfo& output : file.graph.outputs) outputs.insert(output.name);
  plan.patterns = find_patterns(plan.nodes, outputs, initializers);
  return plan;
}

}  // namespace penstock
