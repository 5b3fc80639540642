// These functions of RunningModel read and set the buffers of single replicas.
#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/names/known_names.hpp"
#include "engine/running_model.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

std::size_t RunningModel::buffer_position(const std::string& name) const {
  const auto& variables = plan_->variables;
  const auto found = std::ranges::find(variables, name, &graph::VariableInfo::name);
  const std::vector<std::string> parameters = parameter_names();
  const auto is_parameter = [&](const graph::VariableInfo& variable) {
    return std::ranges::count(parameters, variable.name) > 0;
  };
  if (found == variables.end()) {
    std::vector<std::string_view> buffers;
    for (const graph::VariableInfo& variable : variables)
      if (!is_parameter(variable)) buffers.push_back(variable.name);
    throw Error(Errc::invalid_argument,
                "there is no buffer named " + quoted_text(name) + instead_of(name, buffers));
  }
  if (is_parameter(*found))
    throw Error(Errc::invalid_argument, "buffer " + quoted_text(name) +
                                            ": is a parameter, the same in every replica; "
                                            "Model::weight reads it");
  return static_cast<std::size_t>(found - variables.begin());
}

Tensor RunningModel::read_buffer(const std::string& name, int replica, int replicas) {
  // What the replicas have made of their buffers is on the IPUs of the plan that has trained last,
  // which may be one for calls of another length.
  RunningModel& last = *state_holder();
  if (&last != this && last.replicas() == replicas && last.held_version_ == weights_->version())
    return last.read_buffer(name, replica, replicas);
  const std::size_t position = buffer_position(name);
  check_number("replica", replica, {.low = 0, .high = static_cast<double>(replicas - 1)});
  attach();
  if (held_version_ != weights_->version()) upload_weights();
  const auto read = ask([&](auto& actors) { return actors.read_variables(replica); });
  return read[position];
}

std::vector<NamedTensor> RunningModel::replica_buffers(int replica) {
  for (RunningModel* const plan : {state_holder(), this}) {
    if (!plan->runtime_ || plan->replicas() != replicas()) continue;
    if (plan->held_version_ != weights_->version()) continue;
    const auto read = plan->ask([&](auto& actors) { return actors.read_variables(replica); });
    const std::vector<std::string> parameters = parameter_names();
    std::vector<NamedTensor> buffers;
    for (std::size_t i = 0; i < read.size(); ++i)
      if (const std::string& name = plan->plan_->variables[i].name;
          std::ranges::count(parameters, name) == 0)
        buffers.push_back({name, read[i]});
    return buffers;
  }
  return {};
}

void RunningModel::set_replica_buffers(int replica, std::span<const NamedTensor> buffers) {
  attach();
  if (held_version_ != weights_->version()) upload_weights();
  auto values = ask([&](auto& actors) { return actors.read_variables(replica); });
  for (const auto& [name, tensor] : buffers) {
    Tensor& value = values[buffer_position(name)];
    if (!tensor || tensor.dtype() != value.dtype() || tensor.shape() != value.shape())
      throw Error(Errc::shape_mismatch, "buffer " + quoted_text(name) + " of replica " +
                                            std::to_string(replica) + ": expected " +
                                            to_string(value.shape()));
    value = tensor;
  }
  ask([&](auto& actors) { actors.write_variables(values, replica); });
}

}  // namespace penstock
