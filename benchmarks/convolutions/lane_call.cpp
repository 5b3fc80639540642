#include "benchmarks/convolutions/lane_call.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace penstock::benchmarks {
namespace {

/// Returns what the op called `name` makes of `values`, which have the type `type`.
std::vector<float> converted(const std::string& name, const graph::TensorType& type,
                             const graph::Attributes& attributes, std::span<const float> values) {
  const OpCall call({name, name, {type}, 1, attributes});
  std::ranges::copy(values, call.input(0).begin());
  call.run();
  return call.result();
}

}  // namespace

LaneCall::LaneCall(const OpCase& lanes, const OpCase& item, const OpCall& model)
    : call_(lanes), images_(item.images) {
  for (std::size_t i = 0; i < item.inputs.size(); ++i) {
    const std::span<const float> values = model.input(i);
    if (item.inputs[i] == lanes.inputs[i])
      std::ranges::copy(values, call_.input(i).begin());
    else
      std::ranges::copy(converted("to_lanes", item.inputs[i], {}, values), call_.input(i).begin());
  }
}

std::vector<float> LaneCall::result() const {
  const graph::TensorType& type = call_.result_type();
  // The gradient of the weights has no samples, and has the same layout everywhere.
  constexpr std::size_t rank_in_lanes = 5;
  if (type.shape.rank() != rank_in_lanes) return call_.result();
  return converted("from_lanes", type, {{"batch", images_}}, call_.result());
}

}  // namespace penstock::benchmarks
