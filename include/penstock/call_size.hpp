// A CallSize says how much one full call takes and does. It is plain data.
#pragma once

#include <cstdint>

#include "penstock/standard.hpp"

namespace penstock {

struct Options;

/// A CallSize says how much one full call takes and does. A call is a step in training and a run in
/// inference. A shorter call takes and does less.
struct CallSize {
  bool training = true;         ///< `training` says whether the call is a step of training.
  std::int64_t batch_size = 1;  ///< A micro-batch has this many samples (b).
  /// This many micro-batches per replica make one weight update (G).
  std::int64_t gradient_accumulation = 1;
  /// A step does this many weight updates (D). A run of inference, which has no G, takes this many
  /// micro-batches per replica.
  std::int64_t device_iterations = 1;
  std::int64_t replicas = 1;          ///< The model runs in this many copies (R).
  std::int64_t input_group_size = 1;  ///< This many replicas get the same samples.

  /// Returns how many micro-batches each replica computes: G·D.
  std::int64_t micro_batches_per_replica() const noexcept {
    return gradient_accumulation * device_iterations;
  }
  /// Returns how many micro-batches all replicas compute together: G·D·R.
  std::int64_t micro_batches() const noexcept { return micro_batches_per_replica() * replicas; }
  /// Returns how many weight updates the call does: D in training, 0 in inference.
  std::int64_t updates() const noexcept { return training ? device_iterations : 0; }
  /// Returns how many rows each input has in dimension 0: b·G·D·R, divided by the size of an input
  /// group.
  std::int64_t samples() const noexcept { return batch_size * micro_batches() / input_group_size; }
};

/// Returns the size of a call of TrainingModel::step() under valid `options`. The size does not
/// depend on the model.
CallSize size_of_step(const Options& options);
/// Returns the size of a call of InferenceModel::run() under valid `options`.
CallSize size_of_run(const Options& options);

}  // namespace penstock
