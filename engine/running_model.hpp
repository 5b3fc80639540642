// RunningModel is a compiled model that runs, for training or for inference: it has the plan and
// the actors that execute the plan, and copies weights to the IPUs and back. It is used inside a
// ModelCall, except for the functions that say that any thread may call them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"
#include "engine/dynamic_length.hpp"
#include "engine/ipu_occupants.hpp"
#include "engine/lent_tensors.hpp"
#include "engine/log/log.hpp"
#include "engine/model/parameter_store.hpp"
#include "engine/model_trace.hpp"
#include "engine/monitor/model_gauge.hpp"
#include "engine/monitor/process_monitor.hpp"
#include "engine/published.hpp"
#include "engine/replica_buffers.hpp"
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

enum class StateNumbers : std::uint8_t;
struct NamedType;
struct Objective;

class RunningModel final : public WeightSource {
 public:
  /// Compiles `model` as it is now, for training with `optimizer` on `objective` or, if `optimizer`
  /// is null, for inference, and starts the actors.
  RunningModel(const Model& model, const Options& options, const Optimizer* optimizer,
               const Objective& objective);
  /// Makes a model for other calls than the full ones of the model `host`. It has the network that
  /// `host` has, with dynamic axes of the length `length`, and runs on the threads and IPUs of
  /// `host`, whether or not `host` is attached. If the IPUs have not enough memory for both, the
  /// one that is not in use is detached.
  /// @throws Error as graph_of_length(), too.
  RunningModel(RunningModel& host, const Options& options, std::int64_t length);
  /// Lets the calling thread, which is to destroy this model and those that share its threads, use
  /// memory that was kept back for that purpose.
  void prepare_to_end() noexcept;
  /// Waits until the IPUs have done what they are working on, however long that takes. Then weights
  /// that are newer than the host's are read; if they cannot be read, they are lost.
  ~RunningModel();
  RunningModel(const RunningModel&) = delete;
  RunningModel& operator=(const RunningModel&) = delete;

  /// Tells the log how the model was compiled. The constructor calls this function itself if the
  /// model runs other calls of another one.
  void log_compilation() const;

  const graph::Plan& plan() const { return *plan_; }
  /// Returns the rules of the plan's variables, which are empty in inference.
  const actors::UpdateRules& rules() const { return rules_; }
  std::int64_t gradient_accumulation() const { return setup_.gradient_accumulation; }
  std::int64_t replicas() const { return setup_.replicas; }
  /// Returns the length of the network's dynamic axes; see dynamic_length.hpp.
  std::int64_t length() const { return length_of(*graph_); }
  /// Returns which lengths the calls of this model may have.
  DynamicLength dynamic_length() const { return dynamic_length_of(*graph_, *plan_); }
  const CompileReport& compile_report() const { return report_; }
  /// Returns the log of this model, which the models for its other calls share.
  const Log& log() const { return log_; }
  /// Returns the names of the inputs that the plan needs, in the model's order.
  const std::vector<std::string>& inputs() const { return inputs_; }
  /// Returns a result such as run() returns, but with empty tensors.
  StepResult outline() const;

  /// Checks that the rows of outputs that `remainder`, a model with micro-batches of another size,
  /// returns can be put behind the rows that this model returns. Only outputs of which all rows are
  /// returned are checked.
  /// @throws Error shape_mismatch, which names the output, if its dimensions other than 0 depend on
  /// the size of the micro-batch, too.
  void expect_same_rows(const RunningModel& remainder) const;

  /// Makes the model usable again after a failure, unless it has failed for good: it is detached,
  /// and the next attach() starts other actors, which go on from the last update. Does nothing if
  /// the model has not failed. Whatever needs actors that have not failed calls this function
  /// first.
  /// @throws Error: the failure itself if has_to_tell_failure(); closed if the model has failed for
  /// good; stalled if an IPU is still busy; as detach().
  void settle_failure();
  /// Returns whether settle_failure() has detached this model, or one of those for its other calls,
  /// since note_detached_by_host() was called last.
  bool left_after_failure() const noexcept { return left_after_failure_; }
  void note_detached_by_host() noexcept { left_after_failure_ = false; }
  /// Ends the actors and their threads, and frees their memory. The weights, the optimizer's state,
  /// the buffers and the number of updates are kept as the last update has left them, so that later
  /// random numbers do not change. If the model has failed for good, the failure is kept, too.
  /// @throws Error invalid_argument if the model is detached already; closed if it has failed for
  /// good in training, because the state cannot be read then; stalled if it has failed and an IPU
  /// is still busy; out_of_memory.
  void detach();
  /// Starts the actors and their threads again if the model is detached, without compiling again.
  /// Every function that needs the IPUs calls attach() first.
  /// @throws Error out_of_memory; as settle_failure() if the model has failed.
  void attach();
  bool attached() const noexcept { return runtime_ != nullptr; }
  /// Returns what runs this model's actors, or null while it is detached.
  const actors::PipelineRuntime* actors() const noexcept { return runtime_.get(); }
  /// Returns whether this model is attached, or one of those that share its IPUs. Any thread may
  /// call the function.
  bool any_attached() const noexcept { return occupants_->any(); }

  /// Sends newer weights to the IPUs first, if there are any, and then runs `micro_batches`
  /// micro-batches per replica. @throws Error as PipelineRuntime::step().
  StepResult run(std::span<const Tensor> inputs, std::int64_t micro_batches,
                 const std::stop_token& stop);
  /// Releases the host's inputs that no thread of the engine uses any more.
  void release_inputs() noexcept { lent_->release_returned(); }

  /// Hands over the report on the last run() that returned. If memory was missing for the whole
  /// report, it has nothing but the time.
  CallReport take_last_run() noexcept { return std::move(last_run_); }

  /// Takes the constants of an optimizer that the host sets. If the model is detached, the actors
  /// get the constants, and any state that is set, at the next attach().
  /// @throws Error invalid_argument, before anything has changed, if a parameter's rule, the state
  /// that the rule keeps or a constant attribute would change.
  void set_optimizer(const Optimizer& optimizer) { set_rules(optimizer, rules_number_ + 1); }
  /// Checks that set_optimizer() takes `optimizer`. @throws Error as set_optimizer().
  void expect_optimizer(const Optimizer& optimizer) const { checked_rules(optimizer); }
  /// Takes the optimizer's constants from the model whose other calls this model runs.
  /// @throws Error as set_optimizer()
  void take_optimizer_of_host();
  /// Returns the optimizer whose constants apply now. The model must be one for training. Any
  /// thread may call the function.
  Optimizer optimizer() const { return *optimizer_.get(); }
  /// Returns whether this model holds the newest state of the optimizer. A model and the models for
  /// its other calls share one state, which the model that has trained last holds.
  bool holds_optimizer_state() noexcept { return state_holder() == this; }
  /// Copies the newest state of the optimizer to this model, unless this model holds it already.
  /// run() calls this function first.
  /// @throws Error closed or out_of_memory; the model that held the state then still does.
  void fetch_optimizer_state();
  /// Returns the newest state of the optimizer as named tensors; see optimizer_state.hpp.
  std::vector<NamedTensor> optimizer_state();
  /// Sets the optimizer's state to what the named tensors hold.
  /// @throws Error as tensors_of(), before anything has changed.
  void set_optimizer_state(std::span<const NamedTensor> named, const std::string& subject,
                           StateNumbers numbers);
  /// Checks that the optimizer's state could be set to what the named tensors hold. @throws Error
  /// as tensors_of().
  void expect_optimizer_state(std::span<const NamedTensor> named, const std::string& subject,
                              StateNumbers numbers) const;
  /// Checks that a state with the names and types `types` could be set. @throws Error as
  /// set_optimizer_state()
  void expect_optimizer_state(std::span<const NamedType> types, const std::string& subject) const;
  /// Returns the reports of the stages, which count since the model was attached, or none while it
  /// is detached.
  std::vector<StageReport> stage_reports();
  /// Returns, in order of time, the events that this model and those for its other calls have
  /// recorded since the last call of this function.
  std::vector<TraceEvent> take_trace();
  /// Returns the profile of this model's full calls since it was built.
  /// @throws Error invalid_argument if nothing is recorded.
  Profile profile();
  /// Returns how many events were dropped of this model and of those for its other calls, since it
  /// was built. Any thread may call the function.
  std::uint64_t dropped_events() const noexcept { return trace_.dropped(); }
  /// Returns how many updates the weights have had, including those of the models for other calls.
  /// Any thread may call the function.
  std::uint64_t updates() const noexcept { return *setup_.updates; }
  /// Returns what the monitor shows of this model and those for its other calls.
  ModelGauge& gauge() noexcept { return *gauge_; }
  /// Returns how often this model, and those for its other calls, have copied weights to the IPUs.
  /// Any thread may call the function.
  std::uint64_t weight_uploads() const noexcept { return *uploads_; }

  /// Returns what TrainingModel::buffer() returns for a model with `replicas` replicas.
  Tensor read_buffer(const std::string& name, int replica, int replicas);
  /// Returns the buffers that the replicas of this model, or of the model for calls of another
  /// length that has trained last, have of their own.
  ReplicaBuffers replica_buffers();
  /// Checks that `of_replica` has all buffers of this model, and no other tensors. @throws Error
  /// shape_mismatch if it has not.
  void expect_buffers(std::span<const NamedTensor> of_replica) const;
  /// Sets all buffers of the replicas but the first. `of_replicas` has a list for each of them, for
  /// which expect_buffers() holds. From then on, this model counts as the one that has trained
  /// last.
  void set_replica_buffers(std::span<const std::vector<NamedTensor>> of_replicas);
  std::vector<Tensor> read_weights() override;
  void weights_taken() override;

 private:
  RunningModel(std::shared_ptr<ParameterStore> weights, std::shared_ptr<const graph::Graph> graph,
               const Options& options, const Optimizer* optimizer, const LogScope* scope,
               RunningModel* host_of);
  /// Runs `call`, which asks the actors, and returns its result. If the actors have failed, the
  /// thread that asks tells the log so, because no other thread may call the host.
  auto ask(const auto& call) {
    try {
      return call(runtime());
    } catch (...) {
      note_failure_if_possible();
      throw;
    }
  }
  void note_failure();
  /// Returns whether the actors have failed, no call has thrown the failure yet, and the next one
  /// has to. @throws Error as PipelineRuntime::can_be_replaced()
  bool has_to_tell_failure();
  /// Calls note_failure() while an error is on its way to the host. What note_failure() throws,
  /// such as for a lack of memory, is ignored, so that it does not replace that error.
  void note_failure_if_possible() noexcept;
  RunningModel*& state_holder() noexcept {
    return host_of_ ? host_of_->state_holder_ : state_holder_;
  }
  /// Returns the model whose replicas have the newest buffers of their own, which is the one that
  /// has trained last, or null if none has.
  RunningModel*& buffers_holder() noexcept {
    return host_of_ ? host_of_->buffers_holder_ : buffers_holder_;
  }
  /// Returns whether the buffers of the replicas of this model, or those that are kept while it is
  /// detached, belong to the newest weights.
  bool has_newest_buffers() const {
    return (runtime_ ? held_version_ : kept_version_) == weights_->version();
  }
  /// Returns the names of all buffers, and their positions in Plan::variables.
  std::map<std::string_view, std::size_t> buffers() const;
  actors::OptimizerTensors optimizer_tensors();
  /// Makes `state` the newest state of the optimizer, which this model then holds.
  void write_optimizer(actors::OptimizerTensors state);
  /// Returns the names of all parameters, whether or not they are frozen.
  std::vector<std::string> parameter_names() const;
  /// Returns the position of the buffer `name` in Plan::variables. @throws Error invalid_argument
  /// if there is no such buffer.
  std::size_t buffer_position(const std::string& name) const;
  void upload_weights();
  /// Reads what the stages have noted. The events become part of the trace even if the function
  /// throws.
  StageNotes ask_stages();
  /// A RunSpan says, by the steady clock, when a run was asked for, when the IPUs had all that the
  /// run needs, and when the run ended. It also says how large the run was.
  struct RunSpan {
    std::int64_t begin_ns, prepared_ns, end_ns;
    std::int64_t micro_batches, samples;
  };
  /// Runs `micro_batches` micro-batches per replica. After a failure that is not due to the inputs,
  /// it lets other actors go on, as often as the options allow, and adds that to `recoveries`.
  /// @throws Error as PipelineRuntime::finish_step()
  actors::StepOutcome run_to_end(std::span<const Tensor> inputs, std::int64_t micro_batches,
                                 const std::stop_token& stop, std::vector<Recovery>& recoveries);
  /// Runs `rest` of a run on `inputs`, and notes what it leaves. @throws Error as
  /// PipelineRuntime::finish_step()
  actors::StepOutcome run_rest(actors::RestOfStep rest, std::span<const Tensor> inputs,
                               const std::stop_token& stop);
  /// Returns whether a run that has gone on after `recoveries` failures may go on after another
  /// one, whose code is `code`.
  bool may_go_on_after(Errc code, std::int64_t recoveries) const;
  /// Lets other actors take the place of those that have failed, and returns the part of the run
  /// that they have to do, or nothing if they cannot. Adds what has happened to `recoveries`.
  std::optional<actors::RestOfStep> replace_actors(std::vector<Recovery>& recoveries) noexcept;
  void tell_recovery(const Recovery& recovery) const;
  void tell_of_failed_recovery(const char* why) const noexcept;
  /// Makes the report on the run that has just ended, and adds the run to the profile, unless it
  /// has gone on after a failure.
  void note_run(const RunSpan& run);
  /// Adds to the profile what the actors have measured of their programs.
  void note_program_times();
  void set_rules(const Optimizer& optimizer, std::uint64_t number);
  /// Returns the rules of `optimizer`. @throws Error as set_optimizer().
  actors::UpdateRules checked_rules(const Optimizer& optimizer) const;
  /// Gives the IPUs what they need for a run: the threads, the optimizer's state and the newest
  /// weights.
  void prepare_run();
  /// Notes, after a run, that this model alone has the newest weights and buffers, unless the run
  /// has done no update. An update that may have changed weights when the run failed counts,
  /// whether or not it is done.
  void note_updates_since(std::uint64_t updates_before) noexcept;
  /// Sets in `rows` how many micro-batches a run of `micro_batches` per replica returns.
  void count_rows(OutputRows& rows, std::int64_t micro_batches) const;
  void tell_run(std::int64_t micro_batches, double seconds) const;
  void start_actors();
  /// Shows the model to the monitor, if one is allowed. If that fails, not_shown_because_ says why.
  void show_to_monitor() noexcept;
  actors::PipelineRuntime& runtime();
  StepResult result_of(const actors::StepOutcome& outcome) const;
  const actors::OutputSelection& selection_of(std::size_t output) const;

  std::shared_ptr<ParameterStore> weights_;
  // `graph_` is the network as it was when this model was made. The host may have added layers
  // since.
  std::shared_ptr<const graph::Graph> graph_;
  std::shared_ptr<const graph::Plan> plan_;
  std::string title_;  // `title_` is the model's name, as messages show it.
  std::vector<std::string> inputs_;
  std::vector<std::string> anchors_;  // `anchors_` has the names of Plan::anchors.
  // `store_index_` has, for each of Plan::variables, its index in the store.
  std::vector<std::size_t> store_index_;
  OutputRows rows_;
  CallReport last_run_;
  CompileReport report_;
  double gradient_parts_ = 1;       // `gradient_parts_` is what actors::gradient_parts() returns.
  actors::UpdateRules rules_;       // `rules_` are empty in inference.
  std::uint64_t rules_number_ = 0;  // `rules_number_` is the number of optimizers that were set.
  // `first_optimizer_` is the optimizer that the constructor was given, which says what may change.
  // It is empty in inference.
  std::optional<Optimizer> first_optimizer_;
  // `optimizer_` is the optimizer that was set last. It is empty in inference.
  Published<std::optional<Optimizer>> optimizer_;
  Log log_;
  actors::PipelineSetup setup_;
  actors::SystemOptions system_options_;
  RecoveryOptions recovery_;
  // `may_be_shown_` says whether the host allows the monitor to show the model.
  bool may_be_shown_;
  RunningModel* host_of_;  // `host_of_` is the model whose other calls this model runs, or null.
  // `system_` has the threads of a model, which the models for its other calls use, too.
  std::weak_ptr<actors::ActorSystem> system_;
  // `occupants_` are the plans on the IPUs that a model and the models for its other calls share.
  std::shared_ptr<IpuOccupants> occupants_;
  // `uploads_` counts how often a model and the models for its other calls have copied weights to
  // the IPUs.
  std::shared_ptr<std::atomic<std::uint64_t>> uploads_;
  // `lent_` has the inputs of a model and of the models for its other calls.
  std::shared_ptr<LentTensors> lent_;
  IpuBytes ipu_bytes_;  // `ipu_bytes_` are the bytes that this model takes of each IPU.
  // Each IPU has this many bytes of memory; 0 says that there is no limit.
  std::int64_t ipu_limit_ = 0;
  // `runtime_` is null while the model is detached.
  std::unique_ptr<actors::PipelineRuntime> runtime_;
  std::unique_ptr<IpuStay> stay_;  // `stay_` is null while the model is detached.
  // `state_holder_` is the model that holds the optimizer's newest state. A model for other calls
  // uses the member of `host_of_` instead of its own.
  RunningModel* state_holder_ = this;
  // `buffers_holder_` is the model that has trained last, or null. A model for other calls uses the
  // member of `host_of_` instead of its own.
  RunningModel* buffers_holder_ = nullptr;
  // `kept_state_` has the optimizer's state while this model is detached and holds the state.
  std::optional<actors::OptimizerTensors> kept_state_;
  // `kept_buffers_` has the buffers of the replicas while this model is detached, if this model has
  // trained last. They are valid as long as the store has the version `kept_version_` of the
  // weights.
  ReplicaBuffers kept_buffers_;
  std::uint64_t kept_version_ = 0;
  // `failure_` is the failure that the log was told. It is empty if there was none, or if the model
  // goes on after it.
  std::string failure_;
  // `untold_failure_` is a failure that no call has thrown yet.
  std::optional<Error> untold_failure_;
  // If this is true, settle_failure() has detached this model, or one of those for its other calls,
  // which the host has not detached. A model for other calls uses the member of `host_of_` instead
  // of its own.
  bool left_after_failure_ = false;
  // `held_version_` is the version that the weights on the IPUs have in the store. It is 0 if there
  // are no weights on the IPUs.
  std::uint64_t held_version_ = 0;
  ModelTrace trace_;
  // `gauge_` is shared by a model and the models for its other calls.
  std::shared_ptr<ModelGauge> gauge_;
  // `not_shown_because_` says why the monitor does not show the model. It is empty if the monitor
  // shows the model, or is not to show it.
  std::string not_shown_because_;
  // `shown_` is null while the model is detached, and where there is no monitor.
  std::unique_ptr<MonitorStay> shown_;
};

}  // namespace penstock
