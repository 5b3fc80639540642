// PredictionInputs says which inputs predict() asks of its caller, and which outputs it returns: a
// prediction needs no targets, even if the model returns a loss as well. One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/compile/model_inputs.hpp"
#include "penstock/inference_model.hpp"

namespace penstock {

class PredictionInputs {
 public:
  /// Asks a caller for the inputs of `model`. The caller has a tensor for each of `fields`, which
  /// has the tensors' names, or empty texts where they have none. The targets of `model` are
  /// missing if the names include all other inputs and no target, or if there are fewer fields than
  /// inputs.
  PredictionInputs(const InferenceModel& model, const std::vector<std::string>& fields);

  /// Returns the names of the inputs that the caller gives, in the order of the model's.
  const std::vector<std::string>& names() const { return names_; }
  /// Returns the model's inputs for `samples` samples: `callers_inputs`, and zeros for the targets
  /// that are missing. The span is valid until the next call, and is `callers_inputs` itself if no
  /// target is missing.
  std::span<const Tensor> completed(std::span<const Tensor> callers_inputs, std::int64_t samples);
  /// Returns whether the model's output number `output` is part of the prediction.
  bool returns(std::size_t output) const;

 private:
  /// Returns whether `fields` include all inputs that are no targets, and no target.
  bool leave_out_targets(const std::vector<std::string>& fields) const;
  const graph::Targets::Input* target(const std::string& name) const;
  /// Returns the shape of a target for `samples` samples beside `callers_inputs`.
  Shape shape_of(const graph::Targets::Input& target, std::span<const Tensor> callers_inputs,
                 std::int64_t samples) const;

  const graph::Targets& targets_;
  std::vector<std::string> all_;    // `all_` has the names of the model's inputs.
  std::vector<std::string> names_;  // `names_` has the names of the inputs that the caller gives.
  bool targets_missing_ = false;
  std::vector<Tensor> completed_;
};

}  // namespace penstock
