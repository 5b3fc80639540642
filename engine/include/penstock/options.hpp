// Options: how a model is run. A few small groups with defaults and one check for each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock {

enum class Strategy : std::uint8_t {
  pipelined,      ///< stages work on different micro-batches at the same time
  sharded,        ///< one micro-batch and one busy IPU at a time, in each replica: as `sequential`
  serial_phased,  ///< phases of stages have turns, all on the same IPUs
  parallel_phased,  ///< phases of stages have turns, even ones on even IPUs, odd ones on odd IPUs
};

/// Which phases are so far apart that what both use leaves the IPU in between: see docs/phases.md.
enum class PhaseLiveness : std::uint8_t {
  always_live,            ///< nothing is forced off: the last phases stay until their backward
  off_ipu_after_forward,  ///< all that backward needs leaves after forward, and comes again
  off_ipu_after_forward_no_overlap,  ///< and copies never overlap programs; serial phases only
  off_ipu_after_each_phase,  ///< and everything leaves between any two phases; serial phases only
};

/// What the stages are where `Topology::stages` does not say.
enum class StageRule : std::uint8_t {
  by_block,     ///< a stage per block, in the model's order; or those that the model has by number
  same_as_ipu,  ///< a stage per IPU, in the IPUs' order; every block says which one it is on
  auto_increment,  ///< a new stage wherever the block changes; one that comes back is a stage again
};

/// Which work a pipelined stage prefers, and how many micro-batches it may hold.
enum class PipelineSchedule : std::uint8_t {
  grouped,      ///< forward while it may hold more: highest throughput, most activations
  interleaved,  ///< backward first (1F1B): about half the activations
  sequential,   ///< one micro-batch in a replica's pipeline, one busy IPU: for debugging
};

/// How the gradients of a window's micro-batches and replicas become one.
enum class Reduction : std::uint8_t { mean, sum };

/// When a mean is divided: the results differ by rounding.
enum class ReductionStrategy : std::uint8_t {
  post,     ///< gradients are summed up, and the sum is divided once
  running,  ///< after micro-batch k (from 0) of a window, s = s·k/(k+1) + g/(k+1): no large sums
};

/// Which micro-batches' outputs a call returns.
enum class OutputMode : std::uint8_t {
  automatic,  ///< `final` in training, `all` in inference
  final,      ///< the last micro-batch of each replica
  every_n,    ///< micro-batches N, 2N, ... (counted from 1)
  all,        ///< every micro-batch
  sum,        ///< the element-wise sum over each replica's micro-batches
};

/// Blocks that run together on one IPU.
struct Stage {
  std::vector<std::string> blocks = {};
  int ipu = -1;  ///< -1: as `Topology::ipus` says, else the blocks, else the stage's number

  Stage() = default;
  Stage(std::initializer_list<std::string> names) : blocks(names) {}
  explicit Stage(std::vector<std::string> names) : blocks(std::move(names)) {}
  /// The same stage, placed: `Stage{"B1", "B2"}.on(0)`.
  Stage on(int number) const {
    Stage placed = *this;
    placed.ipu = number;
    return placed;
  }
};

/// Stages that have their turns together: `Phase{{"B1"}, {"B2"}}.on({0, 1})`.
struct Phase {
  std::vector<Stage> stages = {};

  Phase() = default;
  Phase(std::initializer_list<Stage> of) : stages(of) {}
  explicit Phase(std::vector<Stage> of) : stages(std::move(of)) {}
  /// The same phase, each of its stages placed. @throws Error invalid_argument if there are not
  /// just as many IPUs as stages.
  Phase on(const std::vector<int>& ipus) const;
};

/// Classes of tensors that stay on the IPUs all the time, as all do under other strategies.
struct OnIpu {
  bool weights = false;
  bool activations = false;
  bool accumulators = false;
  bool optimizer_state = false;
};

/// Of the strategies serial_phased and parallel_phased.
struct PhasedOptions {
  std::vector<Phase> phases = {};  ///< instead of `Topology::stages`; empty: each stage is one
  PhaseLiveness liveness = PhaseLiveness::always_live;
  /// The last phase's backward is a phase of its own, as `liveness` makes it unless always_live.
  bool separate_backward_phase = false;
  /// A phase does all micro-batches of an accumulation window before the next one begins.
  bool batch_serial = false;
  /// All others are in the host store, as if `TrainingOptions::offload` said so.
  OnIpu on_ipu = {};
};

struct Topology {
  Strategy strategy = Strategy::pipelined;
  PipelineSchedule schedule = PipelineSchedule::grouped;
  std::vector<Stage> stages = {};  ///< empty: as `stage_rule` says
  StageRule stage_rule = StageRule::by_block;
  /// Instead of `stages`: cut the model into so many, anywhere between two layers, where measured
  /// times say that they are best balanced. Not for a model that has stages by number. 0: don't.
  int automatic_stages = 0;
  /// IPU of each stage, in order, 0 to 65535; `Stage::on` comes before it. Empty: as the stage's
  /// blocks say (`Model::block`), else 0, 1, 2, ...; automatic stages go by their number.
  std::vector<int> ipus = {};
  /// Of each IPU; a plan that needs more is refused, and automatic stages are cut to fit. 0: no
  /// limit.
  std::int64_t ipu_memory_bytes = 0;
  int replication_factor = 1;  ///< each on IPUs of its own, of higher and higher numbers
  /// Replicas that get the same rows of every input: the first so many, the next, and so on. A
  /// divisor of the replication factor.
  int input_group_size = 1;
  /// Cores for each IPU: so many threads share the work of each of its kernels, which changes no
  /// bit of a result. 0: the machine's cores (or `RuntimeOptions::threads`, if fewer) divided among
  /// the IPUs in use, at least one each, and no more than their memory has scratch for.
  int threads_per_ipu = 0;
  PhasedOptions phased = {};

  /// How many rows one sample of every replica has together.
  int input_groups() const noexcept {
    return input_group_size > 1 ? replication_factor / input_group_size : replication_factor;
  }
};

/// Whether a strategy has phases.
constexpr bool is_phased(Strategy strategy) noexcept {
  return strategy == Strategy::serial_phased || strategy == Strategy::parallel_phased;
}

/// A class of tensors that may be kept in the host store instead of on the IPUs, which then hold
/// only what they work on at the moment. The same bits, less memory on the IPUs, more time.
struct Offload {
  bool on = false;
  std::int64_t minimum_bytes = 8;  ///< smaller tensors stay on the IPU

  /// Whether a tensor of so many bytes is kept in the host store.
  bool takes(std::int64_t bytes) const noexcept { return on && bytes >= minimum_bytes; }
};

struct OffloadOptions {
  Offload optimizer_state = {};  ///< comes to the IPU for an update, piece by piece
  Offload accumulators = {};     ///< gradient sums: come piece by piece, to be added to
  /// What a stage keeps of a micro-batch from its forward to its backward, and what it sends
  /// forward: each tensor comes for the layers that read it. In training.
  Offload activations = {};
  /// Parameters: a stage's come for its programs, to a room that the stages of an IPU share, and
  /// piece by piece for an update. In inference too.
  Offload weights = {};
};

/// A class of tensors that replicas may divide among themselves, instead of each keeping all: of n
/// elements, each of R replicas keeps ceil(n/R). The same bits, less memory on the IPUs. A single
/// replica keeps all.
struct ReplicaSharding {
  bool on = false;
  std::int64_t minimum_elements = 8192;  ///< smaller tensors are kept whole; at least 2

  /// Whether so many replicas divide a tensor of so many elements.
  bool divides(std::int64_t elements, std::int64_t replicas) const noexcept {
    return on && replicas > 1 && elements >= minimum_elements;
  }
};

struct ShardingOptions {
  /// With it the weight update: a replica updates those weights whose state it keeps.
  ReplicaSharding optimizer_state = {};
};

struct TrainingOptions {
  int gradient_accumulation = 1;  ///< micro-batches per replica and weight update
  Reduction reduction = Reduction::mean;
  ReductionStrategy reduction_strategy = ReductionStrategy::post;  ///< `running`: of `mean` only
  OffloadOptions offload = {};
  ShardingOptions sharding = {};
  /// Stages before the last keep of a micro-batch only what they receive and send, and what
  /// `Model::recomputation_checkpoint` marks; the rest is computed a second time, just before their
  /// backward. The same bits, less memory, more time.
  bool recompute = false;
  std::vector<int> recompute_stages = {};  ///< only these; empty: every stage before the last
};

/// A tensor within the model that calls return beside its outputs (`StepResult::anchor`), shaped as
/// an output of its mode.
struct Anchor {
  std::string name = {};    ///< of its own among the anchors
  std::string tensor = {};  ///< the name of the layer that computes it, see `Model::tensor_name`
  /// The gradient of each micro-batch's loss with respect to `tensor`, which may be a parameter
  /// then, instead of itself; times `Optimizer::loss_scaling`. In training only.
  bool gradient = false;
  OutputMode mode = OutputMode::automatic;  ///< automatic: as the outputs, period included
  int period = 1;                           ///< N of `every_n`
};

struct OutputOptions {
  OutputMode mode = OutputMode::automatic;
  int period = 1;  ///< N of `every_n`
  std::vector<Anchor> anchors = {};
};

/// How much a line of the log matters.
enum class LogLevel : std::uint8_t {
  automatic,  ///< what PENSTOCK_LOG_LEVEL of the environment says, else `debug`
  debug,      ///< each call, each copy of weights
  info,       ///< what was compiled and set
  warning,    ///< what the compiler advises against
  error,      ///< why the model failed
  off,
};

/// What a model's constructor is about to do, and how much it has done.
struct CompileProgress {
  std::string phase = {};  ///< as in CompileReport::phases; empty at the end
  double done = 0;         ///< share of the phases that are over, 1 at the end
};

struct RuntimeOptions {
  int threads = 0;     ///< worker threads of the engine; 0: one per core
  bool trace = false;  ///< record every program run
  /// How many recorded events a model keeps until `take_trace()` hands them over. When there are
  /// more, the oldest are dropped, and `dropped_events()` counts them. An event takes 40 bytes.
  std::int64_t trace_events = 1 << 20;
  /// A call in which nothing moves for so long fails, and says who waits for what. An IPU that is
  /// known to be at work is given ten times as long for an instruction, or for a part of a long
  /// one, and a second more for every ten million operations that it consists of.
  double stall_seconds = 60;
  /// Where plans are kept, for the next process that compiles the same: a directory that nobody
  /// untrusted writes to; made if it is missing. Empty: that of the environment's
  /// PENSTOCK_CACHE_DIR; none there: none is kept. One above cache_bytes is not, with a warning.
  std::string cache_directory = {};
  std::int64_t cache_bytes = 256 << 20;  ///< of all plans kept: the longest unused go; 0: none
  /// A line per noteworthy event, told as a call ends, on its thread; what it calls adds no more.
  std::function<void(std::string_view)> log = {};
  LogLevel log_level = LogLevel::automatic;  ///< lines that matter less are left out
  /// Called by a model's constructor on its thread, which lets through its errors; calls no model.
  std::function<void(const CompileProgress&)> compile_progress = {};
};

struct Options {
  int batch_size = 1;         ///< samples per micro-batch
  int device_iterations = 1;  ///< weight updates (training) or micro-batches (inference) per call
  std::uint64_t seed = 0;     ///< of dropout and other random ops
  /// A call takes as many samples as a full one, or is refused: no plan is made for fewer.
  bool static_shapes = false;
  Topology topology = {};
  TrainingOptions training = {};
  OutputOptions output = {};
  RuntimeOptions runtime = {};

  /// @throws Error invalid_argument naming the field, what it may be, and what it is.
  void validate() const;

  /// Rows of dimension 0 that one full call takes: b·D·G·R in training, once for each input group.
  std::int64_t samples_per_step() const noexcept {
    return std::int64_t{batch_size} * device_iterations * training.gradient_accumulation *
           topology.input_groups();
  }
};

std::string_view to_string(Strategy value) noexcept;
std::string_view to_string(StageRule value) noexcept;
std::string_view to_string(PhaseLiveness value) noexcept;
std::string_view to_string(PipelineSchedule value) noexcept;
std::string_view to_string(Reduction value) noexcept;
std::string_view to_string(ReductionStrategy value) noexcept;
std::string_view to_string(OutputMode value) noexcept;
std::string_view to_string(LogLevel value) noexcept;

/// What is kept in the host store: as `options.training.offload` says, and in phased execution all
/// but what `PhasedOptions::on_ipu` keeps on the IPUs.
OffloadOptions offload_of(const Options& options);

/// Stages from a text such as "B1,B2|B3,B4". @throws Error invalid_argument if it is malformed.
std::vector<Stage> parse_stages(std::string_view text);
/// Phases from a text such as "B1|B2;B3". @throws Error invalid_argument if it is malformed.
std::vector<Phase> parse_phases(std::string_view text);

}  // namespace penstock
