// A PipelineRuntime is a running model, for code that does not use CAF. It spawns the actors,
// carries the host's calls to them, and ends them. Only one thread at a time may use it, except for
// the functions that any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/execution/pipeline_setup.hpp"
#include "actors/execution/status_board.hpp"
#include "actors/host/answer.hpp"
#include "actors/host/ipu_pulse.hpp"
#include "actors/host/wait_picture.hpp"
#include "actors/system/system_options.hpp"
#include "actors/update/stage_memory.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

class ActorSystem;
class HostCalls;
class OutputCollector;
struct PipelineCast;

/// A RestOfStep says what is to be run of a step: all of it, or what the last update has not seen
/// of a step that has failed.
struct RestOfStep {
  std::int64_t micro_batches = 0;  ///< The step has this many micro-batches per replica.
  std::int64_t done = 0;  ///< The updates of the first `done` of these micro-batches are done.
  /// This has the results of these first micro-batches. It is null if `done` is 0.
  std::shared_ptr<OutputCollector> results = {};
};

class PipelineRuntime {
 public:
  /// Spawns the actors in a new actor system, with the setup that completed() returns. `rules` are
  /// ignored in inference.
  PipelineRuntime(PipelineSetup setup, UpdateRules rules, const SystemOptions& system);
  /// Spawns the actors in the actor system of another runtime, which may end before this one.
  PipelineRuntime(PipelineSetup setup, UpdateRules rules, std::shared_ptr<ActorSystem> system);
  ~PipelineRuntime();
  PipelineRuntime(const PipelineRuntime&) = delete;
  PipelineRuntime& operator=(const PipelineRuntime&) = delete;

  /// Begins to run `micro_batches` micro-batches per replica. `inputs` have the rows for just these
  /// micro-batches. In training, `micro_batches` is a multiple of the gradient accumulation. Once
  /// `stop` is requested, the pipeline begins no further window, or turn of inference, and finishes
  /// those that have begun.
  /// @throws Error as expect_open(); busy while a call is under way.
  void begin_step(std::vector<Tensor> inputs, std::int64_t micro_batches,
                  std::stop_token stop = {});
  /// Begins to run `rest`. If the first micro-batches of the step were done in another runtime of
  /// the same plan, write_variables(), write_buffers() and write_optimizer() have given this one
  /// what the other one had. `inputs` are all inputs of the step, and finish_step() returns what
  /// the whole step returns.
  /// @throws Error as begin_step()
  void begin_rest(RestOfStep rest, std::vector<Tensor> inputs, std::stop_token stop = {});
  /// Returns whether finish_step() would return or throw without waiting.
  bool answered() const;
  /// Waits for the step that begin_step() has begun. In a deterministic system, tests let the
  /// actors run between begin_step() and finish_step().
  /// @throws Error stage_failed, stalled, or any other failure, even one that is not due to this
  /// step; closed if an earlier call has thrown the failure; cancelled if a stop has kept some
  /// micro-batches from beginning.
  StepOutcome finish_step();

  /// Returns the variables of replica `replica`. After a failure, they can still be read as the
  /// last update has left them, and reading them ends the actors.
  /// @throws Error busy while a call is under way; after a failure, closed if the failure came in
  /// the middle of an update, and stalled if a kernel does not end; out_of_memory.
  Variables read_variables(std::int32_t replica = 0);
  void write_variables(const Variables& variables);  ///< Writes the variables of every replica.
  /// Writes those of `variables` that are buffers, in replica `replica` alone. The others may be
  /// empty.
  void write_buffers(const Variables& variables, std::int32_t replica);
  /// Replaces the rules from the next update on. The state of the optimizer stays.
  void set_rules(UpdateRules rules);
  /// Returns the optimizer's whole state. After a failure, it can be read as the variables can.
  /// @throws Error as read_variables()
  OptimizerTensors read_optimizer();
  /// Overwrites the optimizer's state in every replica, and sets the number of updates to
  /// `tensors.updates`. The tensors must have the types that the rules ask for.
  void write_optimizer(const OptimizerTensors& tensors);
  /// Returns the text of the failure that has ended the pipeline, or an empty text if it has not
  /// failed.
  std::string failure() const;
  /// Returns the pipeline's failure if no call has thrown it yet, and nothing otherwise.
  std::optional<Error> untold_failure() const;
  /// Returns whether another runtime can go on from the variables and the state that this one holds
  /// after a failure, because that did not come in the middle of an update. The function ends the
  /// actors, unless an IPU is in the middle of an update. The pipeline must have failed.
  /// @throws Error stalled if a kernel does not end, or if an IPU is in the middle of an update.
  bool can_be_replaced();
  /// Returns what another runtime has to run of the last step, which has failed, and after which
  /// can_be_replaced() has returned true. From then on, micro_batches_begun() counts only those of
  /// the step's micro-batches that are done. The result is empty if results of the updates that are
  /// done are lost, because the actor has died that collects them.
  std::optional<RestOfStep> take_rest();
  /// Checks that the pipeline has not failed.
  /// @throws Error if it has: the failure itself if no call has thrown it yet, closed otherwise.
  void expect_open();
  /// Returns the status of every stage of every replica, replica by replica. The caller gets all
  /// trace events since the last call, and the stages forget them; if the function throws, no event
  /// is lost. After a failure, the function ends the actors, as read_variables() does.
  /// @throws Error busy while a call is under way; stalled if a kernel does not end;
  /// std::bad_alloc.
  std::vector<StageStatus> read_status();
  /// Returns, for each stage, how long its instructions took in those runs that were timed since
  /// the last call, in all replicas together. Runs are timed only if PipelineSetup::profile is set.
  /// @throws Error as read_status() does.
  std::vector<graph::StageProgramTimes> take_program_times();
  /// Returns the events since the last call of the actors that have no IPU. There are none unless
  /// PipelineSetup::profile is set.
  EventLog<HostEvent> take_host_events() noexcept;
  /// Returns how many updates all stages have done, counted on from the number that
  /// write_optimizer() has set. After a stall in the middle of an update, the number is final once
  /// end() has returned true.
  std::uint64_t updates() const;
  /// Returns what may_have_uncounted_update() of pipeline_end.hpp returns.
  bool may_have_uncounted_update() const;
  /// Returns how many micro-batches of each replica have begun. Micro-batches that a stop has kept
  /// from beginning are not counted.
  std::int64_t micro_batches_begun() const { return micro_batches_begun_; }

  /// Ends the actors, but first finishes an update that is under way, as end_pipeline() does.
  /// Afterwards only those functions can be called that can be called after a failure. Returns
  /// whether all actors have ended. The result is false if a kernel does not end in the time that
  /// it is given, nor in `more_seconds`. If `more_seconds` is not 0, and an IPU is in the middle of
  /// an update that does not end in that time, no actor is told to end.
  bool end(double more_seconds = 0);
  /// Ends the actors as end() does, but waits until all have ended, however long a kernel takes;
  /// the destructor of the actor system would wait just as long. In a deterministic system, the
  /// function does not wait.
  void end_for_good() noexcept;

  /// Asks every actor what it waits for, and fills `picture` as the answers come. Any thread may
  /// call this function while the runtime lives. Returns false if there is no memory for the
  /// question.
  bool show_waits(std::shared_ptr<WaitPicture> picture) const noexcept;
  /// Returns the signs of life of the IPUs. Any thread may call it.
  const std::vector<std::shared_ptr<const IpuPulse>>& ipus() const noexcept;

  ActorSystem& system();
  /// Returns the actors, for code that uses CAF.
  const PipelineCast& cast() const noexcept;
  /// Returns the system for another runtime to share.
  const std::shared_ptr<ActorSystem>& shared_system() const { return system_; }

 private:
  struct Cast;  // A Cast has the actors.
  /// LastStep has what the last step has begun with. `first_micro_batch` and `done` are those of
  /// its StepCall.
  struct LastStep {
    std::int64_t first_micro_batch = 0, micro_batches = 0, done = 0;
    std::uint64_t updates_before = 0;
  };
  template <class Message>
  Answer call(Message message);
  template <class Message>
  void begin(Message message);
  Answer await_answer();
  Answer finish();
  /// Ends the actors, so that the memory of the stages can be read.
  /// @throws Error stalled if an actor does not end.
  void end_to_read();
  /// Returns whether an IPU is at work while an update is under way that nobody has given up.
  bool is_updating() const;
  [[noreturn]] static void throw_busy();
  std::span<const StageMemory> memory_of(std::int32_t replica) const;

  std::shared_ptr<const PipelineSetup> setup_;
  std::shared_ptr<HostCalls> host_;
  std::shared_ptr<ActorSystem> system_;
  std::unique_ptr<Cast> cast_;
  std::int64_t micro_batches_begun_ = 0;  // This many micro-batches of each replica have begun.
  LastStep last_step_;
};

/// Prepares the calling thread, which is going to destroy `system`, to read what the pipelines of
/// the system hold before that, even if no memory is left. ActorSystem::prepare_to_end() says more.
void prepare_to_end(ActorSystem& system) noexcept;

}  // namespace penstock::actors
