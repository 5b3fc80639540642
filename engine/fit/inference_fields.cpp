#include "engine/fit/inference_fields.hpp"

#include <utility>

#include "engine/fit/field_match.hpp"
#include "engine/fit/fields.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string counted(const std::vector<std::string>& names) {
  return std::to_string(names.size()) + " (" + joined(names) + ")";
}

}  // namespace

InferenceFields::InferenceFields(const InferenceModel& model,
                                 const std::vector<Field>& batch_fields,
                                 const std::vector<std::string>& of_step)
    : InferenceFields(model, batch_fields, model.inputs(), of_step) {}

InferenceFields::InferenceFields(const InferenceModel& model,
                                 const std::vector<Field>& batch_fields,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& of_step)
    : inputs_(inputs), fields_(batch_fields) {
  by_name_ = place_among(field_names(batch_fields));
  if (by_name_ || place_among(of_step)) return;
  if (!place_among(model.training_inputs())) place_among(inputs_);
}

bool InferenceFields::place_among(const std::vector<std::string>& names) {
  const auto positions = positions_among(names, inputs_);
  if (!positions) return false;
  positions_ = *positions;
  in_front_ = true;
  for (std::size_t i = 0; i < positions_.size(); ++i) in_front_ &= positions_[i] == i;
  whole_ = names;
  return true;
}

void InferenceFields::check(const std::string& subject) const {
  const std::size_t fields = fields_.size();
  const std::vector<std::string>& expected = by_name_ || fields < whole_.size() ? inputs_ : whole_;
  expect_no_twins(subject, expected, fields_);
  if (!by_name_) expect_in_place(subject, expected, fields_);
  if (in_front_ || fields <= inputs_.size() || fields >= whole_.size()) return;
  throw Error(Errc::invalid_argument, subject +
                                          ": expected batches of the fields that training "
                                          "takes, " +
                                          counted(whole_) + ", or of those of inference alone, " +
                                          counted(inputs_) + ", got " + std::to_string(fields));
}

std::span<const Tensor> InferenceFields::of(const Batch& batch) {
  if (in_front_ || batch.size() < whole_.size()) return first_fields(batch, inputs_);
  chosen_.clear();
  for (const std::size_t position : positions_) chosen_.push_back(batch[position]);
  return chosen_;
}

}  // namespace penstock
