#include "engine/fit/first_not_finite.hpp"

#include <algorithm>
#include <cmath>

#include "engine/fit/best_epoch.hpp"
#include "engine/fit/fields.hpp"
#include "engine/model/model_access.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/network/model_form.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// A Place is the place of the first number of a tensor, or of a part of it, that is not finite.
struct Place {
  std::size_t element = 0;
  float number = 0;
};

std::optional<Place> first_place(std::span<const float> numbers) {
  const auto found =
      std::ranges::find_if(numbers, [](float number) { return !std::isfinite(number); });
  if (found == numbers.end()) return std::nullopt;
  return Place{static_cast<std::size_t>(found - numbers.begin()), *found};
}

/// Returns "inf", "-inf" or "nan", whose sign says nothing.
std::string text_of_number(float number) {
  return std::isnan(number) ? "nan" : number_text(number);
}

std::string text_of(const Place& place) {
  return text_of_number(place.number) + " as element " + std::to_string(place.element);
}

/// Probes are the tensors of a training that are looked at.
struct Probes {
  std::vector<std::string> layers;      // These are in the order of the forward.
  std::vector<std::string> parameters;  // These are in the order in which the layers declare them.
  std::vector<std::string> texts;       // These name the layers, such as `conv2d "conv2"`.
};

/// Returns which values of `graph` its loss depends on.
std::vector<bool> leading_to_loss(const graph::Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  needed[graph::index(graph::final_loss(graph))] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_needed = [&](graph::ValueId id) { return needed[graph::index(id)]; };
    if (!std::ranges::any_of(node->outputs, is_needed)) continue;
    for (const graph::ValueId input : node->inputs)
      if (input != graph::none) needed[graph::index(input)] = true;
  }
  return needed;
}

Probes probes_of(const graph::Graph& graph) {
  const std::vector<bool> needed = leading_to_loss(graph);
  Probes probes;
  for (const graph::Node& node : graph.nodes) {
    const graph::ValueId output = node.outputs.front();
    if (!needed[graph::index(output)] || graph.type(output).dtype != DType::f32) continue;
    probes.layers.push_back(graph.value(output).name);
    probes.texts.push_back(graph::to_string(node));
  }
  for (const graph::Variable& variable : graph.variables)
    if (const graph::Value& value = graph.value(variable.value);
        value.kind == graph::ValueKind::parameter && !variable.frozen &&
        needed[graph::index(variable.value)])
      probes.parameters.push_back(value.name);
  return probes;
}

/// Returns the options of a training that makes one update at a time, computes what a training with
/// `options` computes, and returns what is probed.
Options probing(Options options, const Probes& probes) {
  options.device_iterations = 1;
  options.output = {.mode = OutputMode::all};
  for (const std::string& layer : probes.layers)
    options.output.anchors.push_back({.name = "output of " + layer, .tensor = layer});
  for (const std::string& parameter : probes.parameters)
    options.output.anchors.push_back(
        {.name = "gradient of " + parameter, .tensor = parameter, .gradient = true});
  options.runtime.trace = false;
  options.runtime.monitor = false;
  options.runtime.log = {};
  options.runtime.log_level = LogLevel::off;
  options.runtime.compile_progress = {};
  return options;
}

/// Returns the part of an anchor, which has one for each of `count` micro-batches, that belongs to
/// micro-batch number `position`.
std::span<const float> of_micro_batch(const Tensor& anchor, std::int64_t position,
                                      std::int64_t count) {
  const auto numbers = anchor.as<float>();
  const std::size_t each = numbers.size() / static_cast<std::size_t>(count);
  return numbers.subspan(static_cast<std::size_t>(position) * each, each);
}

/// Returns a text on the first layer or gradient that is not finite in `result`, which is that of
/// one update, or nothing if all are.
std::optional<std::string> first_in(const StepResult& result, const Probes& probes) {
  const std::size_t layers = probes.layers.size();
  const std::int64_t count = result.rows.micro_batches.count + result.rows.shorter.count;
  for (std::int64_t position = 0; position < count; ++position)
    for (std::size_t i = 0; i < layers; ++i)
      if (const auto place = first_place(of_micro_batch(result.anchors[i].tensor, position, count)))
        return "the first output that is not finite is that of " + probes.texts[i] +
               " in micro-batch " + std::to_string(position) + ", which has " + text_of(*place);
  for (std::int64_t position = 0; position < count; ++position)
    for (std::size_t i = result.anchors.size(); i > layers; --i)
      if (const auto place =
              first_place(of_micro_batch(result.anchors[i - 1].tensor, position, count)))
        return "all outputs are finite, and the first gradient that is not finite is that of "
               "parameter " +
               quoted_text(probes.parameters[i - 1 - layers]) + " in micro-batch " +
               std::to_string(position) + ", which has " + text_of(*place);
  return std::nullopt;
}

/// Returns a text on the first number that is not finite in the updates of `probe`, which begins at
/// the begin of the step.
std::string first_of_step(TrainingModel& probe, const Model& model,
                          const std::vector<Tensor>& inputs, const Probes& probes) {
  std::optional<std::string> found;
  std::int64_t update = 0;
  in_runs(inputs, inputs.front().shape()[0], probe.options().samples_per_step(),
          [&](const std::vector<Tensor>& part) {
            if (found) return;
            found = first_in(probe.step(part), probes);
            if (!found)
              if (const auto weight = not_finite(weights_of(model)))
                found = "all outputs and gradients are finite, but after the update " + *weight;
            if (found) *found = "in update " + std::to_string(update) + " of the step, " + *found;
            ++update;
          });
  return found.value_or(
      "the step is finite if it is computed once more, so a callback or a layer of the host's "
      "may have made the number");
}

}  // namespace

std::optional<std::string> not_finite(const std::vector<NamedTensor>& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.dtype() != DType::f32) continue;
    if (const auto place = first_place(tensor.as<float>()))
      return "element " + std::to_string(place->element) + " of " + quoted_text(name) + " is " +
             text_of_number(place->number);
  }
  return std::nullopt;
}

std::string first_not_finite(const TrainingModel& training, const StepStart& start) {
  const Model model = ModelAccess::trained(training);
  const Objective& objective = ModelAccess::objective(training);
  const Probes probes = probes_of(ModelAccess::graph_of(model, objective));
  const std::vector<NamedTensor> after = weights_of(model);
  const auto set = [&](const std::vector<NamedTensor>& weights) {
    ModelAccess::set_weights(model, "first_not_finite", weights);
  };
  std::string found;
  try {
    set(start.weights);
    TrainingModel probe(model, probing(training.options(), probes), training.optimizer(),
                        objective);
    probe.set_optimizer_state(start.optimizer_state);
    found = first_of_step(probe, model, start.inputs, probes);
  } catch (...) {
    set(after);
    throw;
  }
  set(after);
  return found;
}

}  // namespace penstock
