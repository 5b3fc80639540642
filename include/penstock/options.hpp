// Options say how a model is run. They are a few small groups with defaults and one check for each.
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

/// Says how far apart phases are if what both use leaves the IPU in between: see docs/phases.md.
enum class PhaseLiveness : std::uint8_t {
  always_live,            ///< nothing is forced off: the last phases stay until their backward
  off_ipu_after_forward,  ///< all that backward needs leaves after forward, and comes again
  off_ipu_after_forward_no_overlap,  ///< and copies never overlap programs; serial phases only
  off_ipu_after_each_phase,  ///< and everything leaves between any two phases; serial phases only
};

/// Says what the stages are if `Topology::stages` does not.
enum class StageRule : std::uint8_t {
  by_block,     ///< a stage per block, in the model's order; or those that the model has by number
  same_as_ipu,  ///< a stage per IPU, in the IPUs' order; every block says which one it is on
  auto_increment,  ///< a new stage wherever the block changes; one that comes back is a stage again
};

/// Says which work a pipelined stage prefers, and how many micro-batches it may hold.
enum class PipelineSchedule : std::uint8_t {
  grouped,      ///< forward while it may hold more: highest throughput, most activations
  interleaved,  ///< backward first (1F1B): about half the activations
  sequential,   ///< one micro-batch in a replica's pipeline, one busy IPU: for debugging
};

/// Says how the gradients of a window's micro-batches and replicas become one.
enum class Reduction : std::uint8_t { mean, sum };

/// Says when a mean is divided. The results differ by rounding.
enum class ReductionStrategy : std::uint8_t {
  post,     ///< gradients are summed up, and the sum is divided once
  running,  ///< after micro-batch k (from 0) of a window, s = s·k/(k+1) + g/(k+1): no large sums
};

/// Says which micro-batches' outputs a call returns.
enum class OutputMode : std::uint8_t {
  automatic,  ///< `final` in training, `all` in inference
  final,      ///< the last micro-batch of each replica
  every_n,    ///< micro-batches N, 2N, ... (counted from 1)
  all,        ///< every micro-batch
  sum,        ///< the element-wise sum over each replica's micro-batches
};

/// Blocks that run together on one IPU.
struct Stage {
  /// These are the names of blocks, of which no other stage has any.
  std::vector<std::string> blocks = {};
  int ipu = -1;  ///< -1: as `Topology::ipus` says, else the blocks, else the stage's number

  Stage() = default;
  /// Makes a stage of these blocks: `Stage{"B1", "B2"}`.
  Stage(std::initializer_list<std::string> names) : blocks(names) {}
  /// Makes a stage of these blocks.
  explicit Stage(std::vector<std::string> names) : blocks(std::move(names)) {}
  /// Returns the same stage, placed: `Stage{"B1", "B2"}.on(0)`.
  Stage on(int number) const {
    Stage placed = *this;
    placed.ipu = number;
    return placed;
  }
};

/// Stages that have their turns together: `Phase{{"B1"}, {"B2"}}.on({0, 1})`.
struct Phase {
  std::vector<Stage> stages = {};  ///< These stages belong to the phase, in their order.

  Phase() = default;
  /// Makes a phase of these stages: `Phase{{"B1"}, {"B2"}}`.
  Phase(std::initializer_list<Stage> of) : stages(of) {}
  /// Makes a phase of these stages.
  explicit Phase(std::vector<Stage> of) : stages(std::move(of)) {}
  /// Returns the same phase, each of its stages placed.
  /// @throws Error invalid_argument if there are not just as many IPUs as stages.
  Phase on(const std::vector<int>& ipus) const;
};

/// Classes of tensors that stay on the IPUs all the time, as all do under other strategies.
struct OnIpu {
  bool weights = false;          ///< Parameters stay.
  bool activations = false;      ///< Activations stay.
  bool accumulators = false;     ///< Sums of gradients stay.
  bool optimizer_state = false;  ///< What the optimizer keeps of each parameter stays.
};

/// These go with the strategies serial_phased and parallel_phased.
struct PhasedOptions {
  std::vector<Phase> phases = {};  ///< instead of `Topology::stages`; empty: each stage is one
  PhaseLiveness liveness = PhaseLiveness::always_live;  ///< This says how far apart phases are.
  /// The last phase's backward is a phase of its own, as `liveness` makes it unless always_live.
  bool separate_backward_phase = false;
  /// A phase does all micro-batches of an accumulation window before the next one begins.
  bool batch_serial = false;
  /// All others are in the host store, as if `TrainingOptions::offload` said so.
  OnIpu on_ipu = {};
};

/// Says how a model is cut into stages, and where these run.
struct Topology {
  Strategy strategy = Strategy::pipelined;  ///< This says which stages work at the same time.
  /// A pipelined stage prefers its work by this.
  PipelineSchedule schedule = PipelineSchedule::grouped;
  std::vector<Stage> stages = {};              ///< empty: as `stage_rule` says
  StageRule stage_rule = StageRule::by_block;  ///< Stages are found by this if `stages` is empty.
  /// If above 0, the model is cut into so many stages instead of `stages`, between any two layers,
  /// where measured times balance them best. A model that has stages by number is refused.
  int automatic_stages = 0;
  /// Each stage's IPU, in order, 0 to 65535; `Stage::on` comes before it. If empty, the stage's
  /// blocks say it (`Model::block`), else it is 0, 1, 2, ...; automatic stages go by number.
  std::vector<int> ipus = {};
  /// Each IPU has so much. A plan that needs more is refused; automatic stages are cut to fit. 0 is
  /// no limit.
  std::int64_t ipu_memory_bytes = 0;
  int replication_factor = 1;  ///< each on IPUs of its own, of higher and higher numbers
  /// Replicas that get the same rows of every input: the first so many, the next, and so on. A
  /// divisor of the replication factor.
  int input_group_size = 1;
  /// Cores for each IPU: so many threads share the work of each of its kernels, which changes no
  /// bit of a result. 0: the machine's cores (or `RuntimeOptions::threads`, if fewer) divided among
  /// the IPUs in use, at least one each, and no more than their memory has scratch for.
  int threads_per_ipu = 0;
  PhasedOptions phased = {};  ///< These are for the strategies with phases alone.

  /// Returns how many rows one sample of every replica has together.
  int input_groups() const noexcept {
    return input_group_size > 1 ? replication_factor / input_group_size : replication_factor;
  }
};

/// Returns whether a strategy has phases.
constexpr bool is_phased(Strategy strategy) noexcept {
  return strategy == Strategy::serial_phased || strategy == Strategy::parallel_phased;
}

/// A class of tensors may be kept in the host store instead of on the IPUs, which then hold only
/// what they work on at the moment. That takes less memory there and more time, for the same bits.
struct Offload {
  bool on = false;  ///< This says whether tensors of the class are kept in the host store.
  std::int64_t minimum_bytes = 8;  ///< smaller tensors stay on the IPU

  /// Returns whether a tensor of so many bytes is kept in the host store.
  bool takes(std::int64_t bytes) const noexcept { return on && bytes >= minimum_bytes; }
  /// Returns whether both fields are equal.
  bool operator==(const Offload&) const noexcept = default;
};

/// Says which classes of tensors are kept in the host store.
struct OffloadOptions {
  Offload optimizer_state = {};  ///< comes to the IPU for an update, piece by piece
  Offload accumulators = {};     ///< gradient sums: come piece by piece, to be added to
  /// In training, these are what a stage keeps of a micro-batch from its forward to its backward,
  /// and what it sends forward: each tensor comes for the layers that read it.
  Offload activations = {};
  /// Parameters: a stage's come for its programs, to a room that the stages of an IPU share, and
  /// piece by piece for an update. In inference too.
  Offload weights = {};
};

/// Replicas may divide a class of tensors among themselves, instead of each keeping all: of n
/// elements, each of R replicas keeps ceil(n/R). That takes less memory on the IPUs, for the same
/// bits. A single replica keeps all.
struct ReplicaSharding {
  bool on = false;                       ///< This says whether tensors of the class are divided.
  std::int64_t minimum_elements = 8192;  ///< smaller tensors are kept whole; at least 2

  /// Returns whether so many replicas divide a tensor of so many elements.
  bool divides(std::int64_t elements, std::int64_t replicas) const noexcept {
    return on && replicas > 1 && elements >= minimum_elements;
  }
};

/// Says which classes of tensors replicas divide among themselves.
struct ShardingOptions {
  /// The weight update is divided, too: a replica updates those weights whose state it keeps.
  ReplicaSharding optimizer_state = {};
};

/// Says how gradients become weight updates, and what that may cost in memory.
struct TrainingOptions {
  int gradient_accumulation = 1;          ///< micro-batches per replica and weight update
  Reduction reduction = Reduction::mean;  ///< Gradients become one in this way.
  ReductionStrategy reduction_strategy = ReductionStrategy::post;  ///< `running`: of `mean` only
  OffloadOptions offload = {};    ///< These tensors leave the IPUs between their uses.
  ShardingOptions sharding = {};  ///< These tensors are divided among the replicas.
  /// Stages before the last keep of a micro-batch only what they receive and send, and what
  /// `Model::recomputation_checkpoint` marks; the rest is computed a second time, just before their
  /// backward. The same bits, less memory, more time.
  bool recompute = false;
  std::vector<int> recompute_stages = {};  ///< only these; empty: every stage before the last
};

/// An anchor is a tensor within the model that calls return beside its outputs
/// (`StepResult::anchor`), shaped as an output of its mode.
struct Anchor {
  std::string name = {};    ///< of its own among the anchors
  std::string tensor = {};  ///< the name of the layer that computes it, see `Model::tensor_name`
  /// The gradient of each micro-batch's loss with respect to `tensor`, which may be a parameter
  /// then, instead of itself; times `Optimizer::loss_scaling`. In training only.
  bool gradient = false;
  OutputMode mode = OutputMode::automatic;  ///< automatic: as the outputs, period included
  int period = 1;                           ///< N of `every_n`
};

/// Says what calls return.
struct OutputOptions {
  /// Outputs and the loss are returned of these micro-batches.
  OutputMode mode = OutputMode::automatic;
  int period = 1;                    ///< N of `every_n`
  std::vector<Anchor> anchors = {};  ///< These tensors are returned besides.
};

/// Says how much a line of the log matters.
enum class LogLevel : std::uint8_t {
  automatic,  ///< what PENSTOCK_LOG_LEVEL of the environment says, else `debug`
  debug,      ///< each call, each copy of weights
  info,       ///< what was compiled and set
  warning,    ///< what the compiler advises against
  error,      ///< why the model failed
  off,
};

/// Says what a model's constructor is about to do, and how much it has done.
struct CompileProgress {
  std::string phase = {};  ///< as in CompileReport::phases; empty at the end
  double done = 0;         ///< share of the phases that are over, 1 at the end
};

/// Says how the engine runs in the host's process: threads, log, limits of time and space.
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
  /// Plans are kept in this directory for the next process that compiles the same. Nobody untrusted
  /// may write to it; it is made if it is missing. If empty, PENSTOCK_CACHE_DIR of the environment
  /// names it, or none is kept. A plan above cache_bytes is not kept, with a warning.
  std::string cache_directory = {};
  std::int64_t cache_bytes = 256 << 20;  ///< of all plans kept: the longest unused go; 0: none
  /// Is told a line per noteworthy event as a call ends, on its thread; what it calls adds no more.
  std::function<void(std::string_view)> log = {};
  LogLevel log_level = LogLevel::automatic;  ///< lines that matter less are left out
  /// A model's constructor calls this on its thread and lets its errors through; it calls no model.
  std::function<void(const CompileProgress&)> compile_progress = {};
};

/// Holds everything that decides how a model is compiled and run.
struct Options {
  int batch_size = 1;         ///< samples per micro-batch
  int device_iterations = 1;  ///< weight updates (training) or micro-batches (inference) per call
  std::uint64_t seed = 0;     ///< of dropout and other random ops
  /// A call takes as many samples as a full one, or is refused: no plan is made for fewer.
  bool static_shapes = false;
  Topology topology = {};         ///< This says where stages run.
  TrainingOptions training = {};  ///< This matters in training alone, `offload.weights` apart.
  OutputOptions output = {};      ///< This says what calls return.
  RuntimeOptions runtime = {};    ///< This says how the engine runs in the host's process.

  /// @throws Error invalid_argument naming the field, what it may be, and what it is.
  void validate() const;

  /// Returns a full call's rows of dimension 0: b·D·G·R in training, once for each input group.
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

/// Returns what is kept in the host store: what `options.training.offload` says, and in phased
/// execution all but what `PhasedOptions::on_ipu` keeps on the IPUs.
OffloadOptions offload_of(const Options& options);

/// Reads stages such as "B1,B2|B3,B4". @throws Error invalid_argument if the text is malformed.
std::vector<Stage> parse_stages(std::string_view text);
/// Reads phases such as "B1|B2;B3". @throws Error invalid_argument if the text is malformed.
std::vector<Phase> parse_phases(std::string_view text);

}  // namespace penstock
