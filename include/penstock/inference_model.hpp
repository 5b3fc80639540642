// InferenceModel: a Model compiled for inference and running as actors. Owns its threads.
//
// A Model and all that is made of it take one call at a time, as model.hpp says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "penstock/training_model.hpp"

namespace penstock {

/// Runs the outputs of a Model, with the model's newest weights.
class InferenceModel {
 public:
  /// Compiles what the model's outputs need and starts. Weights are those of `model` at each call:
  /// copied once after they have changed, and not otherwise.
  /// @throws as TrainingModel's constructor.
  InferenceModel(const Model& model, const Options& options);
  ~InferenceModel();
  /// Takes over the other model, of which destruction and assignment alone are left.
  InferenceModel(InferenceModel&&) noexcept;
  /// Destroys this model as the destructor does, and takes over the other one.
  InferenceModel& operator=(InferenceModel&&) noexcept;

  /// Returns the options as given to the constructor.
  const Options& options() const noexcept;
  /// Returns the names of the inputs that outputs depend on, in the order `run` takes them.
  const std::vector<std::string>& inputs() const noexcept;
  /// Returns the names of the inputs that a step of training the same model takes, anchors apart:
  /// TrainingModel::inputs(), or inputs() if it has no loss.
  const std::vector<std::string>& training_inputs() const noexcept;

  /// Does what TrainingModel's does.
  StepResult outline() const;

  /// Rows of dimension 0 that one full call takes: b·D·R, once for each input group. Accumulation
  /// is of training alone.
  std::int64_t samples_per_run() const noexcept;

  /// Runs on any number of samples up to samples_per_run() per call. What fills no micro-batch of
  /// every replica runs on the first replica's IPUs by plans of its own: one for whole
  /// micro-batches, one for a last one that is shorter; the four that were used last are kept. With
  /// Options::static_shapes on samples_per_run() and no others.
  /// @throws Error shape_mismatch before anything has run; stage_failed or stalled afterwards, and
  /// then closed from every later call.
  ///
  /// Once `stop` is asked to stop, the call begins no further micro-batch, waits for those that it
  /// has begun, and throws Error cancelled. A call whose micro-batches have all begun returns as
  /// ever. Inputs are released as by TrainingModel::step().
  StepResult run(std::span<const Tensor> inputs, std::stop_token stop = {});
  /// Runs on the inputs in a vector.
  StepResult run(const std::vector<Tensor>& inputs, std::stop_token stop = {}) {
    return run(std::span(inputs), std::move(stop));
  }
  /// Does what TrainingModel's does, for run().
  void check_samples(std::int64_t samples) const;

  /// Does what TrainingModel's does.
  void detach();
  /// Does what TrainingModel's does.
  void attach();
  /// Returns whether the model has its threads. May be called beside other calls.
  bool attached() const noexcept;

  /// Returns how often weights were copied to the IPUs: for every plan that ran after a change.
  std::uint64_t weight_uploads() const noexcept;
  /// Returns what the compiler has made of the model. May be called beside other calls.
  const CompileReport& compile_report() const noexcept;
  /// Reports on the last call of run() that returned, beside other calls, too. If several plans ran
  /// for it, the others than the first add only the time that they took.
  CallReport last_call() const;
  /// Does what TrainingModel's does, for the plan of full calls alone. Others may take the IPUs in
  /// the same way.
  std::vector<StageReport> stage_reports() const;
  /// Does what TrainingModel's does, for all plans.
  std::vector<TraceEvent> take_trace();
  /// Does what TrainingModel's does, for all plans.
  std::uint64_t dropped_events() const noexcept;

 private:
  friend struct ModelAccess;  // for the loops around a model
  class Impl;
  explicit InferenceModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared by the calls that are under way
};

}  // namespace penstock
