#include "engine/onnx/import/import_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/names/name_pattern.hpp"
#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/branches.hpp"
#include "engine/onnx/import/check_options.hpp"
#include "engine/onnx/import/copy_count.hpp"
#include "engine/onnx/import/graph_plan.hpp"
#include "engine/onnx/import/node_import.hpp"
#include "engine/onnx/import/pattern_layers.hpp"
#include "engine/onnx/import/sample_axis.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A GraphImport is one attempt to import a graph, with one choice of the axis that counts samples.
class GraphImport {
 public:
  GraphImport(const ImportRequest& request, const GraphPlan& plan, TensorReader& reader,
              const SampleAxis& axis, const std::set<std::string>& known_inputs)
      : file_(request.file),
        plan_(plan),
        options_(request.options),
        axis_(axis),
        known_inputs_(known_inputs),
        reader_(reader),
        network_(Model(file_.graph.name.empty() ? "onnx" : file_.graph.name), axis.samples,
                 request.is_run),
        result_{.model = network_.model()} {}

  ImportedGraph import() {
    for (const OnnxValueInfo& input : plan_.inputs) add_input(input);
    for (const ReadInitializer& initializer : plan_.initializers) add_initializer(initializer);
    add_nodes();
    network_.name_nodes("");
    for (const OnnxValueInfo& output : file_.graph.outputs) add_output(output);
    return std::move(result_);
  }

 private:
  void add_input(const OnnxValueInfo& input) {
    if (known_inputs_.contains(input.name)) {
      const auto given = std::ranges::find(options_.inputs, input.name, &NamedTensor::name);
      values_[input.name] = NetworkImport::constant(given->tensor, input.type);
      return;
    }
    const Dims dims = dims_of_input(input, options_, axis_);
    const std::optional<Placement> placement = axis_.placement_of(input);
    if (!placement)
      throw NeededInputs{{input.name}, "an input has no axis for samples, unlike others"};
    if (std::ranges::find(dims, 0) != dims.end())
      throw NeededInputs{{input.name}, "an input has no element"};
    Dims sample = value_sample(dims, *placement);
    values_[input.name] = network_.input(input.name, input.type, sample, *placement);
    result_.inputs.push_back(
        {.name = input.name, .type = input.type, .placement = *placement, .dims = dims});
  }

  static Dims value_sample(Dims dims, const Placement& placement) {
    if (!placement.whole) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(placement.axis));
    return dims;
  }

  void add_initializer(const ReadInitializer& initializer) {
    Imported x = NetworkImport::constant(initializer.tensor, initializer.type);
    x.name = initializer.name;
    x.trainable = is_trainable(initializer.tensor, initializer.name);
    values_[initializer.name] = std::move(x);
  }

  /// Returns whether a tensor becomes a parameter. Only a pattern that is its name makes one of a
  /// scalar or of a buffer.
  bool is_trainable(const Tensor& tensor, const std::string& name) const {
    if (tensor.dtype() != DType::f32 || tensor.elements() == 0) return false;
    const bool has_to_be_named = tensor.shape().rank() == 0 || file_.graph.buffers.contains(name);
    const auto makes_parameter = [&](const std::string& pattern) {
      return has_to_be_named ? pattern == name : matches(pattern, name);
    };
    const auto makes_constant = [&](const std::string& pattern) { return matches(pattern, name); };
    return std::ranges::any_of(options_.parameters, makes_parameter) &&
           std::ranges::none_of(options_.constants, makes_constant) &&
           std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
  }

  void add_nodes() {
    std::map<std::size_t, const Pattern*> patterns;
    std::set<std::size_t> in_patterns;
    for (const Pattern& pattern : plan_.patterns) {
      patterns[pattern.nodes.back()] = &pattern;
      in_patterns.insert(pattern.nodes.begin(), pattern.nodes.end());
    }
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (const auto pattern = patterns.find(i); pattern != patterns.end())
        add_pattern(*pattern->second);
      else if (!in_patterns.contains(i))
        add_node(plan_.nodes[i]);
    }
  }

  /// Adds the layer that a pattern stands for or, if it is none, the nodes of the pattern.
  void add_pattern(const Pattern& pattern) {
    const OnnxNode& layer = pattern.layer;
    network_.name_nodes(layer_name(layer));
    const std::vector<Imported*> inputs = inputs_of(layer);
    std::vector<Imported> outputs;
    described_as(layer, [&] {
      NodeImport call(network_, layer, plan_.opset, inputs);
      outputs = find_pattern_import(layer.op_type)(call);
    });
    if (!outputs.empty())
      values_[layer.outputs[0]] = std::move(outputs[0]);
    else
      for (const std::size_t position : pattern.nodes) add_node(plan_.nodes[position]);
  }

  /// Returns what the inputs of a node stand for, without those at the end that are left out.
  std::vector<Imported*> inputs_of(const OnnxNode& node) {
    std::vector<Imported*> inputs;
    for (const std::string& name : node.inputs)
      inputs.push_back(name.empty() ? nullptr : &values_.at(name));
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    return inputs;
  }

  /// Adds the nodes of the branch that a node If takes, and gives its results to the node's
  /// outputs. What a branch computes has names of its own, which other branches may have, too.
  void add_branch(const OnnxNode& node) {
    const OnnxGraph& branch = branch_of(node, condition_of(node));
    check_operators(branch.nodes);
    if (branch.has_sparse_initializers)
      throw Error(Errc::unsupported, "a branch has sparse initializers");
    std::set<std::string> own;
    for (const auto& tensor : branch.initializers) {
      check_is_new(tensor->name);
      own.insert(tensor->name);
      const Tensor elements = reader_.read(*tensor);
      count_repeated(tensor->name, elements);
      add_initializer({tensor->name, tensor->type, elements});
    }
    for (const OnnxNode& inner : branch.nodes) copies_.add(inner);
    std::vector<OnnxNode> nodes = branch.nodes;
    list_captures(nodes);
    for (const OnnxNode& inner : nodes) {
      for (const std::string& name : inner.inputs)
        if (!name.empty() && !values_.contains(name))
          corrupt("node " + quoted_text(layer_name(inner)) + " reads " + quoted_text(name) +
                  ", which no earlier node computes");
      for (const std::string& name : inner.outputs) check_is_new(name);
      own.insert(inner.outputs.begin(), inner.outputs.end());
      add_node(inner);
    }
    std::vector<Imported> results;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto found = values_.find(branch.outputs[i].name);
      if (found == values_.end())
        corrupt("no node computes the output " + quoted_text(branch.outputs[i].name));
      results.push_back(found->second);
    }
    for (const std::string& name : own) values_.erase(name);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty()) values_[node.outputs[i]] = std::move(results[i]);
  }

  /// Counts a tensor of a branch if tensors of other names have the same elements, as those of a
  /// function have for each call: as parameters, each has elements of its own.
  void count_repeated(const std::string& name, const Tensor& elements) {
    std::set<std::string>& names = names_in_branches_[elements.raw()];
    if (names.insert(name).second && names.size() > 1) copies_.add(elements.bytes());
  }

  void check_is_new(const std::string& name) const {
    if (!name.empty() && values_.contains(name))
      corrupt("a branch computes " + quoted_text(name) + ", which is there already");
  }

  /// Returns the condition of a node If, which has to be known.
  bool condition_of(const OnnxNode& node) {
    if (node.inputs.empty() || node.inputs[0].empty()) corrupt("expected a condition, got none");
    const Imported& condition = values_.at(node.inputs[0]);
    if (!condition.is_known()) {
      const std::string text = "the condition has to be known when the model is imported";
      if (condition.sources.empty())
        throw Error(Errc::unsupported, text + ", and depends on parameters");
      throw NeededInputs{condition.sources, text};
    }
    const Tensor& tensor = NetworkImport::settled(condition);
    if (tensor.dtype() != DType::boolean || tensor.elements() != 1)
      corrupt("expected one bool as the condition");
    return tensor.as<bool>()[0];
  }

  void add_node(const OnnxNode& node) {
    if (node.op_type == if_operator) return described_as(node, [&] { add_branch(node); });
    network_.name_nodes(layer_name(node));
    const std::vector<Imported*> inputs = inputs_of(node);
    std::vector<Imported> outputs;
    described_as(node, [&] { outputs = outputs_of(node, inputs); });
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (i >= outputs.size())
        throw Error(Errc::unsupported,
                    described(node) + ": output " + std::to_string(i) + " is not supported");
      values_[node.outputs[i]] = std::move(outputs[i]);
    }
  }

  /// Calls `work`. What it throws gets the name of the node in front of its text.
  template <class Work>
  static void described_as(const OnnxNode& node, const Work& work) try {
    work();
  } catch (const Error& error) {
    throw Error(error.code(), described(node) + ": " + error.what());
  } catch (NeededInputs& needed) {
    needed.text = described(node) + ": " + needed.text;
    throw;
  } catch (MixedSamples& mixed) {
    mixed.text = described(node) + ": " + mixed.text;
    throw;
  }

  static std::string described(const OnnxNode& node) {
    return operator_name(node) + " " + quoted_text(layer_name(node));
  }

  std::vector<Imported> outputs_of(const OnnxNode& node, const std::vector<Imported*>& inputs) {
    const auto is_known = [](const Imported* x) { return !x || (x->is_known() && !x->trainable); };
    if (std::ranges::all_of(inputs, is_known))
      if (std::vector<Imported> folded = folded_outputs(node, inputs); !folded.empty())
        return folded;
    const OnnxOperator* const op = find_operator(node.op_type);
    if (!op) {
      NeededInputs needed{{}, "a form of the operator that is not folded"};
      for (const Imported* x : inputs)
        if (x) needed.names.insert(x->sources.begin(), x->sources.end());
      if (needed.names.empty()) throw Error(Errc::unsupported, needed.text);
      throw needed;
    }
    NodeImport call(network_, node, plan_.opset, inputs);
    return op->import(call);
  }

  std::vector<Imported> folded_outputs(const OnnxNode& node, const std::vector<Imported*>& inputs) {
    const bool is_constant =
        std::ranges::all_of(inputs, [](const Imported* x) { return !x || x->is_constant(); });
    std::vector<Imported> outputs;
    for (std::size_t probe = 0; probe < (is_constant ? 1 : probes); ++probe) {
      std::vector<Tensor> tensors;
      for (const Imported* x : inputs) tensors.push_back(x ? x->known[probe] : Tensor());
      const std::vector<Tensor> results =
          fold({.node = node, .inputs = tensors, .reader = reader_});
      for (const std::vector<Tensor>* const all : {&results, &std::as_const(tensors)})
        for (const Tensor& tensor : *all) folded_elements_ += tensor ? tensor.elements() : 0;
      if (folded_elements_ > most_folded_in_all)
        throw Error(Errc::unsupported, "what is known at import has more than " +
                                           std::to_string(most_folded_in_all) + " elements");
      outputs.resize(results.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        outputs[i].known[probe] = results[i];
        if (is_constant) outputs[i].known[1] = results[i];
        outputs[i].type = type_of(node, results[i], inputs);
      }
    }
    return outputs;
  }

  /// Returns the type in ONNX of what a node has folded to.
  static OnnxType type_of(const OnnxNode& node, const Tensor& result,
                          const std::vector<Imported*>& inputs) {
    if (node.op_type == "Cast")
      if (const OnnxAttribute* const to = node.find("to"); to && to->integer)
        return static_cast<OnnxType>(*to->integer);
    for (const Imported* x : inputs)
      if (x && dtype_of_onnx(x->type) == result.dtype()) return x->type;
    return onnx_type_of(result.dtype());
  }

  void add_output(const OnnxValueInfo& output) {
    Imported& x = values_.at(output.name);
    ImportedOutput made{.name = output.name, .type = x.type, .placement = x.placement};
    if (x.is_known() && !x.trainable) {
      made.known = NetworkImport::settled(x);
      result_.outputs.push_back(made);
      return;
    }
    Value value = x.is_known() ? network_.value(x) : x.value;
    if (!network_.is_computed(value)) value = network_.apply(graph::identity, {value});
    network_.model().output(output.name, value);
    result_.outputs.push_back(made);
  }

  const OnnxFile& file_;
  const GraphPlan& plan_;
  const OnnxOptions& options_;
  const SampleAxis& axis_;
  const std::set<std::string>& known_inputs_;
  TensorReader& reader_;
  CopyCount copies_;                  // This counts the nodes and the elements of branches.
  std::int64_t folded_elements_ = 0;  // Nodes have folded to this many elements so far.
  NetworkImport network_;
  ImportedGraph result_;
  std::map<std::string, Imported> values_;
  // These are the names of the tensors in branches that have the same elements.
  std::map<const std::byte*, std::set<std::string>> names_in_branches_;
};

/// Imports a graph with one choice of the axis that counts samples. If operators need to know
/// inputs, those that the options have become constants if `may_know` says so.
ImportedGraph attempt(const ImportRequest& request, const GraphPlan& plan, TensorReader& reader,
                      const SampleAxis& axis, bool may_know) {
  const std::vector<NamedTensor>& given = request.options.inputs;
  std::set<std::string> known;
  for (;;) {
    try {
      return GraphImport(request, plan, reader, axis, known).import();
    } catch (const NeededInputs& needed) {
      const std::size_t before = known.size();
      for (const std::string& name : needed.names)
        if (std::ranges::find(given, name, &NamedTensor::name) != given.end()) known.insert(name);
      if (!may_know || known.size() == before) throw;
    }
  }
}

std::string text_of(const NeededInputs& needed) {
  return needed.text + "; OnnxOptions::inputs may give the value of " +
         joined(needed.names, quoted_text);
}

}  // namespace

ImportedGraph import_graph(const ImportRequest& request) {
  TensorReader reader(request.directory);
  const GraphPlan plan = plan_graph(request.file, reader);
  check_options(plan, request.options, request.is_run);
  const bool has_values = !request.options.inputs.empty();
  std::optional<Error> refusal;
  const auto refuse = [&](Errc code, const std::string& text) {
    if (!refusal) refusal.emplace(code, text);
  };
  for (const bool may_know : {false, true}) {
    for (const SampleAxis& axis : sample_axes(plan.inputs, request.options, request.is_run)) try {
        return attempt(request, plan, reader, axis, may_know);
      } catch (const MixedSamples& mixed) {
        refuse(Errc::unsupported, mixed.text);
      } catch (const NeededInputs& needed) {
        if (may_know || !has_values) refuse(Errc::unsupported, text_of(needed));
      } catch (const Error& error) {
        // The last choice is that no axis counts samples. What refused the others is the cause.
        if (!axis.whole || !refusal) throw;
      }
    if (!has_values) break;
  }
  throw *refusal;
}

}  // namespace penstock
