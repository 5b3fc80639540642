#include "engine/short_plans.hpp"

#include <utility>

namespace penstock {

std::int64_t equal_micro_batch(std::int64_t rows, std::int64_t most) {
  std::int64_t batch = std::min(rows, most);
  while (rows % batch != 0) --batch;
  return batch;
}

void expect_not_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(Errc::cancelled, "the call was asked to stop");
}

RunningModel& ShortPlans::open() const {
  own_.expect_open();
  for (const auto& plan : kept_) plan->expect_open();
  return own_;
}

void ShortPlans::detach() {
  open();
  const bool any = own_.any_attached();
  while (!kept_.empty()) forget_oldest();
  if (own_.attached() || !any) own_.detach();
}

std::vector<TraceEvent> ShortPlans::take_trace() {
  for (const auto& plan : kept_) plan->stage_reports();  // which brings their events along
  return own_.take_trace();
}

std::string ShortPlans::to_text(const UnfilledRows& rows) {
  return rows.call + " of " + std::to_string(rows.rows) + " samples, of which " +
         std::to_string(rows.rest) + " fill no " + rows.unfilled;
}

void ShortPlans::forget_oldest() {
  RunningModel& oldest = *kept_.back();
  if (oldest.plan().training && oldest.holds_optimizer_state()) own_.fetch_optimizer_state();
  if (oldest.attached()) oldest.detach();  // which its destructor could not refuse
  kept_.pop_back();
}

}  // namespace penstock
