// A Plan is what the actors execute. It is immutable plain data. Whatever can be decided before a
// run is decided in the plan: which program runs where, where each tensor lies, and who sends what
// to whom.
//
// A micro-batch visits every stage twice: forward in stage order, and backward in reverse.
// Consecutive stages are always joined by an edge in each direction, of kind `order` where no
// tensor travels. A stage's backward turn is thus the last thing that happens to a micro-batch in
// that stage and all later ones, and the memory of everything that these stages have stashed or
// received may be reused then. Inference has empty backward programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/sharing.hpp"

namespace penstock::graph {

enum class Space : std::uint8_t {
  /// The stage's parameters lie here. The replicas of a pipeline share this memory.
  parameters,
  buffers,  ///< The stage's buffers lie here, of which each replica has its own.
  /// The weights that the host store keeps lie here while a program of the stage runs. The stages
  /// of an IPU share this memory.
  weight_room,
  /// The stage's gradient sums lie here. The first micro-batch of a window overwrites them.
  accumulators,
  /// The gradient sums that the host store keeps lie here. Only input 0 and output 0 of an
  /// instruction may lie here.
  host_accumulators,
  /// Whatever the stage keeps of a micro-batch from its forward to the end of its backward turn
  /// lies here.
  stash,
  /// The part of the stash that the host store keeps lies here. Only the source or target of a
  /// transfer may lie here.
  host_stash,
  scratch,  ///< A program uses this memory only while it runs.
  /// A tensor that an edge brought lies here. `index` is a position in the list of forward_receives
  /// that is continued by backward_receives.
  received,
  /// A tensor of a micro-batch that an edge takes to an earlier stage lies here. `index` is a
  /// position in backward_sends.
  sent_back,
  /// What the stage's program `prepare` has computed of the stage's weights and buffers lies here.
  prepared,
  /// What the host gets of a micro-batch lies here until the host has read it.
  outputs,
};

struct Location {
  Space space = Space::scratch;
  /// `index` says which edge brings or takes a tensor in `received` or `sent_back`; see Space.
  std::int32_t index = 0;
  std::int64_t offset = 0;  ///< `offset` is in bytes, and a multiple of 64.

  bool operator==(const Location&) const = default;
};

/// Returns whether the host store keeps what lies in `space` while no program needs it.
constexpr bool in_host_store(Space space) {
  return space == Space::weight_room || space == Space::host_accumulators ||
         space == Space::host_stash;
}

/// A Transfer says whether a tensor is copied between the IPU and the host store's memory.
enum class Transfer : std::uint8_t { none, load, store };

/// An Instruction is one call of a kernel.
struct Instruction {
  std::string name;  ///< `name` is the node's name or, for a copy, the value's name and a suffix.
  /// `name_hash` is hash_name() of the node's name or, if the node serves or repeats a forward
  /// node, of the forward node's name. The op's random numbers depend on this hash.
  std::uint64_t name_hash = 0;
  const Op* op = nullptr;
  Attributes attributes = {};
  std::vector<TensorType> input_types = {};
  std::vector<TensorType> output_types = {};
  std::vector<Location> inputs = {};
  std::vector<Location> outputs = {};
  /// `workspace_offset` is the offset of the workspace in scratch, in bytes.
  std::int64_t workspace_offset = 0;
  /// `workspace_bytes` is the size of the workspace of each part, in bytes. The next part's
  /// workspace is at the next multiple of 64.
  std::int64_t workspace_bytes = 0;
  Sharing sharing = {};
  /// `transfer` says whether the call copies from or to the host store.
  Transfer transfer = Transfer::none;
  /// `recomputed` says whether the call repeats a call of the forward program.
  bool recomputed = false;
  /// In the first micro-batch of a window, the outputs lie here, unless the list is empty. A
  /// gradient is then written where its sum lies.
  std::vector<Location> first_outputs = {};
  /// `in_first` says whether the instruction runs in the first micro-batch of a window, too.
  bool in_first = true;
};

/// Returns the cost of the instruction, or no cost if the op does not say what it costs.
Cost cost_of(const Instruction& instruction);

struct Program {
  std::vector<Instruction> instructions = {};
  Cost cost = {};
  /// This many instructions of the backward program repeat instructions of the forward program.
  std::int32_t recomputed = 0;
  /// `recomputed_cost` is the cost of the recomputed instructions, a part of `cost`.
  Cost recomputed_cost = {};
};

enum class EdgeKind : std::uint8_t {
  input,       ///< The edge leads from the host's loader to a stage's forward.
  activation,  ///< The edge leads from a forward to the forward of a later stage.
  gradient,    ///< The edge leads from a backward to the backward of an earlier stage.
  order,       ///< The edge brings no tensor; it joins neighbouring stages where no tensor travels.
};

inline constexpr std::int32_t host = -1;

struct Edge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;  ///< `from` is the stage that sends, or `host`.
  std::int32_t to = host;    ///< `to` is the stage that receives.
  /// `name` is the name of the value that travels; for the kind `order`, it is empty.
  std::string name = {};
  TensorType type = {};
  std::int32_t input = none;  ///< If the kind is `input`, `input` is the position in Plan::inputs.
  /// `source` is where the sender has the value: in stash, outputs, sent_back or host_stash. In the
  /// last case, the receiver's programs load the value from there.
  Location source = {};
};

/// A GradientPlan says where the gradient sum of one use of a parameter is.
struct GradientPlan {
  std::int32_t stage = none;
  /// `home` is a place in the accumulators or host_accumulators of `stage`.
  Location home = {.space = Space::accumulators};

  bool operator==(const GradientPlan&) const = default;
};

/// A CopyPlan says where another stage has a copy of a parameter.
struct CopyPlan {
  std::int32_t stage = none;
  std::int32_t position = none;  ///< `position` is the position among the variables of `stage`.

  bool operator==(const CopyPlan&) const = default;
};

/// A VariablePlan is a parameter or buffer as a stage holds it. Layers of several stages may share
/// a parameter: the stage of its first use owns and updates the parameter, and the others have
/// copies.
struct VariablePlan {
  std::int32_t variable = none;  ///< `variable` is the position in Plan::variables.
  TensorType type = {};
  /// `home` is a place in the stage's parameters or buffers or, if the host store keeps the
  /// variable, in the weight room. The host store has the variable at the same offset in the
  /// stage's block of weights.
  Location home = {.space = Space::parameters};
  bool trainable = false;
  /// `kept_offset` is the offset, in bytes, of the copy of a buffer as it was after the last
  /// update. Variables that the programs do not change, and those of inference, have no such copy:
  /// the offset is `none`.
  std::int64_t kept_offset = none;
  /// If this stage has only a copy of the parameter, `owner` is the stage that updates it;
  /// otherwise it is `none`.
  std::int32_t owner = none;
  /// In the stage that owns the parameter, `gradients` are the parameter's gradient sums, one per
  /// use of the parameter, in model order. The gradient of the parameter is the total of the sums.
  std::vector<GradientPlan> gradients = {};
  /// In the stage that owns the parameter, `copies` are the copies of the other stages.
  std::vector<CopyPlan> copies = {};
};

struct OutputPlan {
  std::int32_t output = none;  ///< `output` is the position in Plan::outputs.
  Location source = {};        ///< `source` is a place in Space::outputs or in host_stash.
};

struct StagePlan {
  std::int32_t ipu = 0;  ///< `ipu` is the stage's IPU in replica 0.
  std::vector<std::string> blocks = {};
  Program forward = {};
  Program backward = {};  ///< In inference, `backward` has no instructions.
  /// `prepare` computes what depends on the stage's variables alone. It runs before the forward if
  /// the variables have changed since it ran last. In training, it has no instructions.
  Program prepare = {};
  // The lists from `forward_receives` to `backward_sends` have positions in Plan::edges.
  std::vector<std::int32_t> forward_receives = {};
  std::vector<std::int32_t> forward_sends = {};
  std::vector<std::int32_t> backward_receives = {};
  std::vector<std::int32_t> backward_sends = {};
  /// `outputs` are the outputs that the stage sends to the host.
  std::vector<OutputPlan> outputs = {};
  /// If `outputs_after_backward` is true, outputs are sent after the backward, because some of them
  /// are gradients; otherwise they are sent after the forward.
  bool outputs_after_backward = false;
  std::vector<VariablePlan> variables = {};  ///< `variables` are in model order.
  std::int64_t parameter_bytes = 0;
  std::int64_t buffer_bytes = 0;
  /// The host store keeps parameters of this many bytes, which is also the size of the stage's
  /// weight room.
  std::int64_t host_parameter_bytes = 0;
  /// The results of `prepare`, which the forward reads, take this many bytes.
  std::int64_t prepared_bytes = 0;
  std::int64_t accumulator_bytes = 0;
  /// The host store keeps accumulators of this many bytes.
  std::int64_t host_accumulator_bytes = 0;
  /// The copies of the buffers as they were after the last update take this many bytes. The buffers
  /// themselves change within a window.
  std::int64_t kept_bytes = 0;
  std::int64_t stash_bytes = 0;  ///< One micro-batch takes this many bytes of stash on the IPU.
  /// One micro-batch takes this many bytes of stash in the host store.
  std::int64_t host_stash_bytes = 0;
  std::int64_t output_bytes = 0;  ///< What the host gets of one micro-batch takes this many bytes.
  /// This many bytes of scratch are enough for that program of the stage that needs the most.
  std::int64_t scratch_bytes = 0;
  /// `in_flight` is the largest number of micro-batches that the stage has in flight. The stash has
  /// as many slots.
  std::int32_t in_flight = 1;
  /// `output_slots` is the number of micro-batches whose outputs the stage has: in_flight, and 2
  /// more that the host has not read yet. It is 0 if the stage has no outputs.
  std::int32_t output_slots = 0;
};

/// Returns how many slots the stage's stash in the host store has: as many as the outputs if the
/// host gets anything that is there, and in_flight otherwise.
std::int32_t host_stash_slots(const StagePlan& stage);

/// Returns how many bytes a micro-batch that the stage has in flight takes on its IPU.
constexpr std::int64_t micro_batch_bytes(const StagePlan& stage) {
  return stage.stash_bytes + stage.output_bytes;
}

struct VariableInfo {
  std::string name;
  TensorType type = {};
  bool trainable = true;
  std::int32_t stage = none;
};

struct TensorInfo {
  std::string name;
  TensorType type = {};  ///< `type` is the type for one micro-batch.
};

/// An InputRange says which elements the plan takes in its input number `input`, which has
/// integers: 0 to `end` - 1, and `other` if there is one. Messages call an element `element`, such
/// as "label".
struct InputRange {
  std::int32_t input = 0;
  std::int64_t end = 0;
  std::optional<std::int64_t> other = {};
  std::string element;

  bool operator==(const InputRange&) const = default;
};

struct Plan {
  std::string name;
  bool training = false;
  std::int64_t batch = 1;
  const Schedule* schedule = nullptr;
  /// `phases` are those in which stages take turns. If Phases::none() holds, stages do not take
  /// turns.
  Phases phases = {};
  /// In training, `window` micro-batches lie between two updates, so that no stage holds more of
  /// them. 0 says that the number is unknown.
  std::int64_t window = 0;
  /// This many threads share the work of kernels. No bit of a result depends on their number.
  std::int32_t threads_per_ipu = 1;
  std::vector<StagePlan> stages = {};
  std::vector<Edge> edges = {};
  /// `inputs` are the inputs that the plan needs, in model order.
  std::vector<TensorInfo> inputs = {};
  /// `input_ranges` are the ranges that nodes of the plan ask of elements of `inputs`. An input
  /// that several nodes read may have several ranges.
  std::vector<InputRange> input_ranges = {};
  /// `outputs` are in the model's order; in training the loss is the last one.
  std::vector<TensorInfo> outputs = {};
  /// In training, `loss` is the position of the loss in `outputs`.
  std::optional<std::int32_t> loss = {};
  /// `anchors` has, for each anchor that the host asks for, the position in `outputs`. The model's
  /// own outputs, and the loss, are at the other positions.
  std::vector<std::int32_t> anchors = {};
  /// `variables` are the variables that the plan needs, in model order.
  std::vector<VariableInfo> variables = {};
};

/// A StageBytes has the bytes that one stage of one replica takes on its IPU.
struct StageBytes {
  /// `weights` are the bytes of parameters, buffers, copies of buffers, what is prepared of them,
  /// and accumulators.
  std::int64_t weights = 0;
  /// `activations` are the bytes of the stash and the outputs, and of the buffers of the gradients
  /// that the stage sends back.
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  /// `weight_room` are the bytes of the weight room, which the stages of an IPU share like scratch.
  std::int64_t weight_room = 0;

  std::int64_t total() const noexcept { return weights + activations + scratch + weight_room; }
};
/// Returns the bytes of stage number `stage` with as many micro-batches in flight as the plan says
/// or, if `schedule` is not null, as that schedule allows.
StageBytes bytes_of_stage(const Plan& plan, std::size_t stage, const Schedule* schedule = nullptr);
/// Returns the total of bytes_of_stage() for stage number `stage`.
std::int64_t stage_bytes(const Plan& plan, std::size_t stage);

/// Returns for how many micro-batches a gradient or order edge needs buffers: for as many as its
/// receiver may have in flight. The receiver begins one more micro-batch only when it has done the
/// backward of an earlier one, and has thus read what the edge brought for the earlier one.
std::int32_t edge_depth(const Plan& plan, const Edge& edge);

}  // namespace penstock::graph
