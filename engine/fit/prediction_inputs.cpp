#include "engine/fit/prediction_inputs.hpp"

#include "engine/model/model_access.hpp"

namespace penstock {

PredictionInputs::PredictionInputs(const InferenceModel& model, std::size_t count)
    : targets_(ModelAccess::targets(model)), all_(model.inputs()) {
  for (const std::string& name : all_)
    if (!target(name)) names_.push_back(name);
  targets_missing_ = count < all_.size() && names_.size() < all_.size();
  if (!targets_missing_) names_ = all_;
}

const graph::TensorType* PredictionInputs::target(const std::string& name) const {
  for (const graph::Targets::Input& input : targets_.inputs)
    if (input.name == name) return &input.type;
  return nullptr;
}

// Zeros are legal labels and targets of every loss, and the losses of these zeros are not returned.
std::span<const Tensor> PredictionInputs::completed(std::span<const Tensor> callers_inputs,
                                                    std::int64_t samples) {
  if (!targets_missing_ || callers_inputs.size() != names_.size()) return callers_inputs;
  completed_.clear();
  auto next = callers_inputs.begin();
  for (const std::string& name : all_) {
    const graph::TensorType* const type = target(name);
    completed_.push_back(type ? Tensor::zeros(type->dtype, type->shape.with(0, samples)) : *next++);
  }
  return completed_;
}

bool PredictionInputs::returns(std::size_t output) const {
  return targets_.has_rows[output] && !(targets_missing_ && targets_.needs_any[output]);
}

}  // namespace penstock
