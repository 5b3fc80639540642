// RunningModel is a model that was compiled and runs, for training or for inference: it has the
// plan and the actors that execute it, and brings weights in and out. It is used inside a
// ModelCall, but for the functions that say that any thread may call them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"
#include "engine/ipu_occupants.hpp"
#include "engine/lent_tensors.hpp"
#include "engine/log/log.hpp"
#include "engine/model/parameter_store.hpp"
#include "engine/model_trace.hpp"
#include "engine/monitor/model_gauge.hpp"
#include "engine/monitor/process_monitor.hpp"
#include "engine/published.hpp"
#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/call_report.hpp"
#include "penstock/model.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

struct NamedType;

class RunningModel : public WeightSource {
 public:
  /// Makes it of the model as it is now. With an optimizer it is for training, else for inference.
  RunningModel(const Model& model, const Options& options, const Optimizer* optimizer);
  /// Makes it of the model as `host` was made of it, on its threads and IPUs, whether or not that
  /// is attached. If these have not enough memory for both, the one that is not in use is detached.
  RunningModel(RunningModel& host, const Options& options);
  /// Lets the calling thread, which is to destroy this model and those that share its threads, do
  /// so with memory that was kept back for it.
  void prepare_to_end() noexcept;
  /// Waits for what the IPUs are in the middle of, however long that takes. Newer weights than the
  /// host's are read then; they are lost if they cannot be.
  ~RunningModel();
  RunningModel(const RunningModel&) = delete;
  RunningModel& operator=(const RunningModel&) = delete;

  /// Tells the log how the model was compiled, if it is no model of another one's short calls: that
  /// is told by its constructor.
  void log_compilation() const;

  const graph::Plan& plan() const { return *plan_; }
  std::int64_t gradient_accumulation() const { return setup_.gradient_accumulation; }
  const CompileReport& compile_report() const { return report_; }
  /// Returns the log of this model and of those on its threads.
  const Log& log() const { return log_; }
  /// Returns the names of the inputs that the plan needs, in the model's order.
  const std::vector<std::string>& inputs() const { return inputs_; }
  /// Returns what run() returns, with empty tensors.
  StepResult outline() const;

  /// Checks whether what `remainder`, a model of other micro-batches, returns can follow what this
  /// one returns, if all of it is returned.
  /// @throws Error shape_mismatch that names the output if its dimensions other than 0 depend on
  /// the micro-batch, too.
  void expect_same_rows(const RunningModel& remainder) const;

  /// @throws Error if it has failed, be it before it was detached: the failure itself if no call
  /// has thrown it yet, else closed.
  void expect_open();
  /// Ends the actors and their threads, and frees their memory. Weights, the optimizer's state and
  /// the number of updates stay, and with these the random numbers to come; and what it failed of.
  /// @throws Error invalid_argument if it is detached; closed after a failure in training, where
  /// the state cannot be read.
  void detach();
  /// Starts the actors and their threads again, without compiling again. Every function that needs
  /// the IPUs does so first, if the model is detached.
  /// @throws Error out_of_memory; closed if it had failed.
  void attach();
  bool attached() const noexcept { return runtime_ != nullptr; }
  /// Returns whether this model is attached, or one of those that share its IPUs. Any thread may
  /// call it.
  bool any_attached() const noexcept { return occupants_->any(); }

  /// Sends newer weights to the IPUs first, if there are any; then runs `micro_batches` per
  /// replica. @throws Error as PipelineRuntime::step().
  StepResult run(std::span<const Tensor> inputs, std::int64_t micro_batches,
                 const std::stop_token& stop);
  /// Releases the host's inputs that no thread of the engine uses any more.
  void release_inputs() noexcept { lent_->release_returned(); }

  /// Hands over the report on the last run() that returned. Where memory was missing for the rest
  /// of it, it tells the time alone.
  CallReport take_last_run() noexcept { return std::move(last_run_); }

  /// Takes the constants of an optimizer that the host sets. If the model is detached, these rules
  /// and any state that is set wait for the next attach().
  /// @throws Error invalid_argument, before anything has changed, if a parameter's rule, the state
  /// that it keeps or a constant attribute would be another.
  void set_optimizer(const Optimizer& optimizer) { set_rules(optimizer, rules_number_ + 1); }
  /// Takes the constants that the model has whose short steps this one runs.
  /// @throws Error as set_optimizer()
  void take_optimizer_of_host();
  /// Returns the optimizer whose constants apply, of a model for training. Any thread may call it.
  Optimizer optimizer() const { return *optimizer_.get(); }
  /// Returns whether the newest state of the optimizer is here. A model and those for its short
  /// steps share one: the model that has trained last holds it.
  bool holds_optimizer_state() noexcept { return state_holder() == this; }
  /// Copies the newest state of the optimizer here, where it is not here yet. run() does so first.
  /// @throws Error closed or out_of_memory; the model that held the state still does.
  void fetch_optimizer_state();
  /// Returns the newest state of the optimizer under names; see optimizer_state.hpp.
  std::vector<NamedTensor> optimizer_state();
  /// @throws as tensors_of(), before anything has changed.
  void set_optimizer_state(std::span<const NamedTensor> named, const std::string& subject);
  /// Checks whether a state of these types could be set. @throws Error as set_optimizer_state()
  void expect_optimizer_state(std::span<const NamedType> types, const std::string& subject) const;
  /// Returns reports since it was attached, or none while it is not.
  std::vector<StageReport> stage_reports();
  /// Returns what this model and those for its short calls have recorded since the last time, in
  /// order of time.
  std::vector<TraceEvent> take_trace();
  /// Returns what the calls of this model's own plan have measured since it was built.
  /// @throws Error invalid_argument if nothing is recorded.
  Profile profile();
  /// Returns how many events were dropped of this model and of those for its short calls, since it
  /// was built. Any thread may call it.
  std::uint64_t dropped_events() const noexcept { return trace_.dropped(); }
  /// Returns the updates that the weights have seen, those of the models for short steps included.
  /// Any thread may call it.
  std::uint64_t updates() const noexcept { return *setup_.updates; }
  /// Returns what the monitor shows of this model and those for its short calls.
  ModelGauge& gauge() noexcept { return *gauge_; }
  /// Returns how often this model, and those for its short calls, have copied weights to the IPUs.
  /// Any thread may call it.
  std::uint64_t weight_uploads() const noexcept { return *uploads_; }

  /// Returns the same as TrainingModel::buffer(), where there are `replicas` replicas.
  Tensor read_buffer(const std::string& name, int replica, int replicas);
  std::vector<Tensor> read_weights() override;
  void weights_taken() override;

 private:
  RunningModel(std::shared_ptr<ParameterStore> weights, std::shared_ptr<const graph::Graph> graph,
               const Options& options, const Optimizer* optimizer, const LogScope* scope,
               RunningModel* host_of);
  /// Returns what `call` returns, which asks the actors. What they fail of is told to the log here,
  /// by the thread that asks, as no other one may call the host.
  auto ask(const auto& call);
  void note_failure();
  /// Notes it while an error is on its way to the host, which a lack of memory must not replace.
  void note_failure_if_possible() noexcept;
  RunningModel*& state_holder() noexcept {
    return host_of_ ? host_of_->state_holder_ : state_holder_;
  }
  actors::OptimizerTensors optimizer_tensors();
  /// Makes `state` the newest one, held here.
  void write_optimizer(actors::OptimizerTensors state);
  std::vector<std::string> trainable_names() const;
  void upload_weights();
  /// Reads what the stages have noted; the events become part of the trace, even if it throws.
  StageNotes ask_stages();
  /// Says when a run was asked for, when the IPUs had what it needs, and when it ended.
  struct RunSpan {
    std::int64_t begin_ns, prepared_ns, end_ns;
    std::int64_t micro_batches, samples;
  };
  /// Makes the report on the run that has just ended, and adds the run to the profile.
  void note_run(const RunSpan& run);
  /// Adds to the profile what the programs of the actors have measured.
  void note_program_times();
  void set_rules(const Optimizer& optimizer, std::uint64_t number);
  /// Brings what the IPUs need for a run: the threads, the optimizer's state, the newest weights.
  void prepare_run();
  /// Counts in `rows` the micro-batches that a run of so many returns.
  void count_rows(OutputRows& rows, std::int64_t micro_batches) const;
  void tell_run(std::int64_t micro_batches, double seconds) const;
  void start_actors();
  /// Shows the model to the monitor, if there is one. That there is none is no failure.
  void show_to_monitor() noexcept;
  actors::PipelineRuntime& runtime();
  StepResult result_of(const actors::StepOutcome& outcome) const;
  const actors::OutputSelection& selection_of(std::size_t output) const;

  std::shared_ptr<ParameterStore> weights_;
  std::shared_ptr<const graph::Graph> graph_;  // The user's model may have outgrown it.
  std::shared_ptr<const graph::Plan> plan_;
  std::string title_;  // Is the model's name, as messages show it.
  std::vector<std::string> inputs_;
  std::vector<std::string> anchors_;  // Are names, in the order of Plan::anchors.
  // Is the index in the store, by position in Plan::variables.
  std::vector<std::size_t> store_index_;
  OutputRows rows_;
  CallReport last_run_;
  CompileReport report_;
  double gradient_parts_ = 1;                 // Is what actors::gradient_parts() returns.
  actors::UpdateRules rules_;                 // Are empty in inference.
  std::uint64_t rules_number_ = 0;            // Counts the optimizers that were set.
  std::optional<Optimizer> first_optimizer_;  // Says what may change; there is none in inference.
  Published<std::optional<Optimizer>> optimizer_;  // Is the newest; there is none in inference.
  Log log_;
  actors::PipelineSetup setup_;
  actors::SystemOptions system_options_;
  bool may_be_shown_;  // Says whether the host lets the monitor see it.
  RunningModel* host_of_;
  // Is the host's: it has the threads of all that are attached.
  std::weak_ptr<actors::ActorSystem> system_;
  // Are the models on its IPUs: it, its host, and others of that host.
  std::shared_ptr<IpuOccupants> occupants_;
  // Is shared with its host and with others of that host.
  std::shared_ptr<std::atomic<std::uint64_t>> uploads_;
  // Are inputs of this model, of its host and of others of that host.
  std::shared_ptr<LentTensors> lent_;
  IpuBytes ipu_bytes_;          // Are the bytes that it takes of them.
  std::int64_t ipu_limit_ = 0;  // Counts the bytes of each; 0 says that there is no limit.
  std::unique_ptr<actors::PipelineRuntime> runtime_;  // Is null while detached.
  std::unique_ptr<IpuStay> stay_;                     // Is null while detached.
  // Is the holder of the state in a host; see holds_optimizer_state().
  RunningModel* state_holder_ = this;
  // Is there while detached, if the state is held here.
  std::optional<actors::OptimizerTensors> kept_state_;
  std::string failure_;                  // Is what the log was told of; empty if nothing was.
  std::optional<Error> untold_failure_;  // Is the failure of the actors that a detach has ended.
  std::vector<Tensor> uploaded_;         // Has the store's values when weights were last uploaded.
  std::uint64_t held_version_ = 0;       // Is a version of the store.
  ModelTrace trace_;
  std::shared_ptr<ModelGauge> gauge_;   // Is shared with its host and with others of that host.
  std::string not_shown_because_;       // Is empty if the monitor shows it, or was not asked to.
  std::unique_ptr<MonitorStay> shown_;  // Is null while detached, and where there is no monitor.
};

}  // namespace penstock
