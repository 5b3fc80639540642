// A Profile says where the time and the memory of a running model went, and what would make it
// faster. It is plain data, measured by the engine itself; see docs/profiling.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/report.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// Divides the seconds that an IPU spent in calls by what the IPU did and by what it waited for.
struct TimeSplit {
  std::array<double, activities> active = {};     ///< Holds the seconds of each Activity.
  std::array<double, wait_reasons> waiting = {};  ///< Holds the seconds of each WaitReason.

  /// Returns the seconds that the IPU spent on `activity`.
  double of(Activity activity) const { return active[static_cast<std::size_t>(activity)]; }
  /// Returns the seconds that the IPU waited for `reason`.
  double of(WaitReason reason) const { return waiting[static_cast<std::size_t>(reason)]; }
  /// Returns the seconds in which the IPU did something.
  double busy() const noexcept {
    double seconds = 0;
    for (const double each : active) seconds += each;
    return seconds;
  }
  /// Returns the seconds in which the IPU did nothing.
  double idle() const noexcept {
    double seconds = 0;
    for (const double each : waiting) seconds += each;
    return seconds;
  }
  /// Returns the seconds of all calls.
  double total() const noexcept { return busy() + idle(); }
};

/// Says what a tensor's memory on an IPU is for.
enum class MemoryClass : std::uint8_t {
  weights,          ///< Parameters and buffers are in the IPU's memory all the time.
  optimizer_state,  ///< The state of the optimizer is in the IPU's memory all the time.
  accumulators,     ///< The sums of gradients are in the IPU's memory all the time.
  stash,            ///< What a backward needs is kept from a micro-batch's forward to its backward.
  working,          ///< What a program or an update works with is kept while it runs.
};
/// Counts the enumerators of MemoryClass.
inline constexpr std::size_t memory_classes = 5;
/// Returns the name of the enumerator.
std::string_view to_string(MemoryClass memory_class) noexcept;

/// Describes a tensor, or the copies of one, that take memory of an IPU at its peak.
struct TensorMemory {
  std::string name;  ///< Names the tensor.
  int stage = 0;     ///< The tensor belongs to this stage; -1 if all stages of the IPU share it.
  MemoryClass memory_class = MemoryClass::weights;  ///< Says what the memory is for.
  std::int64_t bytes = 0;                           ///< All copies together take this many bytes.
  std::int64_t copies = 1;                          ///< A stash has one copy per micro-batch held.
};

/// Says how the memory of one IPU is used.
struct IpuMemory {
  std::int64_t budget_bytes = 0;  ///< Is `Topology::ipu_memory_bytes`; 0 means no limit.
  /// This many bytes are allocated on the IPU, which is the most that is ever in use.
  std::int64_t peak_bytes = 0;
  /// Holds the bytes of each MemoryClass, which together are the peak.
  std::array<std::int64_t, memory_classes> class_bytes = {};
  /// Lists what makes up the peak, the largest first.
  std::vector<TensorMemory> tensors = {};

  /// Returns the bytes of one class.
  std::int64_t of(MemoryClass memory_class) const {
    return class_bytes[static_cast<std::size_t>(memory_class)];
  }
};

/// Says what one IPU did in the calls that were profiled.
struct IpuProfile {
  int ipu = 0;             ///< Numbers the IPU.
  TimeSplit seconds = {};  ///< Divides the time that the IPU spent in calls.
  IpuMemory memory = {};   ///< Divides the memory of the IPU.
};

/// Says how long runs of one kind took.
struct RunTimes {
  std::uint64_t runs = 0;    ///< Counts the runs.
  double seconds = 0;        ///< Is the time of all runs together.
  double least_seconds = 0;  ///< The shortest run took this many seconds.
  double most_seconds = 0;   ///< The longest run took this many seconds.

  /// Returns the time of a run on average; 0 if there was none.
  double mean_seconds() const noexcept {
    return runs > 0 ? seconds / static_cast<double>(runs) : 0;
  }
};

/// Says how much memory a stage uses at one instruction of a program.
struct LivePoint {
  std::string instruction = {};  ///< Names the instruction's node.
  bool backward = false;         ///< Says whether the instruction is in the backward program.
  std::int64_t bytes = 0;        ///< This many bytes of the working memory are in use.
};

/// Says what one stage did, over all replicas, in the calls that were profiled.
struct StageProfile {
  int stage = 0;                         ///< Numbers the stage.
  std::vector<int> ipus = {};            ///< Has the stage's IPU in each replica.
  std::vector<std::string> blocks = {};  ///< Names the blocks whose layers the stage has.
  RunTimes forward = {};                 ///< Says how long forward programs took.
  RunTimes backward = {};                ///< Says how long backward programs took.
  RunTimes update = {};                  ///< Says how long the parts of weight updates took.
  /// Is the stage's share of the time of all programs, from 0 to 1.
  double share = 0;
  int in_flight_limit = 0;      ///< A replica of the stage may hold this many micro-batches.
  int max_in_flight = 0;        ///< A replica of the stage held at most this many micro-batches.
  std::int64_t sent_bytes = 0;  ///< The stage has sent this many bytes to other stages.
  std::int64_t resident_bytes = 0;       ///< This many bytes are in use all the time.
  std::int64_t stash_bytes = 0;          ///< A micro-batch in flight takes this many bytes.
  std::vector<LivePoint> liveness = {};  ///< Has a point for each instruction of both programs.
};

/// Says how much of the time one instruction of a program took.
struct OpProfile {
  int stage = 0;            ///< The instruction belongs to this stage.
  bool backward = false;    ///< Says whether the instruction is in the backward program.
  bool recomputed = false;  ///< Says whether the instruction repeats one of the forward.
  std::string name = {};    ///< Names the node in the model.
  std::string op = {};      ///< Names the op.
  double flops = 0;  ///< Counts the floating-point operations of one run, as the op estimates them.
  std::uint64_t timed_runs = 0;  ///< This many runs were timed, as a sample of all runs.
  double mean_seconds = 0;       ///< A timed run took this many seconds on average.
  double seconds = 0;            ///< Is the time of all runs, estimated from the timed runs.
};

/// Says which share of an IPU's time in the pipeline was idle: 0 is the best.
struct BubbleProfile {
  /// Is the share as measured from the first program of each window to its last one or, in
  /// inference, from the first program of each call to its last one.
  double measured = 0;
  /// Is the share that the simulator predicts from the measured costs of the stages, for the same
  /// schedule and as many processors as the IPUs share.
  double predicted = 0;
  /// Is (p-1)/(m+p-1) for p stages and m micro-batches, as if all stages cost the same and each had
  /// a processor of its own.
  double closed_form = 0;
};

/// Is one thing that would make the run faster or smaller.
struct ProfileAdvice {
  std::string topic = {};  ///< Is a word such as "split", "accumulation", "schedule" or "memory".
  std::string text = {};   ///< Says what was found and what to do, in whole sentences.
  /// Is how many times as fast the run is expected to be; 0 where that is not known.
  double speedup = 0;
};

/// Describes one call.
struct CallProfile {
  std::int64_t begin_ns = 0;           ///< The call began at this time of the steady clock.
  std::int64_t end_ns = 0;             ///< The call ended at this time.
  std::int64_t first_micro_batch = 0;  ///< Numbers the call's first micro-batch in each replica.
  std::int64_t micro_batches = 0;      ///< Each replica ran this many micro-batches.
};

/// Holds what a running model has measured of itself since it was built.
struct Profile {
  std::string model = {};         ///< Names the model.
  bool training = false;          ///< Says whether the model trains.
  std::string schedule = {};      ///< Names the schedule.
  int replicas = 1;               ///< Counts the replicas.
  int batch_size = 1;             ///< A micro-batch has this many samples.
  int gradient_accumulation = 1;  ///< A window has this many micro-batches.
  int processors = 1;             ///< The IPUs can work on this many processors at a time.
  CompileReport compile = {};     ///< Says what the compiler has made of the model.
  std::uint64_t calls = 0;        ///< Counts the calls that were profiled.
  /// This many calls had plans of their own, and are not in the profile.
  std::uint64_t short_calls = 0;
  std::int64_t micro_batches = 0;  ///< Counts the micro-batches of all replicas.
  std::int64_t samples = 0;        ///< Counts the samples.
  double call_seconds = 0;         ///< All calls together took this many seconds.
  /// Is the time of all calls and of what the host did between them, without short calls and
  /// without the time that recording takes.
  double elapsed_seconds = 0;
  std::vector<IpuProfile> ipus = {};      ///< Has the IPUs by number.
  std::vector<StageProfile> stages = {};  ///< Has the stages by number.
  std::vector<OpProfile> ops = {};        ///< Has the instructions, stage by stage, in their order.
  BubbleProfile bubble = {};              ///< Says how much of the pipeline's time was idle.
  std::vector<ProfileAdvice> advice = {};  ///< Has the advice with the largest gain first.
  /// Holds the newest events, up to `RuntimeOptions::trace_events`, in order of time.
  std::vector<TraceEvent> events = {};
  /// Holds the newest events of actors that work on no IPU, at most `RuntimeOptions::trace_events`
  /// of them.
  std::vector<HostEvent> host_events = {};
  std::vector<CallProfile> window = {};  ///< Has the calls that `events` belong to.
  /// Counts the events of profiled calls that `events` no longer has. The figures include them.
  std::uint64_t older_events = 0;
  /// Counts the events that were lost before anybody saw them. The figures lack them.
  std::uint64_t dropped_events = 0;
};

/// Returns the profile as JSON; docs/profiling.md describes its schema. Events are left out.
std::string to_json(const Profile& profile);

/// Is a directory that gets the files of a profile: `trace.json` for Perfetto and chrome://tracing,
/// `profile.json` with the figures, and `report.html`, a page for people. Each file appears whole
/// at commit(), or not at all. One thread at a time uses it.
class ProfileFiles {
 public:
  /// Makes the directory if it does not exist, and makes sure that the files can be written.
  /// @throws Error io_error; out_of_memory.
  explicit ProfileFiles(const std::string& directory);
  ~ProfileFiles();
  /// Takes over the files of another object, which has none then.
  ProfileFiles(ProfileFiles&&) noexcept;
  /// Drops the files of this object without committing them, and takes over those of another
  /// object.
  ProfileFiles& operator=(ProfileFiles&&) noexcept;

  /// Returns the paths of the files in `directory`.
  static std::vector<std::string> paths_in(const std::string& directory);
  /// Writes the three files. It is called once. @throws Error io_error; out_of_memory.
  void write(const Profile& profile);
  /// Writes everything to disk, so that commit() only has to rename. @throws Error io_error.
  void sync();
  /// Replaces the files in the directory by those that were written. @throws Error io_error.
  void commit();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

/// Writes the files of `profile` into `directory`, as ProfileFiles does. @throws Error io_error;
/// out_of_memory.
void write_profile(const std::string& directory, const Profile& profile);

/// Returns a few lines for people: how busy the IPUs were, which stage takes longest, and the
/// advice with the expected gains.
std::string summary_of(const Profile& profile);

}  // namespace penstock
