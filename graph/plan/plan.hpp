// A Plan is what the actors execute. It is immutable plain data. Whatever can be decided before a
// run is decided here: which program runs where, where each tensor lies, and who sends what to
// whom.
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
  parameters,  ///< Has the stage's weights and buffers.
  /// Has, while a program of the stage runs, the weights that the host store keeps. The stages of
  /// an IPU share this memory.
  weight_room,
  accumulators,  ///< Has the stage's gradient sums, which are zero when a window begins.
  /// Has the gradient sums that the host store keeps. Only input 0 and output 0 of an instruction
  /// may lie here.
  host_accumulators,
  /// Has what the stage keeps of a micro-batch from its forward to the end of its backward turn.
  stash,
  /// Has the part of the stash that the host store keeps. Only the source or target of a transfer
  /// may lie here.
  host_stash,
  scratch,  ///< Is used only while the program runs.
  /// Has a tensor that an edge brought. `index` is a position in the list of forward_receives that
  /// is continued by backward_receives.
  received,
  /// Has a tensor of a micro-batch that an edge takes to an earlier stage. `index` is a position in
  /// backward_sends.
  sent_back,
};

struct Location {
  Space space = Space::scratch;
  std::int32_t index = 0;   ///< Names an edge in `received` and `sent_back`; see Space.
  std::int64_t offset = 0;  ///< Counts bytes, and is a multiple of 64.

  bool operator==(const Location&) const = default;
};

/// Returns whether the host store keeps what lies in `space` while no program needs it.
constexpr bool in_host_store(Space space) {
  return space == Space::weight_room || space == Space::host_accumulators ||
         space == Space::host_stash;
}

/// Says whether a tensor is copied between the IPU and the host store's memory.
enum class Transfer : std::uint8_t { none, load, store };

/// Is one call of a kernel.
struct Instruction {
  std::string name;  ///< Is the node's name, or for a copy the value's name and a suffix.
  /// Is hash_name() of the node's name or, if the node serves or repeats a forward node, of that
  /// node's name. The op's random numbers depend on this hash.
  std::uint64_t name_hash = 0;
  const Op* op = nullptr;
  Attributes attributes = {};
  std::vector<TensorType> input_types = {};
  std::vector<TensorType> output_types = {};
  std::vector<Location> inputs = {};
  std::vector<Location> outputs = {};
  std::int64_t workspace_offset = 0;  ///< Is the offset of the workspace in scratch, in bytes.
  /// Is the size of the workspace of each part, in bytes. The next part's workspace is at the next
  /// multiple of 64.
  std::int64_t workspace_bytes = 0;
  Sharing sharing = {};
  Transfer transfer = Transfer::none;  ///< Says whether the call copies from or to the host store.
  bool recomputed = false;  ///< Says whether the call repeats one of the forward program.
};

/// Returns the cost that the instruction's op says, or no cost if the op says none.
Cost cost_of(const Instruction& instruction);

struct Program {
  std::vector<Instruction> instructions = {};
  Cost cost = {};
  /// Counts the instructions of the backward program that repeat some of the forward.
  std::int32_t recomputed = 0;
  Cost recomputed_cost = {};  ///< Is the cost of the recomputed instructions, a part of `cost`.
};

enum class EdgeKind : std::uint8_t {
  input,       ///< Leads from the host's loader to a stage's forward.
  activation,  ///< Leads from a forward to the forward of a later stage.
  gradient,    ///< Leads from a backward to the backward of an earlier stage.
  order,       ///< Brings no tensor; joins neighbouring stages where none travels.
};

inline constexpr std::int32_t host = -1;

struct Edge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;  ///< Is the stage that sends, or `host`.
  std::int32_t to = host;    ///< Is the stage that receives.
  std::string name = {};     ///< Names the value that travels; "" for `order`.
  TensorType type = {};
  std::int32_t input = none;  ///< Is the position in Plan::inputs, if the kind is `input`.
  /// Says where the sender has the value: in stash, in sent_back, or in host_stash. In the last
  /// case, the receiver's programs load the value from there.
  Location source = {};
};

/// Says where the gradient sum of one use of a parameter is.
struct GradientPlan {
  std::int32_t stage = none;
  /// Is a place in the accumulators or host_accumulators of `stage`.
  Location home = {.space = Space::accumulators};

  bool operator==(const GradientPlan&) const = default;
};

/// Says where another stage has a copy of a parameter.
struct CopyPlan {
  std::int32_t stage = none;
  std::int32_t position = none;  ///< Is the position among the variables of `stage`.

  bool operator==(const CopyPlan&) const = default;
};

/// Is a parameter or buffer as a stage holds it. Layers of several stages may share a parameter:
/// the stage of its first use owns and updates it, and the others have copies.
struct VariablePlan {
  std::int32_t variable = none;  ///< Is the position in Plan::variables.
  TensorType type = {};
  /// Is a place in the stage's parameters or, if the host store keeps the variable, in the weight
  /// room. The host store has the variable at the same offset in the stage's block of weights.
  Location home = {.space = Space::parameters};
  bool trainable = false;
  /// Is the offset, in bytes, of a buffer's copy as of the last update. It is `none` if the
  /// variable has no such copy, such as a trained parameter.
  std::int64_t kept_offset = none;
  /// Is the stage that updates the parameter, if this stage has only a copy; else `none`.
  std::int32_t owner = none;
  /// Has, in the stage that owns the parameter, its gradient sums, one per use of the parameter, in
  /// model order. The gradient of the parameter is the total of the sums.
  std::vector<GradientPlan> gradients = {};
  /// Has, in the stage that owns the parameter, the copies of the other stages.
  std::vector<CopyPlan> copies = {};
};

struct OutputPlan {
  std::int32_t output = none;  ///< Is the position in Plan::outputs.
  Location source = {};        ///< Is a place in the stash or in host_stash.
};

struct StagePlan {
  std::int32_t ipu = 0;  ///< Is the stage's IPU in replica 0.
  std::vector<std::string> blocks = {};
  Program forward = {};
  Program backward = {};  ///< Has no instructions in inference.
  // The lists from `forward_receives` to `backward_sends` have positions in Plan::edges.
  std::vector<std::int32_t> forward_receives = {};
  std::vector<std::int32_t> forward_sends = {};
  std::vector<std::int32_t> backward_receives = {};
  std::vector<std::int32_t> backward_sends = {};
  std::vector<OutputPlan> outputs = {};  ///< Has the outputs that the stage sends to the host.
  /// Says whether outputs are sent after the backward, because some are gradients, and not after
  /// the forward.
  bool outputs_after_backward = false;
  std::vector<VariablePlan> variables = {};  ///< Has the variables in model order.
  std::int64_t parameter_bytes = 0;
  /// Counts the bytes of parameters that the host store keeps, which is also the size of the
  /// stage's weight room.
  std::int64_t host_parameter_bytes = 0;
  std::int64_t accumulator_bytes = 0;
  /// Counts the bytes of accumulators that the host store keeps.
  std::int64_t host_accumulator_bytes = 0;
  /// Counts the bytes of the copies of buffers as of the last update: the buffers themselves change
  /// within a window.
  std::int64_t kept_bytes = 0;
  std::int64_t stash_bytes = 0;  ///< Counts the bytes of stash for one micro-batch.
  /// Counts the bytes of stash for one micro-batch that the host store keeps.
  std::int64_t host_stash_bytes = 0;
  /// Is the scratch of the program, forward or backward, that needs more of it, in bytes.
  std::int64_t scratch_bytes = 0;
  /// Is the largest number of micro-batches that the stage has in flight.
  std::int32_t in_flight = 1;
  std::int32_t stash_slots = 1;  ///< Is in_flight, plus 2 if the stage has outputs.
};

struct VariableInfo {
  std::string name;
  TensorType type = {};
  bool trainable = true;
  std::int32_t stage = none;
};

struct TensorInfo {
  std::string name;
  TensorType type = {};  ///< Is the type for one micro-batch.
};

struct Plan {
  std::string name;
  bool training = false;
  std::int64_t batch = 1;
  const Schedule* schedule = nullptr;
  /// Has the phases in which stages take turns. If Phases::none() holds, stages do not take turns.
  Phases phases = {};
  /// Counts the threads that share the work of kernels. No bit of a result depends on their number.
  std::int32_t threads_per_ipu = 1;
  std::vector<StagePlan> stages = {};
  std::vector<Edge> edges = {};
  std::vector<TensorInfo> inputs = {};  ///< Has the inputs that the plan needs, in model order.
  /// Has the outputs in the model's order; in training the loss is the last one.
  std::vector<TensorInfo> outputs = {};
  std::optional<std::int32_t> loss = {};  ///< Is the position of the loss in outputs, in training.
  /// Has, for each anchor that was asked for, its position in outputs. The model's own outputs, and
  /// the loss, are at the other positions.
  std::vector<std::int32_t> anchors = {};
  /// Has the variables that the plan needs, in model order.
  std::vector<VariableInfo> variables = {};
};

/// Counts the bytes of one stage of one replica on its IPU.
struct StageBytes {
  std::int64_t weights = 0;  ///< Counts parameters, buffers and their copies, and accumulators.
  /// Counts the stash, and the buffers of the gradients that the stage sends back.
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  /// Counts the weight room, which the stages of an IPU share like scratch.
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
/// backward of an earlier one, and has thus read what the edge brought for that one.
std::int32_t edge_depth(const Plan& plan, const Edge& edge);

}  // namespace penstock::graph
