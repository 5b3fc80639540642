// A CallSize says what one full call takes and does: b, G, D and R, and what they make together. It
// is plain data.
#pragma once

#include <cstdint>

namespace penstock {

struct Options;

/// A call is a step in training, a run in inference. Shorter ones take and do less.
struct CallSize {
  bool training = true;                    ///< This says whether the call is a step of training.
  std::int64_t batch_size = 1;             ///< b: samples of a micro-batch
  std::int64_t gradient_accumulation = 1;  ///< G: micro-batches per replica and weight update
  /// D: weight updates; in inference, which has no G, micro-batches per replica.
  std::int64_t device_iterations = 1;
  std::int64_t replicas = 1;          ///< R
  std::int64_t input_group_size = 1;  ///< replicas that get the same samples

  /// Returns how many micro-batches each replica has: G·D.
  std::int64_t micro_batches_per_replica() const noexcept {
    return gradient_accumulation * device_iterations;
  }
  /// Of all replicas: G·D·R.
  std::int64_t micro_batches() const noexcept { return micro_batches_per_replica() * replicas; }
  /// D; none in inference.
  std::int64_t updates() const noexcept { return training ? device_iterations : 0; }
  /// b·G·D·R, once for each input group: rows of dimension 0 of each input.
  std::int64_t samples() const noexcept { return batch_size * micro_batches() / input_group_size; }
};

/// Returns the size of a TrainingModel::step() under legal `options`. It needs no model.
CallSize size_of_step(const Options& options);
/// Returns the size of an InferenceModel::run() under legal `options`.
CallSize size_of_run(const Options& options);

}  // namespace penstock
