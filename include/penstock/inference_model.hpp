// An InferenceModel is a Model compiled for inference and running as actors. It owns its threads.
//
// A Model and everything that is made from it take one call at a time, as model.hpp says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/profile.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// An InferenceModel computes the outputs of a Model, with the model's newest weights.
class InferenceModel {
 public:
  /// Compiles what the model's outputs need, and starts the threads. Each call uses the weights
  /// that `model` has at that time, which are copied to the IPUs only when they have changed.
  /// @throws Error as the constructor of TrainingModel.
  InferenceModel(const Model& model, const Options& options);
  /// Compiles what those outputs need whose names match one of the patterns `outputs`, in which a
  /// `*` matches any characters and a `?` matches one. Inputs that only other outputs depend on are
  /// not asked for: a model whose loss is an output for evaluations serves predictions without
  /// labels by its other outputs.
  /// @throws Error as the other constructor; invalid_argument for a pattern that matches nothing,
  /// unless it is "*"; invalid_model if `outputs` is empty.
  InferenceModel(const Model& model, const Options& options,
                 const std::vector<std::string>& outputs);
  ~InferenceModel();
  /// Takes over the contents of the other model, which may then only be destroyed or assigned to.
  InferenceModel(InferenceModel&&) noexcept;
  /// Takes over the contents of the other model, and then ends what this model had as the
  /// destructor does.
  InferenceModel& operator=(InferenceModel&&) noexcept;

  /// Returns the options that the constructor was given.
  const Options& options() const noexcept;
  /// Returns the names of the inputs that the outputs depend on, in the order in which run() takes
  /// them.
  const std::vector<std::string>& inputs() const noexcept;
  /// Returns the names of the inputs that a step of training the same model on its own loss takes,
  /// apart from those that only anchors need: TrainingModel::inputs(), or inputs() if the model has
  /// no loss.
  const std::vector<std::string>& training_inputs() const noexcept;

  /// Returns what run() returns, but without the numbers; see TrainingModel::outline().
  StepResult outline() const;

  /// Returns the number of rows in dimension 0 that one full call takes: b·D·R, divided by the size
  /// of an input group. CallSize explains these letters. Gradient accumulation plays no part in
  /// inference.
  std::int64_t samples_per_run() const noexcept;

  /// Runs on up to samples_per_run() samples. Samples that do not fill a micro-batch on every
  /// replica run on the IPUs of the first replica, by plans of their own: one for whole
  /// micro-batches and one for a last micro-batch that is shorter. The model keeps the eight
  /// such plans that were used last. With Options::static_shapes, run() takes exactly
  /// samples_per_run() samples.
  ///
  /// Once `stop` is requested, the call begins no further micro-batch, waits for those that it has
  /// begun, and throws Error cancelled. A call whose micro-batches have all begun returns as usual.
  /// Inputs are released as by TrainingModel::step().
  /// @throws Error shape_mismatch or invalid_data before anything has run, as
  /// TrainingModel::step(); afterwards stage_failed, or stalled or internal, if the call has not
  /// gone on by itself as Options::recovery lets it; the next call goes on, and layers that keep
  /// state begin anew. A call that comes after a failure while an IPU is still busy throws stalled,
  /// too, and may be made again.
  StepResult run(std::span<const Tensor> inputs, std::stop_token stop = {});
  /// Runs on `inputs` as run() does on a span.
  StepResult run(const std::vector<Tensor>& inputs, std::stop_token stop = {}) {
    return run(std::span(inputs), std::move(stop));
  }
  /// Runs on inputs that are given by name, in any order; see TrainingModel::step().
  StepResult run(const std::vector<NamedTensor>& inputs, std::stop_token stop = {});
  /// Checks that run() takes `samples` samples; see TrainingModel::check_samples().
  void check_samples(std::int64_t samples) const;

  /// Ends the threads and frees the IPUs' memory; see TrainingModel::detach().
  void detach();
  /// Starts the threads again; see TrainingModel::attach().
  void attach();
  /// Returns whether the model has its threads. The function may be called beside other calls.
  bool attached() const noexcept;

  /// Returns how often weights were copied to the IPUs: once for every plan that ran after a change
  /// of the weights.
  std::uint64_t weight_uploads() const noexcept;
  /// Returns what the compiler has made of the model. The function may be called beside other
  /// calls.
  const CompileReport& compile_report() const noexcept;
  /// Returns the report on the last call of run() that returned. If several plans ran for that
  /// call, the plans after the first add only the time that they took. The function may be called
  /// beside other calls.
  CallReport last_call() const;
  /// Returns what each stage of the plan for full calls has done; see
  /// TrainingModel::stage_reports(). Other plans may take the IPUs for themselves as a short last
  /// update may.
  std::vector<StageReport> stage_reports() const;
  /// Returns and removes the recorded events of all plans; see TrainingModel::take_trace().
  std::vector<TraceEvent> take_trace();
  /// Returns what full calls have measured; see TrainingModel::profile().
  Profile profile() const;
  /// Returns how many events of all plans were dropped; see TrainingModel::dropped_events().
  std::uint64_t dropped_events() const noexcept;

 private:
  friend struct ModelAccess;  // The functions of fit.hpp use ModelAccess.
  class Impl;
  explicit InferenceModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // Calls that are under way share the Impl.
};

}  // namespace penstock
