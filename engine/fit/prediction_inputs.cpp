#include "engine/fit/prediction_inputs.hpp"

#include <algorithm>
#include <utility>

#include "engine/fit/field_match.hpp"
#include "engine/model/model_access.hpp"

namespace penstock {

PredictionInputs::PredictionInputs(const InferenceModel& model,
                                   const std::vector<std::string>& fields)
    : targets_(ModelAccess::targets(model)), all_(model.inputs()) {
  for (const std::string& name : all_)
    if (!target(name)) names_.push_back(name);
  targets_missing_ =
      names_.size() < all_.size() && (fields.size() < all_.size() || leave_out_targets(fields));
  if (!targets_missing_) names_ = all_;
}

bool PredictionInputs::leave_out_targets(const std::vector<std::string>& fields) const {
  const auto is_named_target = [&](const std::string& name) {
    return target(name) && std::ranges::count(fields, name) > 0;
  };
  return positions_among(fields, names_) && std::ranges::none_of(all_, is_named_target);
}

const graph::Targets::Input* PredictionInputs::target(const std::string& name) const {
  for (const graph::Targets::Input& input : targets_.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

Shape PredictionInputs::shape_of(const graph::Targets::Input& target,
                                 std::span<const Tensor> callers_inputs,
                                 std::int64_t samples) const {
  const Shape shape = target.type.shape.with(0, samples);
  if (target.dynamic_axis == 0) return shape;
  for (const graph::Targets::Input& input : targets_.dynamic) {
    const auto named = std::ranges::find(names_, input.name);
    if (named == names_.end()) continue;
    const Tensor& tensor = callers_inputs[static_cast<std::size_t>(named - names_.begin())];
    // The model refuses a tensor of another rank when it runs.
    if (tensor && std::cmp_greater(tensor.shape().rank(), input.dynamic_axis))
      return shape.with(target.dynamic_axis, tensor.shape()[input.dynamic_axis]);
  }
  return shape;
}

// Zeros are legal labels and targets of every loss, and the losses of these zeros are not returned.
std::span<const Tensor> PredictionInputs::completed(std::span<const Tensor> callers_inputs,
                                                    std::int64_t samples) {
  if (!targets_missing_ || callers_inputs.size() != names_.size()) return callers_inputs;
  completed_.clear();
  auto next = callers_inputs.begin();
  for (const std::string& name : all_) {
    const graph::Targets::Input* const missing = target(name);
    completed_.push_back(
        missing ? Tensor::zeros(missing->type.dtype, shape_of(*missing, callers_inputs, samples))
                : *next++);
  }
  return completed_;
}

bool PredictionInputs::returns(std::size_t output) const {
  return targets_.has_rows[output] && !(targets_missing_ && targets_.needs_any[output]);
}

}  // namespace penstock
