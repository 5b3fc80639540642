// ModelBody is what a TrainingModel and an InferenceModel run: a compiled model with its plans for
// other calls than the full ones. It divides a call's samples among its plans, runs these one after
// the other, joins what they return, and reports on the last call. It is used inside a ModelCall,
// except for the functions that any thread may call, which say so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/model/model_calls.hpp"
#include "engine/other_plans.hpp"
#include "engine/published.hpp"
#include "engine/running_model.hpp"
#include "penstock/call_report.hpp"
#include "penstock/error.hpp"
#include "penstock/options.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

class ModelBody {
 public:
  /// Compiles `model`, for training with `optimizer` on `objective` or, if `optimizer` is null, for
  /// inference, and starts the actors.
  /// @throws Error as the constructor of a TrainingModel.
  ModelBody(const Model& model, const Options& options, const Optimizer* optimizer,
            const Objective& objective = {});
  // The destructor reads what the plans have trained, and then ends their threads.
  ~ModelBody() { running_.prepare_to_end(); }
  ModelBody(const ModelBody&) = delete;
  ModelBody& operator=(const ModelBody&) = delete;

  /// Trains or infers, as TrainingModel::step() and InferenceModel::run() say.
  StepResult run(std::span<const Tensor> inputs, const std::stop_token& stop);

  // Any thread may call the functions from here to last_call().
  const std::shared_ptr<ModelCalls>& calls() const { return calls_; }
  const Options& options() const { return options_; }
  /// Returns how many samples a full call takes.
  const CallSize& call_size() const { return running_.compile_report().call; }
  /// Checks that the model takes a call of `samples` samples. @throws Error shape_mismatch if it
  /// does not.
  void check_samples(std::int64_t samples) const;
  /// Returns the report on the last run() that returned.
  /// @throws Error closed in a process that was forked from the model's.
  CallReport last_call() const;

  RunningModel& running() { return running_; }
  const RunningModel& running() const { return running_; }
  OtherPlans& other_plans() { return other_plans_; }

 private:
  /// A Section is a section of a call: the samples that one plan runs.
  struct Section {
    RunningModel* plan = nullptr;
    /// `begin` is the number of the section's first sample, and `samples` is how many samples it
    /// has.
    std::int64_t begin = 0, samples = 0;
    /// Each replica runs this many micro-batches.
    std::int64_t micro_batches = 0;
  };
  /// Divides the `samples` samples of a call, whose dynamic axes have the length `length`, into
  /// sections. If a plan cannot be compiled, or sections cannot be joined, the function throws, and
  /// nothing has changed.
  std::vector<Section> sections_of(std::int64_t samples, std::int64_t length);
  /// Returns the report on a call of `sections`, each of which has run: the times of the first one,
  /// and the recoveries of all.
  static CallReport report_on(const std::vector<Section>& sections);
  /// Rethrows the exception that ends a run(). If some updates may have come before it, the text
  /// says how many did, unless there is no memory for that text.
  [[noreturn]] void throw_interrupted(std::int64_t samples, std::uint64_t updates_before) const;
  /// Returns the text of the exception that throw_interrupted() throws instead of `error`.
  std::string interrupted_text(const Error& error, std::int64_t samples,
                               std::uint64_t updates_before) const;

  std::shared_ptr<ModelCalls> calls_;
  Options options_;
  RunningModel running_;
  DynamicLength dynamic_;  // `dynamic_` says which lengths calls may have.
  OtherPlans other_plans_{running_, options_};
  Published<CallReport> last_call_;
};

}  // namespace penstock
