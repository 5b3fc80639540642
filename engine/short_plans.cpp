#include "engine/short_plans.hpp"

#include <string_view>
#include <utility>

#include "graph/values/joined.hpp"

namespace penstock {
namespace {

bool same(const OffloadOptions& a, const OffloadOptions& b) {
  return a.optimizer_state == b.optimizer_state && a.accumulators == b.accumulators &&
         a.activations == b.activations && a.weights == b.weights;
}

bool recomputes_all(const TrainingOptions& training) {
  return training.recompute && training.recompute_stages.empty();
}

/// Says what a plan of `less` does to need less memory than one of `refused`.
std::vector<std::string_view> savings(const Options& refused, const Options& less) {
  std::vector<std::string_view> result;
  if (!same(offload_of(less), offload_of(refused)))
    result.push_back("keeps more tensors in the host store");
  if (recomputes_all(less.training) && !recomputes_all(refused.training))
    result.push_back("recomputes the activations of every stage but the last");
  // All other strategies ignore the schedule.
  if (less.topology.strategy == Strategy::pipelined &&
      less.topology.schedule != refused.topology.schedule)
    result.push_back("has one micro-batch in flight");
  return result;
}

}  // namespace

std::int64_t equal_micro_batch(std::int64_t rows, std::int64_t most) {
  std::int64_t batch = std::min(rows, most);
  while (rows % batch != 0) --batch;
  return batch;
}

Options for_fewer_samples(Options options, std::int64_t batch) {
  const std::int64_t whole = options.batch_size;
  std::int64_t& minimum = options.training.offload.activations.minimum_bytes;
  // The minimum times batch / whole, rounded up, without a product that overflows.
  minimum = minimum / whole * batch + (minimum % whole * batch + whole - 1) / whole;
  options.batch_size = static_cast<int>(batch);
  options.topology.replication_factor = 1;
  return options;
}

std::vector<Options> with_less_memory(const Options& options, bool training) {
  constexpr Offload whole_class{.on = true, .minimum_bytes = 0};
  Options in_host_store = options;
  OffloadOptions& offload = in_host_store.training.offload;
  offload.activations = offload.weights = whole_class;
  if (training) offload.optimizer_state = offload.accumulators = whole_class;
  in_host_store.topology.phased.on_ipu = {};
  Options least = in_host_store;
  if (training) {
    least.training.recompute = true;
    least.training.recompute_stages.clear();
  }
  least.topology.schedule = PipelineSchedule::sequential;
  return {in_host_store, least};
}

void tell_of_less_memory(const Log& log, const Options& refused, const Options& less) {
  log(LogLevel::info, {"the plan for micro-batches of ", std::to_string(less.batch_size),
                       less.batch_size == 1 ? " sample" : " samples",
                       " does not fit into the memory of the IPUs: it ",
                       joined(savings(refused, less)), ", and is slower"});
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
