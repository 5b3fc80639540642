#include "engine/onnx/import/import_attempt.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/names/name_pattern.hpp"
#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/branches.hpp"
#include "engine/onnx/import/folded_node.hpp"
#include "engine/onnx/import/node_import.hpp"
#include "engine/onnx/import/pattern_layers.hpp"
#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

Dims value_sample(Dims dims, const Placement& placement) {
  if (!placement.whole) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(placement.axis));
  return dims;
}

std::string described(const OnnxNode& node) {
  return operator_name(node) + " " + quoted_text(layer_name(node));
}

/// Returns the cause for which a node is refused: what a layer of the model refuses about its
/// inputs and attributes, the file has.
Errc code_of(const Error& error) {
  switch (error.code()) {
    case Errc::shape_mismatch:
    case Errc::invalid_argument:
    case Errc::invalid_model:
      return Errc::corrupt_file;
    default:
      return error.code();
  }
}

/// Checks the dimensions of an input. @throws Error corrupt_file as checked_shape().
void check_dims(const std::string& input, const Dims& dims) {
  try {
    checked_shape(dims);
  } catch (const Error& error) {
    throw Error(error.code(), "input " + quoted_text(input) + ": " + error.what());
  }
}

/// The NamesOfBranch are those of the tensors that a branch computes. They are forgotten with the
/// NamesOfBranch at the latest, also if an error ends the branch.
class NamesOfBranch {
 public:
  explicit NamesOfBranch(std::map<std::string, Imported>& values) : values_(values) {}
  ~NamesOfBranch() { forget(); }
  NamesOfBranch(const NamesOfBranch&) = delete;
  NamesOfBranch& operator=(const NamesOfBranch&) = delete;

  void add(const std::string& name) { names_.insert(name); }
  void forget() {
    for (const std::string& name : names_) values_.erase(name);
    names_.clear();
  }

 private:
  std::map<std::string, Imported>& values_;
  std::set<std::string> names_;
};

}  // namespace

ImportAttempt::ImportAttempt(const ImportRequest& request, const GraphPlan& plan,
                             TensorReader& reader, const SampleAxis& axis,
                             const std::set<std::string>& known_inputs)
    : file_(request.file),
      plan_(plan),
      options_(request.options),
      axis_(axis),
      known_inputs_(known_inputs),
      reader_(reader),
      network_(Model(file_.graph.name.empty() ? "onnx" : file_.graph.name), axis.samples,
               request.is_run),
      result_{.model = network_.model()} {}

ImportedGraph ImportAttempt::import() {
  walk();
  return std::move(result_);
}

void ImportAttempt::look_through(ImportSurvey& survey) {
  survey_ = &survey;
  walk();
}

void ImportAttempt::walk() {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const std::string& name = plan_.inputs[i].name;
    if (!for_tensor("input " + quoted_text(name), [&] { add_input(i); })) values_[name] = {};
  }
  for (const ReadInitializer& initializer : plan_.initializers) {
    if (initializer.refusal && survey_) {
      survey_->add(initializer, *initializer.refusal);
      values_[initializer.name] = {};
    } else {
      add_initializer(initializer);
    }
  }
  add_nodes();
  network_.name_nodes("");
  for (const OnnxValueInfo& output : file_.graph.outputs)
    if (!is_unknown(output.name))
      for_tensor("output " + quoted_text(output.name), [&] { add_output(output); });
}

void ImportAttempt::add_input(std::size_t number) {
  const OnnxValueInfo& input = plan_.inputs[number];
  if (known_inputs_.contains(input.name)) {
    const auto option = std::ranges::find(options_.inputs, input.name, &NamedTensor::name);
    check_dims(input.name, dims_of(option->tensor.shape()));
    Imported& x = values_[input.name] = NetworkImport::constant(option->tensor, input.type);
    x.is_of_file = true;
    return;
  }
  const Dims dims = dims_of_input(input, options_, axis_);
  check_dims(input.name, dims);
  const std::optional<Placement> placement = axis_.placement_of(input);
  if (!placement)
    throw NeededInputs{Sources(plan_.inputs, number), "it has no axis for samples, unlike others"};
  if (std::ranges::find(dims, 0) != dims.end())
    throw NeededInputs{Sources(plan_.inputs, number), "it has no element"};
  Dims sample = value_sample(dims, *placement);
  Imported& x = values_[input.name] = network_.input(input.name, input.type, sample, *placement);
  x.sources = Sources(plan_.inputs, number);
  result_.inputs.push_back(
      {.name = input.name, .type = input.type, .placement = *placement, .dims = dims});
}

void ImportAttempt::add_initializer(const ReadInitializer& initializer) {
  if (initializer.refusal) throw *initializer.refusal;
  Imported x = NetworkImport::constant(initializer.tensor, initializer.type);
  x.name = initializer.name;
  x.is_of_file = true;
  x.trainable = is_trainable(initializer.tensor, initializer.name);
  values_[initializer.name] = std::move(x);
}

/// Returns whether a tensor becomes a parameter. Only a pattern that is its name makes one of a
/// scalar or of a buffer.
bool ImportAttempt::is_trainable(const Tensor& tensor, const std::string& name) const {
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

void ImportAttempt::add_nodes() {
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
void ImportAttempt::add_pattern(const Pattern& pattern) {
  const OnnxNode& layer = pattern.layer;
  network_.name_nodes(layer_name(layer));
  const bool is_complete = !has_unknown_inputs(layer);
  std::vector<Imported> outputs;
  const bool is_taken = is_complete && for_node(layer, [&] {
                          NodeImport call(network_, layer, plan_.opset, inputs_of(layer));
                          outputs = find_pattern_import(layer.op_type)(call);
                        });
  if (is_complete && !is_taken) return;
  if (!outputs.empty())
    values_[layer.outputs[0]] = std::move(outputs[0]);
  else
    for (const std::size_t position : pattern.nodes) add_node(plan_.nodes[position]);
}

/// Returns what the inputs of a node stand for, without those at the end that are left out.
std::vector<Imported*> ImportAttempt::inputs_of(const OnnxNode& node) {
  std::vector<Imported*> inputs;
  for (const std::string& name : node.inputs)
    inputs.push_back(name.empty() ? nullptr : &values_.at(name));
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return inputs;
}

/// Returns whether a refused node, input or initializer would give this tensor.
bool ImportAttempt::is_unknown(const std::string& name) const {
  if (name.empty()) return false;
  const Imported& x = values_.at(name);
  return !x.is_known() && !x.value;
}

/// Returns whether a node reads what is unknown. The branches of a node If see for themselves.
bool ImportAttempt::has_unknown_inputs(const OnnxNode& node) const {
  const std::size_t count = node.op_type == if_operator
                                ? std::min<std::size_t>(1, node.inputs.size())
                                : node.inputs.size();
  return std::any_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const std::string& name) { return is_unknown(name); });
}

void ImportAttempt::forget_outputs(const OnnxNode& node) {
  for (const std::string& output : node.outputs)
    if (!output.empty()) values_[output] = {};
}

/// Adds the nodes of the branch that a node If takes, and gives its results to the node's
/// outputs. What a branch computes has names of its own, which other branches may have, too.
void ImportAttempt::add_branch(const OnnxNode& node) {
  const OnnxGraph& branch = branch_of(node, condition_of(node));
  if (branch.has_sparse_initializers)
    throw Error(Errc::unsupported, "the branch that it takes has sparse initializers");
  NamesOfBranch names(values_);
  for (const auto& tensor : branch.initializers) {
    check_is_new(tensor->name);
    names.add(tensor->name);
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
    for (const std::string& name : inner.outputs) names.add(name);
    add_node(inner);
  }
  std::vector<Imported> results;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const auto found = values_.find(branch.outputs[i].name);
    if (found == values_.end())
      corrupt("no node computes the output " + quoted_text(branch.outputs[i].name));
    results.push_back(found->second);
  }
  names.forget();
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) values_[node.outputs[i]] = std::move(results[i]);
}

/// Counts a tensor of a branch if tensors of other names have the same elements, as those of a
/// function have for each call: as parameters, each has elements of its own.
void ImportAttempt::count_repeated(const std::string& name, const Tensor& elements) {
  std::set<std::string>& names = names_in_branches_[elements.raw()];
  if (names.insert(name).second && names.size() > 1) copies_.add(elements.bytes());
}

void ImportAttempt::check_is_new(const std::string& name) const {
  if (!name.empty() && values_.contains(name))
    corrupt("a branch computes " + quoted_text(name) + ", which is there already");
}

/// Returns the condition of a node If, which has to be known.
bool ImportAttempt::condition_of(const OnnxNode& node) {
  if (node.inputs.empty() || node.inputs[0].empty()) corrupt("expected a condition, got none");
  const Imported& condition = values_.at(node.inputs[0]);
  if (!condition.is_known()) {
    const std::string text = "the condition has to be known when the model is imported";
    if (condition.sources.is_empty())
      throw Error(Errc::unsupported, text + ", and depends on parameters");
    throw NeededInputs{condition.sources, text};
  }
  const Tensor& tensor = NetworkImport::settled(condition);
  if (tensor.dtype() != DType::boolean || tensor.elements() != 1)
    corrupt("expected one bool as the condition");
  return tensor.as<bool>()[0];
}

void ImportAttempt::add_node(const OnnxNode& node) {
  if (is_supported(node) && has_unknown_inputs(node)) return forget_outputs(node);
  network_.name_nodes(layer_name(node));
  for_node(node, [&] {
    if (!is_supported(node)) throw Error(Errc::unsupported, "Penstock does not have this operator");
    if (node.op_type == if_operator)
      add_branch(node);
    else
      add_outputs_of(node);
  });
}

void ImportAttempt::add_outputs_of(const OnnxNode& node) {
  std::vector<Imported> outputs = outputs_of(node, inputs_of(node));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= outputs.size())
      throw Error(Errc::unsupported,
                  "its output number " + std::to_string(i) + " has no counterpart");
    values_[node.outputs[i]] = std::move(outputs[i]);
  }
}

/// Calls `work`, which adds a node, and returns true. What it throws gets the name of the node in
/// front of its text or, if there is a survey, goes to the survey; then the outputs of the node are
/// unknown, and the result is false.
template <class Work>
bool ImportAttempt::for_node(const OnnxNode& node, const Work& work) {
  try {
    work();
    return true;
  } catch (const TooMuchComputed& limit) {
    if (!survey_) throw TooMuchComputed(limit.code(), described(node) + ": " + limit.what());
    survey_->add(node, limit);
  } catch (const Error& error) {
    if (!survey_) throw Error(code_of(error), described(node) + ": " + error.what());
    survey_->add(node, error);
  } catch (const NeededInputs& needed) {
    if (!survey_) throw;
    survey_->add(node, needed);
  } catch (const MixedSamples& mixed) {
    if (!survey_) throw;
    survey_->add(node, mixed);
  }
  forget_outputs(node);
  return false;
}

/// Calls `work`, which adds an input or an output, and returns true. If there is a survey, what it
/// throws goes to the survey, and the result is false.
template <class Work>
bool ImportAttempt::for_tensor(const std::string& description, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (!survey_) throw;
    if (error.code() == Errc::unsupported) survey_->add(error.what());
  } catch (const NeededInputs& needed) {
    if (!survey_) throw;
    survey_->need(needed.sources);
    survey_->add(description + ": " + text_of(needed));
  } catch (const MixedSamples& mixed) {
    if (!survey_) throw;
    survey_->add(description + ": " + mixed.text);
  }
  survey_->doubt();
  return false;
}

std::vector<Imported> ImportAttempt::outputs_of(const OnnxNode& node,
                                                const std::vector<Imported*>& inputs) {
  const auto is_known = [](const Imported* x) { return !x || (x->is_known() && !x->trainable); };
  if (std::ranges::all_of(inputs, is_known))
    if (std::vector<Imported> folded =
            folded_outputs(node, inputs, reader_, network_.computed_count());
        !folded.empty())
      return folded;
  const OnnxOperator* const op = find_operator(node.op_type);
  if (!op) {
    const std::string text = "what it computes has to be known when the model is imported";
    const Sources sources = Sources::of({inputs.begin(), inputs.end()});
    if (sources.is_empty()) throw Error(Errc::unsupported, text);
    throw NeededInputs{sources, text};
  }
  NodeImport call(network_, node, plan_.opset, inputs);
  return op->import(call);
}

void ImportAttempt::add_output(const OnnxValueInfo& output) {
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

}  // namespace penstock
