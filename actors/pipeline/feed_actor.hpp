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
  /// Returns whether `micro_batch` may be sent. It may not if the call was asked to stop and no
  /// other micro-batch of the same window has been sent; the call then ends before that window.
  bool may_send(std::int64_t micro_batch);
  /// Returns how many micro-batches are begun together or not at all: those of a window, or of a
  /// turn of inference.
  std::int64_t window() const;
  void send_micro_batch(std::size_t replica, std::int64_t micro_batch);
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
  std::int64_t end = 0;  // Is one more than the number of the call's last micro-batch.
  // Is one more than the number of the last micro-batch of the windows that have begun in some
  // replica.
  std::int64_t begun_end = 0;
  std::vector<std::int64_t> credits;  // Is numbered by replica.
  std::vector<std::int64_t> next;     // Has, for each replica, the micro-batch to send next.
  std::int64_t since_ns = 0;          // Is when the feed last sent something, or got a call.
  // Has, for each input, the memory of copied rows; null if none has been copied yet.
  std::vector<std::shared_ptr<std::byte>> copies;
};

FeedHandle::behavior_type feed_actor(FeedHandle::stateful_pointer<FeedState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<PipelinePulse> pulse,
                                     SupervisorHandle supervisor);

}  // namespace penstock::actors
