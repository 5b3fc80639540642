// Feed: cuts the tensors of the host's call into micro-batches and sends each to the stages that
// consume it, for every replica in data order and never further ahead than its credits.
#pragma once

#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

struct FeedState {
  void start(FeedHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             SupervisorHandle watcher);
  void on_links(FeedLinks& given) { links = std::move(given); }
  void on_step_call(StepCall& given);
  void on_credit(const Credit& credit);
  void on_explain_wait();

  void feed(std::size_t replica);
  void send_micro_batch(std::size_t replica, std::int64_t micro_batch);
  /// Rows of one micro-batch: a view where that is 64-byte aligned, as kernels need it; a copy
  /// otherwise.
  Tensor micro_batch_of(std::size_t input, std::size_t replica, std::int64_t micro_batch);
  Tensor copied(const Tensor& rows, std::size_t input, std::size_t replica,
                std::int64_t micro_batch);

  FeedHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  SupervisorHandle supervisor;
  FeedLinks links;
  StepCall call;
  std::vector<std::int64_t> credits;               // per replica
  std::vector<std::int64_t> next;                  // per replica: micro-batch to send next
  std::vector<std::shared_ptr<std::byte>> copies;  // by input; made when first needed
};

FeedHandle::behavior_type feed_actor(FeedHandle::stateful_pointer<FeedState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     SupervisorHandle supervisor);

}  // namespace penstock::actors
