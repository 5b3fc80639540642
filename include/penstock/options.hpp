// Options say how a model is run. They are a few small groups with defaults, and each group is
// checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// A Strategy says which stages work at the same time.
enum class Strategy : std::uint8_t {
  pipelined,  ///< Stages work on different micro-batches at the same time.
  /// Each replica has one micro-batch and one busy IPU at a time, as with
  /// PipelineSchedule::sequential.
  sharded,
  serial_phased,  ///< Phases of stages take turns, all on the same IPUs.
  /// Phases of stages take turns, even phases on even IPUs and odd phases on odd IPUs.
  parallel_phased,
};

/// A PhaseLiveness says what has to leave the IPU between the phases that use it; see
/// docs/phases.md.
enum class PhaseLiveness : std::uint8_t {
  /// Nothing is forced off the IPU: what the last phases use stays there until their backward.
  always_live,
  /// All that a backward needs leaves the IPU after the forward, and comes back for the backward.
  off_ipu_after_forward,
  /// This is like off_ipu_after_forward, but copies never overlap programs. This liveness is for
  /// serial phases only.
  off_ipu_after_forward_no_overlap,
  /// Everything leaves the IPU between any two phases, and copies never overlap programs. This
  /// liveness is for serial phases only.
  off_ipu_after_each_phase,
};

/// A StageRule says what the stages are if `Topology::stages` does not.
enum class StageRule : std::uint8_t {
  /// Each block is a stage, in the model's order. A model that has stages by number keeps these.
  by_block,
  /// Each IPU is a stage, in the order of the IPUs. Every block has to say which IPU it is on.
  same_as_ipu,
  /// A new stage begins wherever the block changes. A block that comes back later begins another
  /// stage.
  auto_increment,
};

/// A PipelineSchedule says which work a pipelined stage prefers, and how many micro-batches it may
/// hold.
enum class PipelineSchedule : std::uint8_t {
  /// Stages run forwards for as long as they may hold more micro-batches. That gives the highest
  /// throughput and keeps the most activations.
  grouped,
  /// Stages prefer backwards to forwards (1F1B), which keeps about half as many activations.
  interleaved,
  /// A replica's pipeline has one micro-batch and one busy IPU at a time, which helps to debug.
  sequential,
};

/// A Reduction says how the gradients of a window's micro-batches and replicas become one gradient.
enum class Reduction : std::uint8_t { mean, sum };

/// A ReductionStrategy says when a mean is divided. The results differ by rounding.
enum class ReductionStrategy : std::uint8_t {
  post,  ///< Gradients are summed, and the sum is divided once.
  /// The mean is kept up to date: micro-batch k of a window, counted from 0, turns the mean s into
  /// s·k/(k+1) + g/(k+1), where g is the gradient of that micro-batch. No large sums are needed.
  running,
};

/// An OutputMode says which micro-batches' outputs a call returns.
enum class OutputMode : std::uint8_t {
  automatic,  ///< This mode stands for `final` in training and for `all` in inference.
  final,      ///< A call returns the last micro-batch of each replica.
  every_n,    ///< A call returns the micro-batches N, 2N, ..., counted from 1.
  all,        ///< A call returns every micro-batch.
  sum,        ///< A call returns the element-wise sum over each replica's micro-batches.
};

/// A Stage is a list of blocks that run together on one IPU.
struct Stage {
  /// `blocks` has the names of the blocks. A block belongs to one stage.
  std::vector<std::string> blocks = {};
  /// `ipu` is the stage's IPU. If it is -1, the stage is on the IPU that `Topology::ipus` gives;
  /// failing that, on the IPU of its blocks; failing that, on the IPU that has the number of the
  /// stage.
  int ipu = -1;

  Stage() = default;
  /// Makes a stage of the blocks `names`: `Stage{"B1", "B2"}`.
  Stage(std::initializer_list<std::string> names) : blocks(names) {}
  /// Makes a stage of the blocks `names`.
  explicit Stage(std::vector<std::string> names) : blocks(std::move(names)) {}
  /// Returns a copy of this stage on IPU `number`: `Stage{"B1", "B2"}.on(0)`.
  Stage on(int number) const {
    Stage placed = *this;
    placed.ipu = number;
    return placed;
  }
};

/// A Phase is a list of stages that have their turn together: `Phase{{"B1"}, {"B2"}}.on({0, 1})`.
struct Phase {
  std::vector<Stage> stages = {};  ///< `stages` has the stages in their order.

  Phase() = default;
  /// Makes a phase of the stages `of`: `Phase{{"B1"}, {"B2"}}`.
  Phase(std::initializer_list<Stage> of) : stages(of) {}
  /// Makes a phase of the stages `of`.
  explicit Phase(std::vector<Stage> of) : stages(std::move(of)) {}
  /// Returns a copy of this phase with each of its stages on one of `ipus`, in their order. @throws
  /// Error invalid_argument if there are not as many IPUs as stages.
  Phase on(const std::vector<int>& ipus) const;
};

/// An OnIpu says which classes of tensors stay on the IPUs all the time, as all classes do under
/// the strategies without phases.
struct OnIpu {
  bool weights = false;       ///< `weights` says whether parameters stay.
  bool activations = false;   ///< `activations` says whether activations stay.
  bool accumulators = false;  ///< `accumulators` says whether sums of gradients stay.
  /// `optimizer_state` says whether the state of the optimizer stays.
  bool optimizer_state = false;
};

/// PhasedOptions are the options of the strategies serial_phased and parallel_phased.
struct PhasedOptions {
  /// `phases` has the phases, and takes the place of `Topology::stages`. If it is empty, each stage
  /// is a phase of its own.
  std::vector<Phase> phases = {};
  /// `liveness` says what has to leave the IPU between phases.
  PhaseLiveness liveness = PhaseLiveness::always_live;
  /// `separate_backward_phase` says whether the backward of the last phase is a phase of its own.
  /// With every liveness but always_live it is one anyway, and the field must be false.
  bool separate_backward_phase = false;
  /// `batch_serial` says whether a phase does all micro-batches of an accumulation window before
  /// the next phase begins.
  bool batch_serial = false;
  /// `on_ipu` says what stays on the IPUs. Everything else is in the host store, as if
  /// `TrainingOptions::offload` said so.
  OnIpu on_ipu = {};
};

/// A Topology says how a model is cut into stages, and where the stages run.
struct Topology {
  Strategy strategy = Strategy::pipelined;  ///< `strategy` says which stages work at the same time.
  /// `schedule` says which work a pipelined stage prefers.
  PipelineSchedule schedule = PipelineSchedule::grouped;
  /// `stages` has the stages. If it is empty, `stage_rule` decides what the stages are.
  std::vector<Stage> stages = {};
  /// `stage_rule` says what the stages are if `stages` is empty.
  StageRule stage_rule = StageRule::by_block;
  /// If this number is above 0, `stages` has to be empty, and the compiler cuts the model into this
  /// many stages. A cut may be between any two layers, and the cuts are chosen so that the stages
  /// take times that are as equal as possible, as measured. A model that has stages by number is
  /// refused.
  int automatic_stages = 0;
  /// `ipus` has the IPU of each stage, in order, from 0 to 65535. `Stage::on` takes precedence. If
  /// the list is empty, a stage is on the IPU of its blocks (`Model::block`); if these name none,
  /// stage n is on IPU n. Automatic stages ignore the IPUs of blocks.
  std::vector<int> ipus = {};
  /// Each IPU has this much memory; 0 means that there is no limit. A plan that needs more is
  /// refused, and automatic stages are cut so that they fit.
  std::int64_t ipu_memory_bytes = 0;
  /// The model runs in this many copies, each on IPUs of its own. The IPUs of a later copy have
  /// higher numbers.
  int replication_factor = 1;
  /// This many replicas with consecutive numbers get the same rows of every input. The replication
  /// factor is a multiple of it.
  int input_group_size = 1;
  /// Each IPU has this many cores: the work of each kernel is shared by that many threads, which
  /// changes no bit of a result. 0 divides the machine's cores (or `RuntimeOptions::threads`, if
  /// these are fewer) among the IPUs in use, with at least one for each and no more than the IPUs'
  /// memory has scratch space for.
  int threads_per_ipu = 0;
  /// `phased` has the options that only the strategies with phases use.
  PhasedOptions phased = {};

  /// Returns the number of input groups, which are groups of replicas that get the same rows.
  int input_groups() const noexcept {
    return input_group_size > 1 ? replication_factor / input_group_size : replication_factor;
  }
};

/// Returns whether the strategy has phases.
constexpr bool is_phased(Strategy strategy) noexcept {
  return strategy == Strategy::serial_phased || strategy == Strategy::parallel_phased;
}

/// An Offload says whether a class of tensors is kept in the host store instead of on the IPUs,
/// which then hold only what they are working on. That saves memory on the IPUs, takes more time
/// and gives the same bits.
struct Offload {
  bool on = false;  ///< `on` says whether tensors of the class are kept in the host store.
  std::int64_t minimum_bytes = 8;  ///< A tensor of fewer bytes than this stays on the IPU.

  /// Returns whether a tensor of `bytes` bytes is kept in the host store.
  bool takes(std::int64_t bytes) const noexcept { return on && bytes >= minimum_bytes; }
  /// Returns whether both fields are equal.
  bool operator==(const Offload&) const noexcept = default;
};

/// OffloadOptions say which classes of tensors are kept in the host store.
struct OffloadOptions {
  /// `optimizer_state` is for the state of the optimizer, which comes to the IPU piece by piece for
  /// an update.
  Offload optimizer_state = {};
  /// `accumulators` is for the sums of gradients, which come to the IPU piece by piece to be added
  /// to.
  Offload accumulators = {};
  /// `activations` is for what a stage, in training, keeps of a micro-batch from its forward to its
  /// backward, and for what it sends forward. Each tensor comes to the IPU for the layers that read
  /// it.
  Offload activations = {};
  /// `weights` is for the parameters, in training and in inference. The parameters of a stage come
  /// to the IPU for the stage's programs, to memory that all stages of the IPU share, and piece by
  /// piece for an update.
  Offload weights = {};
};

/// A ReplicaSharding says whether replicas divide a class of tensors among themselves, so that each
/// of R replicas keeps ceil(n/R) of n elements instead of all. That saves memory on the IPUs and
/// gives the same bits. A single replica keeps everything.
struct ReplicaSharding {
  bool on = false;  ///< `on` says whether tensors of the class are divided.
  /// A tensor with fewer elements than this, which is 2 or more, is kept whole.
  std::int64_t minimum_elements = 8192;

  /// Returns whether `replicas` replicas divide a tensor of `elements` elements.
  bool divides(std::int64_t elements, std::int64_t replicas) const noexcept {
    return on && replicas > 1 && elements >= minimum_elements;
  }
};

/// ShardingOptions say which classes of tensors replicas divide among themselves.
struct ShardingOptions {
  /// `optimizer_state` is for the state of the optimizer. If that is divided, the update of the
  /// weights is divided, too: a replica updates the weights whose state it keeps.
  ReplicaSharding optimizer_state = {};
};

/// TrainingOptions say how gradients become updates of the weights, and how much memory that may
/// take.
struct TrainingOptions {
  /// This many micro-batches per replica make one weight update.
  int gradient_accumulation = 1;
  /// `reduction` says how the gradients of a window become one.
  Reduction reduction = Reduction::mean;
  /// `reduction_strategy` says when a mean is divided; `running` needs Reduction::mean.
  ReductionStrategy reduction_strategy = ReductionStrategy::post;
  OffloadOptions offload = {};  ///< `offload` says which tensors leave the IPUs between their uses.
  ShardingOptions sharding = {};  ///< `sharding` says which tensors are divided among the replicas.
  /// `recompute` says whether stages before the last keep, of each micro-batch, only what they
  /// receive and send, and what `Model::recomputation_checkpoint` marks. The rest is computed a
  /// second time just before the backward. That saves memory, takes more time and gives the same
  /// bits.
  bool recompute = false;
  /// `recompute_stages` has the stages to which `recompute` applies. If it is empty, `recompute`
  /// applies to every stage before the last.
  std::vector<int> recompute_stages = {};
};

/// An Anchor describes a tensor within the model that calls return besides the outputs
/// (`StepResult::anchor`). Its shape is that of an output under `mode`.
struct Anchor {
  std::string name = {};  ///< `name` is the name of the anchor; no other anchor has this name.
  /// `tensor` is the name of the layer that computes the tensor; see `Model::tensor_name`.
  std::string tensor = {};
  /// `gradient` says whether calls return, instead of the tensor itself, the gradient of each
  /// micro-batch's loss with respect to the tensor, multiplied by `Optimizer::loss_scaling`.
  /// `tensor` may then be a parameter. Only training has gradients.
  bool gradient = false;
  /// `mode` says which micro-batches are returned; `automatic` stands for the mode and the period
  /// of the outputs.
  OutputMode mode = OutputMode::automatic;
  int period = 1;  ///< `period` is the N of OutputMode::every_n.
};

/// OutputOptions say what calls return.
struct OutputOptions {
  /// `mode` says of which micro-batches the outputs and the loss are returned.
  OutputMode mode = OutputMode::automatic;
  int period = 1;  ///< `period` is the N of OutputMode::every_n.
  /// `anchors` has the tensors that calls return besides the outputs.
  std::vector<Anchor> anchors = {};
};

/// A LogLevel says how much a line of the log matters. A model logs the lines of its own level and
/// of the levels that follow it in this list.
enum class LogLevel : std::uint8_t {
  /// PENSTOCK_LOG_LEVEL in the environment is the level; failing that, the level is `debug`.
  automatic,
  debug,    ///< A line tells of a call, or of a copy of the weights.
  info,     ///< A line tells what was compiled or set.
  warning,  ///< A line tells what the compiler advises against.
  error,    ///< A line tells why the model failed.
  off,      ///< No line is logged.
};

/// A CompileProgress says what the constructor of a model is about to do, and how much it has done.
struct CompileProgress {
  /// `step` is the name of the step, as in CompileReport::steps. It is empty at the end.
  std::string step = {};
  double done = 0;  ///< `done` is the share of the steps that are over, from 0 to 1.
};

/// RuntimeOptions say how the engine runs in the host's process: its threads, its log, and its
/// limits of time and space.
struct RuntimeOptions {
  int threads = 0;  ///< The engine has this many worker threads; 0 stands for one per core.
  /// `trace` says whether the model records what its IPUs do: every run of a program, what the IPUs
  /// waited for, and the time of each instruction in some of the runs. `profile()` and
  /// `take_trace()` return that.
  bool trace = false;
  /// A model keeps at most this many recorded events until `take_trace()` returns them. Further
  /// events replace the oldest ones, and `dropped_events()` counts those. An event takes 56 bytes.
  std::int64_t trace_events = 1 << 20;
  /// A call has stalled if nothing moves for this many seconds. It fails, or goes on by itself as
  /// RecoveryOptions let it, and the failure says who waits for what. An
  /// IPU that is known to be at work has ten times as long for an instruction, or for a part of a
  /// long one, and another second for every ten million operations that the instruction consists
  /// of.
  double stall_seconds = 30;
  /// `cache_directory` is the name of the directory in which plans are kept for the next process
  /// that compiles the same. Only trusted users may have write access to the directory, which is
  /// made if it does not exist. If the name is empty, PENSTOCK_CACHE_DIR in the environment names
  /// the directory; failing that, no plan is kept.
  std::string cache_directory = {};
  /// All plans that are kept take at most this many bytes: those that were not used for longest are
  /// removed. A plan that is larger than the limit is not kept, and a warning says so. The limit 0
  /// keeps no plan.
  std::int64_t cache_bytes = 256 << 20;
  /// `log` is called at the end of a call, on the call's thread, with one line for each event worth
  /// noting. Calls of a model that the function makes add no lines.
  std::function<void(std::string_view)> log = {};
  /// Lines that matter less than this level are left out.
  LogLevel log_level = LogLevel::automatic;
  /// `compile_progress` is called by the constructor of a model, on its thread. What the function
  /// throws leaves the constructor. The function may not call a model.
  std::function<void(const CompileProgress&)> compile_progress = {};
  /// `monitor` says whether penstock-monitor can look at the model while it is on its IPUs. While
  /// there is such a model, the process has a socket for this user's programs, and a thread that
  /// answers on it. PENSTOCK_MONITOR=0 in the environment turns this off for all models.
  bool monitor = true;
};

/// RecoveryOptions say what a call does if one of the engine's actors dies, or if nothing moves any
/// more. Such a failure is not due to the call's data, so that the same work may succeed when it is
/// done again; see docs/embedding.md.
struct RecoveryOptions {
  /// A call replaces the actors and does again what the last update has not seen, at most this many
  /// times for each plan that runs a part of the call. The next failure ends the call, and so does
  /// the first one if this number is 0.
  int attempts = 3;
  /// Before the actors are replaced, an IPU that is still in the middle of something, although it
  /// has had all the time that `RuntimeOptions::stall_seconds` gives to it, has this many seconds
  /// more to end it. If it does not, the failure ends the call.
  double wait_seconds = 10;
};

/// Options have everything that decides how a model is compiled and run.
struct Options {
  int batch_size = 1;  ///< A micro-batch has this many samples.
  /// A call does this many weight updates in training, or takes this many micro-batches per replica
  /// in inference.
  int device_iterations = 1;
  std::uint64_t seed = 0;  ///< Dropout and other random ops depend on this seed.
  /// `static_shapes` says whether calls refuse fewer samples than a full call takes, so that no
  /// plan has to be made for them.
  bool static_shapes = false;
  /// `topology` says how the model is cut into stages, and where these run.
  Topology topology = {};
  /// Everything in `training` but `offload.weights` applies to training alone.
  TrainingOptions training = {};
  OutputOptions output = {};    ///< `output` says what calls return.
  RuntimeOptions runtime = {};  ///< `runtime` says how the engine runs in the host's process.
  RecoveryOptions recovery =
      {};  ///< `recovery` says after which failures a call goes on by itself.

  /// Checks every field. @throws Error invalid_argument that names the field, its range and its
  /// value.
  void validate() const;

  /// Returns the number of rows in dimension 0 that a full call of training takes: b·D·G·R, divided
  /// by the size of an input group. CallSize explains these letters.
  std::int64_t samples_per_step() const noexcept {
    return std::int64_t{batch_size} * device_iterations * training.gradient_accumulation *
           topology.input_groups();
  }
};

/// Returns the name of the enumerator.
std::string_view to_string(Strategy value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(StageRule value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(PhaseLiveness value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(PipelineSchedule value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(Reduction value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(ReductionStrategy value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(OutputMode value) noexcept;
/// Returns the name of the enumerator.
std::string_view to_string(LogLevel value) noexcept;

/// Returns what is kept in the host store: what `options.training.offload` says or, in phased
/// execution, everything that `PhasedOptions::on_ipu` does not keep on the IPUs.
OffloadOptions offload_of(const Options& options);

/// Reads stages such as "B1,B2|B3,B4". @throws Error invalid_argument if the text is malformed.
std::vector<Stage> parse_stages(std::string_view text);
/// Reads phases such as "B1|B2;B3". @throws Error invalid_argument if the text is malformed.
std::vector<Phase> parse_phases(std::string_view text);

}  // namespace penstock
