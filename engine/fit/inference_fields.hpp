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
/// Otherwise a batch with at least as many fields as a step of training takes is a batch of
/// training, and its first fields are the inputs of that step. Any other batch has inference's
/// inputs in their order.
class InferenceFields {
 public:
  /// Selects fields for `model`. `batch_fields` are the loader's fields. `of_step` has the inputs
  /// of the training during which `model` is evaluated, and is empty if there is none.
  InferenceFields(const InferenceModel& model, const std::vector<Field>& batch_fields,
                  const std::vector<std::string>& of_step = {});
  /// Selects fields only for those inputs of `model` whose names are in `inputs`.
  InferenceFields(const InferenceModel& model, const std::vector<Field>& batch_fields,
                  const std::vector<std::string>& inputs, const std::vector<std::string>& of_step);

  /// Checks that batches of the loader can be taken. @throws Error invalid_argument, whose text
  /// begins with `subject`, if they are neither batches of inference nor of training, and as
  /// expect_no_twins() and expect_in_place().
  void check(const std::string& subject) const;
  /// Returns the fields of a batch that are the inputs, and are valid until the next call. check()
  /// must have accepted the batch's number of fields. If the batch has too few fields, all of them
  /// are returned, and the model's call reports what is missing.
  std::span<const Tensor> of(const Batch& batch);

 private:
  bool place_among(const std::vector<std::string>& names);

  std::vector<std::string> inputs_;
  std::vector<Field> fields_;
  bool by_name_ = false;                // `by_name_` says whether all inputs are names of fields.
  std::vector<std::string> whole_;      // `whole_` has the names of all fields of a batch.
  std::vector<std::size_t> positions_;  // `positions_` has the positions of the inputs in `whole_`.
  bool in_front_ = false;
  Batch chosen_;
};

}  // namespace penstock
