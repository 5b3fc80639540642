#include "engine/fit/inference_fields.hpp"

#include <algorithm>
#include <utility>

#include "engine/fit/fields.hpp"
#include "engine/values/joined.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string counted(const std::vector<std::string>& names) {
  return std::to_string(names.size()) + " (" + joined(names) + ")";
}

}  // namespace

InferenceFields::InferenceFields(const InferenceModel& model, std::vector<std::string> of_step)
    : inputs_(model.inputs()) {
  if (!place_among(of_step) && !place_among(model.training_inputs())) place_among(inputs_);
}

bool InferenceFields::place_among(const std::vector<std::string>& of_step) {
  positions_.clear();
  in_front_ = true;
  for (const std::string& input : inputs_) {
    const auto found = std::ranges::find(of_step, input);
    if (found == of_step.end()) return false;
    in_front_ &= static_cast<std::size_t>(found - of_step.begin()) == positions_.size();
    positions_.push_back(static_cast<std::size_t>(found - of_step.begin()));
  }
  of_step_ = of_step;
  return true;
}

void InferenceFields::check(std::size_t fields, const std::string& who) const {
  if (in_front_ || fields <= inputs_.size() || fields >= of_step_.size()) return;
  throw Error(Errc::invalid_argument, who +
                                          ": expected batches of the fields that training "
                                          "takes, " +
                                          counted(of_step_) + ", or of those of inference alone, " +
                                          counted(inputs_) + ", got " + std::to_string(fields));
}

std::span<const Tensor> InferenceFields::of(const Batch& batch) {
  if (in_front_ || batch.size() < of_step_.size()) return first_fields(batch, inputs_);
  chosen_.clear();
  for (const std::size_t position : positions_) chosen_.push_back(batch[position]);
  return chosen_;
}

}  // namespace penstock
