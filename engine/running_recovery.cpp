// These functions of RunningModel let a run go on by itself after a failure that its inputs are not
// at fault for.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/running_model.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

actors::StepOutcome RunningModel::run_to_end(std::span<const Tensor> inputs,
                                             std::int64_t micro_batches,
                                             const std::stop_token& stop,
                                             std::vector<Recovery>& recoveries) {
  std::optional<actors::RestOfStep> rest = actors::RestOfStep{.micro_batches = micro_batches};
  for (;;) {
    try {
      return run_rest(std::move(*rest), inputs, stop);
    } catch (const Error& error) {
      if (!may_go_on_after(error.code(), std::ssize(recoveries))) throw;
      rest = replace_actors(recoveries);
      if (!rest) throw;
    }
  }
}

actors::StepOutcome RunningModel::run_rest(actors::RestOfStep rest, std::span<const Tensor> inputs,
                                           const std::stop_token& stop) {
  const std::uint64_t updates_before = updates();
  try {
    runtime_->begin_rest(std::move(rest), lent_->lend(inputs), stop);
    actors::StepOutcome outcome = runtime_->finish_step();
    note_updates_since(updates_before);
    return outcome;
  } catch (...) {
    note_updates_since(updates_before);
    note_failure_if_possible();
    throw;
  }
}

// What layers keep from call to call is lost with the actors.
bool RunningModel::may_go_on_after(Errc code, std::int64_t recoveries) const {
  const bool is_of_engine = code == Errc::internal || code == Errc::stalled;
  const auto keeps_state = [](const graph::Node& node) { return node.op->keeps_state; };
  return is_of_engine && !failure_.empty() && recoveries < recovery_.attempts &&
         std::ranges::none_of(graph_->nodes, keeps_state);
}

// If the actors cannot be replaced, the failure that they are to be replaced for is what the host
// has to know.
std::optional<actors::RestOfStep> RunningModel::replace_actors(
    std::vector<Recovery>& recoveries) noexcept {
  const std::int64_t begin_ns = steady_ns();
  try {
    Recovery recovery{.failure = failure_};
    if (!runtime_->end(recovery_.wait_seconds) || !runtime_->can_be_replaced()) return {};
    auto rest = runtime_->take_rest();
    if (!rest) return {};
    settle_failure();
    prepare_run();
    const std::int64_t end_ns = steady_ns();
    recovery.updates = static_cast<std::int64_t>(updates());
    recovery.micro_batch = rest->done;
    recovery.seconds = static_cast<double>(end_ns - begin_ns) * 1e-9;
    trace_.note_recovery({.actor = HostActor::supervisor,
                          .micro_batch = trace_.numbered(0),
                          .begin_ns = begin_ns,
                          .end_ns = end_ns});
    tell_recovery(recovery);
    recoveries.push_back(std::move(recovery));
    return rest;
  } catch (const std::exception& error) {
    tell_of_failed_recovery(error.what());
    return {};
  }
}

void RunningModel::tell_of_failed_recovery(const char* why) const noexcept {
  try {
    log_(LogLevel::warning, {title_, ": other actors cannot go on with the call: ", why});
  } catch (const std::exception&) {
    // If there is no memory for the text, the log is not told.
  }
}

void RunningModel::tell_recovery(const Recovery& recovery) const {
  log_(LogLevel::warning,
       {title_, ": the call goes on after its failure with other actors, from update ",
        std::to_string(recovery.updates), " and its micro-batch ",
        std::to_string(recovery.micro_batch), "; it took ", decimal_text(recovery.seconds, 6),
        " s to replace those that had failed"});
}

}  // namespace penstock
