// These functions of RunningModel read and set the buffers of single replicas.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/names/known_names.hpp"
#include "engine/running_model.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

std::map<std::string_view, std::size_t> RunningModel::buffers() const {
  const std::vector<std::string> names = parameter_names();
  const std::set<std::string_view> parameters(names.begin(), names.end());
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < plan_->variables.size(); ++i)
    if (const std::string& name = plan_->variables[i].name; !parameters.contains(name))
      positions.emplace(name, i);
  return positions;
}

std::size_t RunningModel::buffer_position(const std::string& name) const {
  const auto known = buffers();
  if (const auto found = known.find(name); found != known.end()) return found->second;
  if (std::ranges::count(plan_->variables, name, &graph::VariableInfo::name) > 0)
    throw Error(Errc::invalid_argument, "buffer " + quoted_text(name) +
                                            ": is a parameter, the same in every replica; "
                                            "Model::weight reads it");
  std::vector<std::string_view> names;
  for (const graph::VariableInfo& variable : plan_->variables)
    if (known.contains(variable.name)) names.push_back(variable.name);
  throw Error(Errc::invalid_argument,
              "there is no buffer named " + quoted_text(name) + instead_of(name, names));
}

Tensor RunningModel::read_buffer(const std::string& name, int replica, int replicas) {
  // What the replicas have made of their buffers is on the IPUs of the plan that has trained last,
  // which may be one for calls of another length.
  RunningModel* const last = buffers_holder();
  if (last && last != this && last->replicas() == replicas && last->has_newest_buffers())
    return last->read_buffer(name, replica, replicas);
  const std::size_t position = buffer_position(name);
  check_number("replica", replica, {.low = 0, .high = static_cast<double>(replicas - 1)});
  // Actors that have failed can be read, but take no weights.
  if (held_version_ != weights_->version()) settle_failure();
  attach();
  if (held_version_ != weights_->version()) upload_weights();
  const auto read = ask([&](auto& actors) { return actors.read_variables(replica); });
  return read[position];
}

ReplicaBuffers RunningModel::replica_buffers() {
  RunningModel* const last = buffers_holder();
  if (!last || last->replicas() != replicas()) return {};
  if (!last->has_newest_buffers()) return {};
  if (!last->runtime_) return last->kept_buffers_;
  const auto known = last->buffers();
  ReplicaBuffers result{.length = last->length()};
  if (known.empty()) return result;
  for (int replica = 1; replica < static_cast<int>(replicas()); ++replica) {
    const auto read = last->ask([&](auto& actors) { return actors.read_variables(replica); });
    auto& of_replica = result.buffers.emplace_back();
    for (const auto& [name, position] : known)
      of_replica.push_back({std::string(name), read[position]});
  }
  return result;
}

void RunningModel::expect_buffers(std::span<const NamedTensor> of_replica) const {
  auto left = buffers();
  const auto refuse = [](const std::string& name, const std::string& what) {
    throw Error(Errc::shape_mismatch, "buffer " + quoted_text(name) + " of a replica: " + what);
  };
  for (const auto& [name, tensor] : of_replica) {
    const auto known = left.extract(name);
    if (!known) refuse(name, "is none of the model's, or is there twice");
    const graph::TensorType& type = plan_->variables[known.mapped()].type;
    if (!tensor || graph::TensorType{tensor.dtype(), tensor.shape()} != type)
      refuse(name, "expected " + graph::to_string(type) + ", got " +
                       (tensor ? graph::to_string(graph::TensorType{tensor.dtype(), tensor.shape()})
                               : "an empty tensor"));
  }
  if (!left.empty()) refuse(std::string(left.begin()->first), "is missing");
}

void RunningModel::set_replica_buffers(std::span<const std::vector<NamedTensor>> of_replicas) {
  if (of_replicas.empty()) return;
  attach();
  if (held_version_ != weights_->version()) upload_weights();
  const auto known = buffers();
  for (std::size_t i = 0; i < of_replicas.size(); ++i) {
    const int replica = static_cast<int>(i) + 1;
    std::vector<Tensor> values(plan_->variables.size());
    for (const auto& [name, tensor] : of_replicas[i]) values[known.at(name)] = tensor;
    ask([&](auto& actors) { actors.write_buffers(values, replica); });
  }
  buffers_holder() = this;
}

}  // namespace penstock
