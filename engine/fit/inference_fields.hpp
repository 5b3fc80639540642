// InferenceFields says which of a batch's fields inference takes as its inputs. One thread uses it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"

namespace penstock {

/// If a loader's fields have the names of all inputs, inference takes these fields by name.
/// Otherwise a batch with at least as many fields as a step of training takes is one of training,
/// and its first fields are the inputs of that step. Any other batch has inference's inputs in
/// their order.
class InferenceFields {
 public:
  /// Selects fields for `model`. `batch_fields` are the loader's fields, and `of_step` the inputs
  /// of the training beside which `model` is evaluated, if there is one.
  InferenceFields(const InferenceModel& model, const std::vector<Field>& batch_fields,
                  const std::vector<std::string>& of_step = {});
  /// Selects fields for a caller of `model` who asks for the inputs called `inputs` alone.
  InferenceFields(const InferenceModel& model, const std::vector<Field>& batch_fields,
                  const std::vector<std::string>& inputs, const std::vector<std::string>& of_step);

  /// Checks that batches with so many fields can be taken. @throws Error invalid_argument, opening
  /// with `subject`, if they are neither batches of inference nor of training.
  void check(std::size_t fields, const std::string& subject) const;
  /// Returns the fields of a batch that check() lets through; they live until the next call. It
  /// returns all fields if there are too few: the model says what is missing.
  std::span<const Tensor> of(const Batch& batch);

 private:
  bool place_among(const std::vector<std::string>& names);

  std::vector<std::string> inputs_;
  std::vector<std::string> whole_;      // Has the fields of a batch that has more than the inputs.
  std::vector<std::size_t> positions_;  // Has the inputs' positions among these fields.
  bool in_front_ = false;
  Batch chosen_;
};

}  // namespace penstock
