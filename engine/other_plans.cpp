#include "engine/other_plans.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/call_samples.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

bool same(const OffloadOptions& a, const OffloadOptions& b) {
  return a.optimizer_state == b.optimizer_state && a.accumulators == b.accumulators &&
         a.activations == b.activations && a.weights == b.weights;
}

bool recomputes_all(const TrainingOptions& training) {
  return training.recompute && training.recompute_stages.empty();
}

/// Returns texts that say what a plan of `less` does to need less memory than a plan of `refused`.
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

Options for_fewer_samples(Options options, std::int64_t batch) {
  const std::int64_t whole = options.batch_size;
  std::int64_t& minimum = options.training.offload.activations.minimum_bytes;
  // The new minimum is minimum * batch / whole, rounded up, computed without a product that
  // overflows.
  minimum = minimum / whole * batch + (minimum % whole * batch + whole - 1) / whole;
  options.batch_size = static_cast<int>(batch);
  options.topology.replication_factor = 1;
  return options;
}

Options for_remainder(const Options& options, const MicroBatches& remainder, bool training) {
  Options result = for_fewer_samples(options, remainder.samples);
  const int count = static_cast<int>(remainder.count);
  result.device_iterations = training ? 1 : count;
  if (!training) return result;
  result.training.gradient_accumulation = count;
  // With batch_serial, a turn of so many small micro-batches would hold all of them at once.
  if (count > options.training.gradient_accumulation) result.topology.phased.batch_serial = false;
  return result;
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

RunningModel& OtherPlans::open() {
  full_.settle_failure();
  for (const auto& plan : kept_) plan->settle_failure();
  return full_;
}

void OtherPlans::detach() {
  open();
  // The host, which has not detached a plan that has failed, may detach the model.
  const bool any = full_.any_attached() || full_.left_after_failure();
  while (!kept_.empty()) forget_oldest();
  if (full_.attached() || !any) full_.detach();
  full_.note_detached_by_host();
}

RunningModel& OtherPlans::take_whole(std::int64_t length) try {
  if (length == full_.length()) return full_;
  Kind kind = kind_of(full_);
  kind.length = length;
  RunningModel* const found = find(kind);
  return found ? *found : make(options_, length);
} catch (const Error& error) {
  throw Error(error.code(), text_of_length(length) + error.what());
}

RunningModel& OtherPlans::take(std::int64_t samples, const MicroBatches& remainder,
                               std::int64_t length, const RunningModel* before) try {
  RunningModel* const found = find(kind_of(remainder, length));
  RunningModel& plan =
      found ? *found : make(for_remainder(options_, remainder, full_.plan().training), length);
  if (before) before->expect_same_rows(plan);
  return plan;
} catch (const Error& error) {
  throw Error(error.code(),
              text_of_length(length) + to_text(samples, remainder) + ": " + error.what());
}

std::string OtherPlans::text_of_length(std::int64_t length) const {
  if (length == full_.length()) return "";
  return "a call of length " + std::to_string(length) + ": ";
}

OtherPlans::Kind OtherPlans::kind_of(const RunningModel& plan) const {
  return {.length = plan.length(),
          .batch = plan.plan().batch,
          .replicas = plan.replicas(),
          .accumulated = plan.plan().training ? plan.gradient_accumulation() : 0};
}

OtherPlans::Kind OtherPlans::kind_of(const MicroBatches& remainder, std::int64_t length) const {
  return {.length = length,
          .batch = remainder.samples,
          .replicas = 1,
          .accumulated = full_.plan().training ? remainder.count : 0};
}

RunningModel* OtherPlans::find(const Kind& kind) {
  const auto found =
      std::ranges::find_if(kept_, [&](const auto& plan) { return kind_of(*plan) == kind; });
  if (found == kept_.end()) return nullptr;
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().get();
}

RunningModel& OtherPlans::make(const Options& options, std::int64_t length) {
  auto made = make_fit(options, full_.plan().training, full_.log(), [&](const Options& variant) {
    return std::make_unique<RunningModel>(full_, variant, length);
  });
  if (kept_.size() == most) forget_oldest();
  kept_.insert(kept_.begin(), std::move(made));
  return *kept_.front();
}

std::vector<TraceEvent> OtherPlans::take_trace() {
  for (const auto& plan : kept_)
    plan->stage_reports();  // stage_reports() adds the plan's events to the trace.
  return full_.take_trace();
}

std::string OtherPlans::to_text(std::int64_t samples, const MicroBatches& remainder) const {
  const CallSize& size = full_.compile_report().call;
  const std::string iteration = std::to_string(samples_per_iteration(size));
  return std::string(name_of(size)) + " of " + std::to_string(samples) + " samples, of which " +
         std::to_string(remainder.count * remainder.samples) + " fill no " +
         (size.training ? "update (one takes " + iteration + ")"
                        : "micro-batch for every replica (" + iteration + ")");
}

void OtherPlans::forget_oldest() {
  RunningModel& oldest = *kept_.back();
  if (oldest.plan().training && oldest.holds_optimizer_state()) full_.fetch_optimizer_state();
  oldest.settle_failure();  // The destructor could not throw a failure.
  if (oldest.attached()) oldest.detach();
  kept_.pop_back();
}

}  // namespace penstock
