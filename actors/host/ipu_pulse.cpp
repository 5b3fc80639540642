#include "actors/host/ipu_pulse.hpp"

#include <algorithm>
#include <new>

#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"

namespace penstock::actors {
namespace {

constexpr double times_stall_seconds = 10;
constexpr double slowest_operations_per_second = 1e7;

std::string task_text(const IpuWork& work) {
  const std::string of_micro_batch = " of micro-batch " + std::to_string(work.micro_batch);
  switch (work.task) {
    case IpuTask::forward:
      return "forward" + of_micro_batch;
    case IpuTask::backward:
      return "backward" + of_micro_batch;
    case IpuTask::load:
      return "the load of the weights for" + of_micro_batch.substr(3);
    case IpuTask::update:
      return "the weight update";
    case IpuTask::none:
      break;
  }
  return "nothing";
}

/// Returns how many operations the instruction of `moment` has. The result is 0 if there is no
/// instruction, or no memory for counting.
double work_of(const IpuPulse::Moment& moment) {
  if (!moment.instruction) return 0;
  try {
    return graph::cost_of(*moment.instruction).work();
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

void IpuPulse::begin(const IpuWork& work) noexcept {
  // A thread that reads parts of the old work and parts of the new work notices this beat.
  heartbeat_.begin(nullptr);
  replica_.store(work.replica, std::memory_order_release);
  stage_.store(work.stage, std::memory_order_release);
  micro_batch_.store(work.micro_batch, std::memory_order_release);
  task_.store(work.task, std::memory_order_release);
  const std::int64_t now = steady_ns();
  since_ns_.store(now, std::memory_order_release);
  busy_ns_.store(busy_ns_.load(std::memory_order_relaxed) - now, std::memory_order_release);
  heartbeat_.beat();
}

void IpuPulse::end() noexcept {
  task_.store(IpuTask::none, std::memory_order_release);
  busy_ns_.store(busy_ns_.load(std::memory_order_relaxed) + steady_ns(), std::memory_order_release);
  since_ns_.store(0, std::memory_order_release);
  heartbeat_.beat();
}

std::int64_t IpuPulse::busy_ns() const noexcept {
  const std::int64_t busy = busy_ns_.load(std::memory_order_acquire);
  return busy < 0 ? busy + steady_ns() : busy;
}

std::optional<IpuPulse::Moment> IpuPulse::moment() const noexcept {
  const std::uint64_t before = beats();
  const Moment moment{
      {task_.load(std::memory_order_acquire), replica_.load(std::memory_order_acquire),
       stage_.load(std::memory_order_acquire), micro_batch_.load(std::memory_order_acquire)},
      heartbeat_.instruction()};
  if (moment.work.task == IpuTask::none || beats() != before) return std::nullopt;
  return moment;
}

double seconds_allowed(const IpuPulse::Moment& moment, double stall_seconds) {
  return times_stall_seconds * stall_seconds + work_of(moment) / slowest_operations_per_second;
}

bool any_at_work(std::span<const std::shared_ptr<const IpuPulse>> ipus, double still_seconds,
                 double stall_seconds) {
  return std::ranges::any_of(ipus, [&](const auto& ipu) {
    const auto moment = ipu->moment();
    return moment && still_seconds < seconds_allowed(*moment, stall_seconds);
  });
}

std::string to_string(const IpuPulse::Moment& moment) {
  const std::string task = task_text(moment.work) + " of stage " +
                           std::to_string(moment.work.stage) + " of replica " +
                           std::to_string(moment.work.replica);
  if (!moment.instruction) return task;
  return std::string(moment.instruction->op->name) + " " + quoted_text(moment.instruction->name) +
         " of " + task;
}

}  // namespace penstock::actors
