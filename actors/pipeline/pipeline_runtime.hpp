// A PipelineRuntime is a running model, for those who know nothing of CAF. It spawns the actors,
// carries the host's calls to them, and ends them. One thread uses it.
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

class PipelineRuntime {
 public:
  /// Spawns the actors in a system of their own, with the setup completed(). `rules` are ignored in
  /// inference.
  PipelineRuntime(PipelineSetup setup, UpdateRules rules, const SystemOptions& system);
  /// Spawns the actors on the threads of another runtime, which may end before this one.
  PipelineRuntime(PipelineSetup setup, UpdateRules rules, std::shared_ptr<ActorSystem> system);
  ~PipelineRuntime();
  PipelineRuntime(const PipelineRuntime&) = delete;
  PipelineRuntime& operator=(const PipelineRuntime&) = delete;

  /// Begins to run `micro_batches` per replica on tensors that hold just as many rows; in training,
  /// they are a multiple of the gradient accumulation. Once asked to stop, the pipeline begins no
  /// further window, or turn of inference; what has begun is finished.
  /// @throws Error as expect_open(); busy in a call.
  void begin_step(std::vector<Tensor> inputs, std::int64_t micro_batches,
                  std::stop_token stop = {});
  /// Returns whether finish_step() has nothing to wait for.
  bool answered() const;
  /// Waits for the step that was begun. Between the two functions, tests drive a deterministic
  /// system.
  /// @throws Error stage_failed, stalled, or another failure, be it one that came after the last
  /// call; closed if an earlier call has thrown that; cancelled if a stop has kept some
  /// micro-batches from beginning.
  StepOutcome finish_step();

  /// Returns the variables of one replica. After a failure replica 0's are still there, as the last
  /// update has left them: reading them ends the actors, which throws closed if the failure came in
  /// the middle of an update, and stalled if a kernel does not end.
  /// @throws Error as expect_open() for another replica after a failure; out_of_memory.
  Variables read_variables(std::int32_t replica = 0);
  void write_variables(const Variables& variables);  ///< Writes the variables of every replica.
  /// Replaces the rules from the next update on. The state of the optimizer stays.
  void set_rules(UpdateRules rules);
  /// Returns the optimizer's whole state. @throws Error as expect_open(); out_of_memory.
  OptimizerTensors read_optimizer();
  /// Overwrites the optimizer's state in every replica. The next window has the number of updates
  /// that `tensors` have seen. Its tensors have the types that the rules ask for.
  void write_optimizer(const OptimizerTensors& tensors);
  /// Returns the text of the failure that has ended the pipeline, or an empty text if it has not
  /// failed.
  std::string failure() const;
  /// Returns the failure if no call has thrown it yet.
  std::optional<Error> untold_failure() const;
  /// @throws Error if the pipeline has failed: the failure itself if no call has thrown it yet,
  /// closed otherwise.
  void expect_open();
  /// Returns the status of every stage of every replica, replica by replica. Traces are handed over
  /// and forgotten, or stay whole where they are if it throws. After a failure this ends the
  /// actors, as read_variables() does.
  /// @throws Error busy in a call; stalled if a kernel does not end; std::bad_alloc.
  std::vector<StageStatus> read_status();
  /// Returns how long the instructions of each stage took in the runs of all replicas that were
  /// timed, stage by stage, and begins anew. Nothing was timed unless the setup says so (`profile`).
  /// @throws Error as read_status().
  std::vector<graph::StageProgramTimes> take_program_times();
  /// Returns what the actors without an IPU did since the last time; nothing unless the setup says
  /// so (`profile`).
  EventLog<HostEvent> take_host_events() noexcept;
  /// Returns the updates that all stages have done, on top of those that a written state had seen.
  /// After a stall in the middle of an update, the number is final once end() has returned true.
  std::uint64_t updates() const;
  /// Returns how many micro-batches of each replica have begun. Those that a stop has kept from
  /// beginning are not among them.
  std::int64_t micro_batches_begun() const { return micro_batches_begun_; }

  /// Ends the actors, after an update that is under way; see end_pipeline(). Afterwards only those
  /// functions can be called that can be called after a failure. Returns whether the actors hold no
  /// memory of the IPUs any more, which is false if a kernel does not end in the time that it is
  /// given.
  bool end();
  /// Ends the actors as end() does, but waits for what an IPU is in the middle of however long that
  /// takes, and then for the actors. In a deterministic system it waits for nothing. Destroying the
  /// system's threads would wait as long in any case.
  void end_for_good() noexcept;

  /// Asks what every actor waits for, and fills `picture` as the answers come. Any thread may call
  /// it while the runtime lives. Returns false if there is no memory to ask.
  bool show_waits(std::shared_ptr<WaitPicture> picture) const noexcept;
  /// Returns the signs of life of the IPUs. Any thread may call it.
  const std::vector<std::shared_ptr<const IpuPulse>>& ipus() const noexcept;

  ActorSystem& system();
  /// Returns the system for another runtime to share.
  const std::shared_ptr<ActorSystem>& shared_system() const { return system_; }

 private:
  struct Cast;  // Has the actors.
  template <class Message>
  Answer call(Message message);
  template <class Message>
  void begin(Message message);
  Answer await_answer();
  Answer finish();
  /// @throws Error stalled if what the actors hold cannot be read.
  void end_to_read();
  std::span<const StageMemory> memory_of(std::int32_t replica) const;

  std::shared_ptr<const PipelineSetup> setup_;
  std::shared_ptr<HostCalls> host_;
  std::shared_ptr<ActorSystem> system_;
  std::unique_ptr<Cast> cast_;
  std::int64_t micro_batches_begun_ = 0;  // Counts the micro-batches of each replica.
  std::int64_t first_micro_batch_ = 0;    // Is the first micro-batch of the last step.
};

/// Lets the calling thread, which is going to end `system`, read first what the system's pipelines
/// hold. The memory for that was kept back.
void prepare_to_end(ActorSystem& system) noexcept;

}  // namespace penstock::actors
