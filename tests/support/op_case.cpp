#include "tests/support/op_case.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "graph/ops/list.hpp"
#include "tests/support/tape.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

graph::AttributeValue attribute(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return value.get<std::vector<std::int64_t>>();
  if (value.is_number_float()) return value.get<double>();
  return value.get<std::int64_t>();
}

class CaseRun {
 public:
  CaseRun(std::string prefix, const NamedTensors& tensors)
      : prefix_(std::move(prefix)), tensors_(tensors) {}

  void apply(const json& step) {
    std::vector<graph::ValueId> inputs;
    for (const std::string input : step.at("inputs")) inputs.push_back(value(input));
    graph::Attributes attributes;
    for (const auto& [name, value] : step.at("attributes").items())
      attributes.set(name, attribute(value));
    const auto outputs =
        tape_.apply(graph::find_op(step.at("op").get<std::string>()), inputs, attributes);
    std::size_t i = 0;
    for (const std::string output : step.at("outputs")) values_[output] = outputs.at(i++);
  }

  void send_back_gradient_of(const std::string& result) {
    const graph::ValueId id = values_.at(result);
    tape_.backward(id, tensors_.at(prefix_ + "gradient").reshaped(tape_[id].shape()));
  }

  Tensor result(const std::string& name) const { return tape_[values_.at(name)]; }
  Tensor gradient(const std::string& input) const {
    const Tensor& found = tape_.gradient(values_.at(input));
    return found ? found : Tensor::zeros(DType::f32, tape_[values_.at(input)].shape());
  }

 private:
  /// Returns the value called `name`, which a step has computed; failing that, the input of the
  /// case with that name.
  graph::ValueId value(const std::string& name) {
    const auto [at, is_new] = values_.try_emplace(name, graph::none);
    if (is_new) at->second = tape_.leaf(tensors_.at(prefix_ + name));
    return at->second;
  }

  std::string prefix_;
  const NamedTensors& tensors_;
  Tape tape_;
  std::map<std::string, graph::ValueId> values_;
};

}  // namespace

NamedTensors compute_op_case(const std::string& name, const std::string& description,
                             const NamedTensors& tensors) {
  const json op_case = json::parse(description);
  CaseRun run(name + ".", tensors);
  for (const json& step : op_case.at("steps")) run.apply(step);
  const json& results = op_case.at("results");
  run.send_back_gradient_of(results.at(0));
  NamedTensors found;
  for (const std::string result : results) found[name + "." + result] = run.result(result);
  for (const std::string input : op_case.at("gradients"))
    found[name + ".gradient." + input] = run.gradient(input);
  return found;
}

}  // namespace penstock::testing
