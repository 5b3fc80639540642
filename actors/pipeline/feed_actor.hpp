// The feed cuts the tensors of the host's call into micro-batches and sends each to the stages that
// consume it. It sends each replica's micro-batches in data order, and no further ahead than the
// replica's credits allow. If a call is asked to stop, the feed ends it between two windows, after
// the same window in every replica.
#pragma once

#include "actors/host/pipeline_pulse.hpp"
#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct FeedState {
  void start(FeedHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             std::shared_ptr<PipelinePulse> moves, SupervisorHandle watcher);
  void on_links(FeedLinks& message) { links = std::move(message); }
  void on_step_call(StepCall& message);
  void on_credit(const Credit& credit);
  void on_explain_wait(const ExplainWait& question) const;

  void feed(std::size_t replica);
  /// Returns whether `micro_batch` may be sent. If the call was asked to stop, a micro-batch may be
  /// sent only if another one of the same window has been sent; otherwise the call ends before that
  /// window.
  bool may_send(std::int64_t micro_batch);
  /// Returns how many micro-batches are begun either together or not at all: those of a window in
  /// training, or those of a turn in inference.
  std::int64_t window() const;
  void send_micro_batch(std::size_t replica, std::int64_t micro_batch);
  /// Returns what micro_batch_of() returns for each input of the plan that a stage takes.
  std::vector<Tensor> inputs_of(std::size_t replica, std::int64_t micro_batch);
  /// Returns the rows of one micro-batch: a view of the host's tensor if the rows are 64-byte
  /// aligned, as kernels need them, and a copy otherwise.
  Tensor micro_batch_of(std::size_t input, std::size_t replica, std::int64_t micro_batch);
  Tensor copied(const Tensor& rows, std::size_t input, std::size_t replica,
                std::int64_t micro_batch);
  Wait waits_for() const;

  FeedHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<PipelinePulse> pulse;
  SupervisorHandle supervisor;
  FeedLinks links;
  StepCall call;
  std::int64_t end = 0;  // This is one more than the number of the call's last micro-batch.
  // This is one more than the number of the last micro-batch in all windows that have begun in some
  // replica.
  std::int64_t begun_end = 0;
  std::vector<std::int64_t> credits;  // This has the number of credits of each replica.
  std::vector<std::int64_t> next;     // This has, for each replica, the micro-batch to send next.
  std::int64_t since_ns = 0;          // This is when the feed last sent something, or got a call.
  // The handler that runs has copied this many bytes since it has last let other actors work.
  std::size_t unannounced_bytes = 0;
  // This has, for each input, the memory of copied rows, or null if no rows have been copied yet.
  std::vector<std::shared_ptr<std::byte>> copies;
};

FeedHandle::behavior_type feed_actor(FeedHandle::stateful_pointer<FeedState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<PipelinePulse> pulse,
                                     SupervisorHandle supervisor);

}  // namespace penstock::actors
