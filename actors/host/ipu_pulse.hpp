// An IpuPulse has the signs of life of one IPU, and says what the IPU works on. The IPU writes to
// the pulse when a program begins, at each instruction, and when the program ends. Whoever has to
// tell a slow IPU from one that stands still reads the pulse. This class does not use CAF.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph/plan/heartbeat.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

/// An IpuTask is a kind of work that an IPU may be asked to do.
enum class IpuTask : std::uint8_t { none, forward, backward, load, update };

struct IpuWork {
  IpuTask task = IpuTask::none;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  /// This is the micro-batch's number. It has no meaning in an update.
  std::int64_t micro_batch = 0;
};

class IpuPulse {
 public:
  explicit IpuPulse(std::int32_t ipu) : ipu_(ipu) {}

  std::int32_t ipu() const noexcept { return ipu_; }
  /// Returns the heartbeat, which beats with every instruction and every piece of other work. Only
  /// the IPU's thread may let it beat.
  graph::Heartbeat& heartbeat() noexcept { return heartbeat_; }
  /// Notes that `work` begins. end() notes that the work has ended. Only the IPU's thread may call
  /// these two functions.
  void begin(const IpuWork& work) noexcept;
  void end() noexcept;

  /// Returns a number that changes whenever the IPU has done something. Any thread may call it.
  std::uint64_t beats() const noexcept { return heartbeat_.beats(); }

  /// A Moment says what the IPU is working on.
  struct Moment {
    IpuWork work = {};
    const graph::Instruction* instruction = nullptr;  ///< This is null in a load and in an update.
  };
  /// Returns what the IPU is working on. Returns nothing if the IPU rests, or if it goes on to
  /// something else while this function reads. Any thread may call it.
  std::optional<Moment> moment() const noexcept;

  /// Returns for how many nanoseconds the IPU has worked so far, including the work that is under
  /// way. Any thread may call it.
  std::int64_t busy_ns() const noexcept;
  /// Returns when the IPU began the work that is under way, by steady_ns(), or 0 if the IPU rests.
  /// Any thread may call it.
  std::int64_t busy_since_ns() const noexcept { return since_ns_.load(std::memory_order_acquire); }

 private:
  const std::int32_t ipu_;
  graph::Heartbeat heartbeat_;
  std::atomic<IpuTask> task_{IpuTask::none};
  std::atomic<std::int32_t> replica_{0};
  std::atomic<std::int32_t> stage_{0};
  std::atomic<std::int64_t> micro_batch_{0};
  std::atomic<std::int64_t> since_ns_{0};
  // This is how many nanoseconds all work took that has ended. While other work is under way, the
  // time at which that work began is subtracted, which makes the number negative.
  std::atomic<std::int64_t> busy_ns_{0};
};

/// Returns how many seconds an IPU may work on `moment` before it counts as dead, if calls may
/// stand still for `stall_seconds`. The result is ten times `stall_seconds`, and a second more for
/// every ten million operations of the instruction, because no processor is slower than that.
double seconds_allowed(const IpuPulse::Moment& moment, double stall_seconds);

/// Returns whether one of `ipus` is working on something for which seconds_allowed() gives it more
/// time than the `still_seconds` in which nothing has moved. Any thread may call it.
bool any_at_work(std::span<const std::shared_ptr<const IpuPulse>> ipus, double still_seconds,
                 double stall_seconds);

/// Returns a text such as 'conv2d "conv1" of forward of micro-batch 3 of stage 1 of replica 0'.
std::string to_string(const IpuPulse::Moment& moment);

}  // namespace penstock::actors
