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

/// A TimeSplit divides the seconds that an IPU spent in calls by what the IPU did and by what it
/// waited for.
struct TimeSplit {
  std::array<double, activities> active = {};  ///< `active` has the seconds of each Activity.
  /// `waiting` has the seconds of each WaitReason.
  std::array<double, wait_reasons> waiting = {};

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

/// A MemoryClass says what a tensor's memory on an IPU is for.
enum class MemoryClass : std::uint8_t {
  weights,          ///< Parameters and buffers are in the IPU's memory all the time.
  optimizer_state,  ///< The state of the optimizer is in the IPU's memory all the time.
  accumulators,     ///< The sums of gradients are in the IPU's memory all the time.
  /// What a backward needs is kept from a micro-batch's forward to its backward, and outputs until
  /// the host has read them.
  stash,
  working,  ///< What a program or an update works with is kept while it runs.
};
/// `memory_classes` is the number of enumerators of MemoryClass.
inline constexpr std::size_t memory_classes = 5;
/// Returns the name of the enumerator.
std::string_view to_string(MemoryClass memory_class) noexcept;

/// A TensorMemory describes a tensor, or the copies of one, that take memory of an IPU at its peak.
struct TensorMemory {
  std::string name;  ///< `name` is the name of the tensor.
  /// The tensor belongs to this stage. The number is -1 if all stages of the IPU share the tensor.
  int stage = 0;
  MemoryClass memory_class = MemoryClass::weights;  ///< `memory_class` says what the memory is for.
  std::int64_t bytes = 0;                           ///< All copies together take this many bytes.
  /// A tensor of the stash has a copy for each micro-batch that the stage may hold, and an output
  /// has two more, which the host has not read yet.
  std::int64_t copies = 1;
};

/// An IpuMemory says how the memory of one IPU is used.
struct IpuMemory {
  /// `budget_bytes` is `Topology::ipu_memory_bytes`; 0 means that there is no limit.
  std::int64_t budget_bytes = 0;
  /// This many bytes are allocated on the IPU, which is the most that is ever in use.
  std::int64_t peak_bytes = 0;
  /// `class_bytes` has the bytes of each MemoryClass, which together are the peak.
  std::array<std::int64_t, memory_classes> class_bytes = {};
  /// `tensors` has the tensors that make up the peak, the largest first.
  std::vector<TensorMemory> tensors = {};

  /// Returns the bytes of one class.
  std::int64_t of(MemoryClass memory_class) const {
    return class_bytes[static_cast<std::size_t>(memory_class)];
  }
};

/// An IpuProfile says what one IPU did in the calls that were profiled.
struct IpuProfile {
  int ipu = 0;             ///< `ipu` is the number of the IPU.
  TimeSplit seconds = {};  ///< `seconds` says how the IPU spent the time of the calls.
  IpuMemory memory = {};   ///< `memory` says how the memory of the IPU is used.
};

/// RunTimes say how long runs of one kind took.
struct RunTimes {
  std::uint64_t runs = 0;    ///< `runs` is the number of runs.
  double seconds = 0;        ///< `seconds` is the time of all runs together.
  double least_seconds = 0;  ///< The shortest run took this many seconds.
  double most_seconds = 0;   ///< The longest run took this many seconds.

  /// Returns the time of a run on average; 0 if there was no run.
  double mean_seconds() const noexcept {
    return runs > 0 ? seconds / static_cast<double>(runs) : 0;
  }
};

/// A LivePoint says how much memory a stage uses at one instruction of a program.
struct LivePoint {
  std::string instruction = {};  ///< `instruction` is the name of the instruction's node.
  bool backward = false;  ///< `backward` says whether the instruction is in the backward program.
  /// This many bytes of scratch, and of the stash and the outputs of one micro-batch, are in use.
  std::int64_t bytes = 0;
};

/// A StageProfile says what one stage did, over all replicas, in the calls that were profiled.
struct StageProfile {
  int stage = 0;               ///< `stage` is the number of the stage.
  std::vector<int> ipus = {};  ///< `ipus` has the stage's IPU in each replica.
  /// `blocks` has the names of the blocks whose layers the stage has.
  std::vector<std::string> blocks = {};
  RunTimes forward = {};   ///< `forward` says how long forward programs took.
  RunTimes backward = {};  ///< `backward` says how long backward programs took.
  RunTimes update = {};    ///< `update` says how long the parts of weight updates took.
  /// `share` is the stage's share of the time of all programs, from 0 to 1.
  double share = 0;
  int in_flight_limit = 0;      ///< A replica of the stage may hold this many micro-batches.
  int max_in_flight = 0;        ///< A replica of the stage held at most this many micro-batches.
  std::int64_t sent_bytes = 0;  ///< The stage has sent this many bytes to other stages.
  std::int64_t resident_bytes = 0;  ///< The stage uses this many bytes of an IPU all the time.
  /// A micro-batch in flight takes this many bytes, outputs included.
  std::int64_t stash_bytes = 0;
  /// `liveness` has a point for each instruction of both programs.
  std::vector<LivePoint> liveness = {};
};

/// An OpProfile says how much of the time one instruction of a program took.
struct OpProfile {
  int stage = 0;          ///< The instruction belongs to this stage.
  bool backward = false;  ///< `backward` says whether the instruction is in the backward program.
  /// `recomputed` says whether the instruction repeats one of the forward.
  bool recomputed = false;
  std::string name = {};  ///< `name` is the name of the node in the model.
  std::string op = {};    ///< `op` is the name of the op.
  /// `flops` is the number of floating-point operations of one run, as the op estimates them.
  double flops = 0;
  std::uint64_t timed_runs = 0;  ///< This many runs were timed, as a sample of all runs.
  double mean_seconds = 0;       ///< A timed run took this many seconds on average.
  double seconds = 0;  ///< `seconds` is the time of all runs, estimated from the timed runs.
};

/// A BubbleProfile says which share of an IPU's time in the pipeline was idle: 0 is the best.
struct BubbleProfile {
  /// `measured` is the share as measured from the first program of each window to its last one or,
  /// in inference, from the first program of each call to its last one.
  double measured = 0;
  /// `predicted` is the share that the simulator predicts from the measured costs of the stages,
  /// for the same schedule and as many processors as the IPUs share.
  double predicted = 0;
  /// `closed_form` is (p-1)/(m+p-1) for p stages and m micro-batches, as if all stages cost the
  /// same and each had a processor of its own.
  double closed_form = 0;
};

/// A ProfileAdvice is one thing that would make the run faster or smaller.
struct ProfileAdvice {
  /// `topic` is a word such as "split", "accumulation", "schedule" or "memory".
  std::string topic = {};
  std::string text = {};  ///< `text` says what was found and what to do, in whole sentences.
  /// The run is expected to be this many times as fast; 0 means that this is not known.
  double speedup = 0;
};

/// A CallProfile describes one call.
struct CallProfile {
  std::int64_t begin_ns = 0;  ///< The call began at this time of the steady clock.
  std::int64_t end_ns = 0;    ///< The call ended at this time.
  /// `first_micro_batch` is the number of the call's first micro-batch in each replica.
  std::int64_t first_micro_batch = 0;
  std::int64_t micro_batches = 0;  ///< Each replica ran this many micro-batches.
};

/// A Profile is what a running model has measured of itself since it was built.
struct Profile {
  std::string model = {};         ///< `model` is the name of the model.
  bool training = false;          ///< `training` says whether the model trains.
  std::string schedule = {};      ///< `schedule` is the name of the schedule.
  int replicas = 1;               ///< `replicas` is the number of replicas.
  int batch_size = 1;             ///< A micro-batch has this many samples.
  int gradient_accumulation = 1;  ///< A window has this many micro-batches.
  int processors = 1;             ///< The IPUs can work on this many processors at a time.
  CompileReport compile = {};     ///< `compile` says what the compiler has made of the model.
  std::uint64_t calls = 0;        ///< `calls` is the number of calls that were profiled.
  /// This many calls had plans of their own, and are not in the profile.
  std::uint64_t short_calls = 0;
  /// `micro_batches` is the number of micro-batches of all replicas.
  std::int64_t micro_batches = 0;
  std::int64_t samples = 0;  ///< `samples` is the number of samples.
  double call_seconds = 0;   ///< All calls together took this many seconds.
  /// `elapsed_seconds` is the time of all calls and of what the host did between them, without
  /// short calls and without the time that recording takes.
  double elapsed_seconds = 0;
  std::vector<IpuProfile> ipus = {};      ///< `ipus` has the IPUs by number.
  std::vector<StageProfile> stages = {};  ///< `stages` has the stages by number.
  std::vector<OpProfile> ops = {};  ///< `ops` has the instructions, stage by stage, in their order.
  BubbleProfile bubble = {};        ///< `bubble` says how much of the pipeline's time was idle.
  std::vector<ProfileAdvice> advice = {};  ///< `advice` has the advice with the largest gain first.
  /// `events` has the newest events, up to `RuntimeOptions::trace_events`, in order of time.
  std::vector<TraceEvent> events = {};
  /// `host_events` has the newest events of actors that work on no IPU: at most
  /// `RuntimeOptions::trace_events` of the model's own, and those of a loader if the host appends
  /// them.
  std::vector<HostEvent> host_events = {};
  std::vector<CallProfile> window = {};  ///< `window` has the calls that `events` belong to.
  /// `older_events` is the number of events of profiled calls that `events` no longer has. The
  /// figures include them.
  std::uint64_t older_events = 0;
  /// `dropped_events` is the number of events that were lost before anybody saw them. The figures
  /// lack them.
  std::uint64_t dropped_events = 0;
};

/// Returns the profile as JSON; docs/profiling.md describes its schema. Events are left out.
std::string to_json(const Profile& profile);

/// ProfileFiles are the files of a profile in a directory: `trace.json` for Perfetto and
/// chrome://tracing, `profile.json` with the figures, and `report.html`, a page for people. Each
/// file appears whole at commit(), or not at all. One thread at a time uses a ProfileFiles object.
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
  /// Replaces the files in the directory by those that were written. @throws Error io_error. The
  /// function may be called again after that, and goes on with the file that was refused.
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
