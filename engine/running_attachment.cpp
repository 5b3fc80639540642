// These functions of RunningModel put it on its IPUs and take it off them, also after a failure:
// the actors that have failed end, and others begin from what the last update has left.
#include <optional>
#include <string>
#include <utility>

#include "actors/host/failure_latch.hpp"
#include "engine/running_model.hpp"
#include "penstock/error.hpp"

namespace penstock {

void RunningModel::note_failure() {
  if (!runtime_ || !failure_.empty()) return;
  failure_ = runtime_->failure();
  if (!failure_.empty()) log_(LogLevel::error, failure_);
}

void RunningModel::note_failure_if_possible() noexcept {
  try {
    note_failure();
  } catch (...) {  // The actors keep the failure for the next call.
  }
}

void RunningModel::detach() {
  if (!runtime_)
    throw Error(Errc::invalid_argument, "detach: model " + title_ + " is not attached to its IPUs");
  note_failure();
  const bool goes_on = failure_.empty() || runtime_->can_be_replaced();
  std::optional<actors::OptimizerTensors> state;
  if (plan_->training && holds_optimizer_state()) {
    // A plan for short steps that has failed for good is detached without the state.
    if (!goes_on && !host_of_) throw actors::closed_by(failure_);
    if (goes_on) state = ask([](auto& actors) { return actors.read_optimizer(); });
  }
  ReplicaBuffers buffers;
  if (goes_on && buffers_holder() == this) buffers = replica_buffers();
  if (setup_.trace) {  // What the stages have recorded would be lost with the stages.
    ask_stages();
    note_program_times();
  }
  weights_->take_from(*this);
  note_failure();
  if (has_to_tell_failure()) untold_failure_ = runtime_->untold_failure();
  kept_state_ = std::move(state);
  kept_buffers_ = std::move(buffers);
  kept_version_ = weights_->version();
  trace_.count_ended(runtime_->micro_batches_begun());
  // `is_free` says whether the memory of the IPUs is free already.
  const bool is_free = runtime_->end();
  shown_.reset();
  runtime_.reset();
  stay_.reset();
  held_version_ = 0;
  const bool failed = !failure_.empty();
  if (goes_on) failure_.clear();
  log_(LogLevel::info, {title_, ": detached from its IPUs"});
  if (failed && goes_on)
    log_(LogLevel::info, {title_, ": goes on after its failure, from update ",
                          std::to_string(updates()), ", with other actors"});
  if (!is_free)
    log_(LogLevel::warning,
         {title_, ": an IPU is still busy, and has its memory until it is done"});
}

// If actors die between two calls, no call has lost anything, and the log tells of it.
bool RunningModel::has_to_tell_failure() {
  const std::optional<Error> untold = runtime_ ? runtime_->untold_failure() : std::nullopt;
  return untold && !(may_go_on_after(untold->code(), 0) && runtime_->can_be_replaced());
}

void RunningModel::settle_failure() {
  note_failure();
  if (untold_failure_) throw *std::exchange(untold_failure_, std::nullopt);
  if (has_to_tell_failure()) runtime_->expect_open();
  if (failure_.empty()) return;
  if (!runtime_ || !runtime_->can_be_replaced()) throw actors::closed_by(failure_);
  detach();
  (host_of_ ? host_of_ : this)->left_after_failure_ = true;
}

void RunningModel::attach() {
  if (runtime_) return;
  settle_failure();
  start_actors();
  try {
    if (kept_state_) runtime_->write_optimizer(*kept_state_);
    if (kept_version_ == weights_->version()) set_replica_buffers(kept_buffers_.buffers);
  } catch (...) {
    shown_.reset();
    runtime_.reset();  // The model is still detached, with the state that is kept.
    stay_.reset();
    held_version_ = 0;
    failure_.clear();  // A failure of the actors that have just begun is thrown here.
    throw;
  }
  kept_state_.reset();
  kept_buffers_ = {};
  log_(LogLevel::info, {title_, ": attached to its IPUs"});
}

void RunningModel::prepare_run() {
  settle_failure();
  attach();
  stay_->use();
  if (plan_->training) fetch_optimizer_state();
  if (held_version_ != weights_->version()) upload_weights();
  if (plan_->training) weights_->leave_to(*this, store_index_);
}

void RunningModel::note_updates_since(std::uint64_t updates_before) noexcept {
  if (!plan_->training) return;
  // An update is counted before it ends, so that none is missed if the count is read last.
  if (!runtime_->may_have_uncounted_update() && updates() == updates_before) return;
  held_version_ = weights_->mark_newer(*this, store_index_);
  buffers_holder() = this;
}

}  // namespace penstock
