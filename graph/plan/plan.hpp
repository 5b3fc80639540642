// Plan: what the actors execute. Immutable plain data; whatever can be decided before a run is
// decided here: which program runs where, where each tensor lies, who sends what to whom.
//
// A micro-batch visits every stage twice: forward in stage order, backward in reverse. Consecutive
// stages are always joined by an edge in each direction (of kind `order` where no tensor travels),
// so a stage's backward turn comes last of all that happens to that micro-batch from it onwards:
// then everything it stashed or received may be reused. Inference has empty backward programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/schedule.hpp"
#include "graph/plan/sharing.hpp"

namespace penstock::graph {

enum class Space : std::uint8_t {
  parameters,         ///< the stage's weights and buffers
  weight_room,        ///< those weights that the host store keeps: the IPU's, for a program's time
  accumulators,       ///< the stage's gradient sums, zero when a window begins
  host_accumulators,  ///< those kept in the host store: only an instruction's input 0 and output 0
  stash,              ///< of this micro-batch, from its forward to the end of its backward turn
  host_stash,         ///< what of it is kept in the host store: only a transfer's source or target
  scratch,            ///< only while the program runs
  received,           ///< `index`: position in forward_receives, then backward_receives
  sent_back,  ///< `index`: position in backward_sends; a buffer of this micro-batch for the edge
};

struct Location {
  Space space = Space::scratch;
  std::int32_t index = 0;   ///< of `received` and `sent_back`
  std::int64_t offset = 0;  ///< bytes, a multiple of 64

  bool operator==(const Location&) const = default;
};

/// A copy of a tensor between the IPU and the host store's memory.
enum class Transfer : std::uint8_t { none, load, store };

/// One kernel call.
struct Instruction {
  std::string name;             ///< the node's name in the model
  std::uint64_t name_hash = 0;  ///< hash_name(name)
  const Op* op = nullptr;
  Attributes attributes = {};
  std::vector<TensorType> input_types = {};
  std::vector<TensorType> output_types = {};
  std::vector<Location> inputs = {};
  std::vector<Location> outputs = {};
  std::int64_t workspace_offset = 0;  ///< in scratch
  std::int64_t workspace_bytes = 0;  ///< of each part; the next one's is at the next multiple of 64
  Sharing sharing = {};
  Transfer transfer = Transfer::none;  ///< what the call is, besides what its op does
};

/// What its op says; nothing if the op says nothing.
Cost cost_of(const Instruction& instruction);

struct Program {
  std::vector<Instruction> instructions = {};
  Cost cost = {};
  std::int32_t recomputed = 0;  ///< instructions of the backward program that repeat forward's
  Cost recomputed_cost = {};    ///< of these, part of `cost`
};

enum class EdgeKind : std::uint8_t {
  input,       ///< from the host's loader to a stage's forward
  activation,  ///< forward to a later stage's forward
  gradient,    ///< backward to an earlier stage's backward
  order,       ///< no tensor: between neighbours that exchange none, in either direction
};

inline constexpr std::int32_t host = -1;

struct Edge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;  ///< stage
  std::int32_t to = host;    ///< stage
  std::string name = {};     ///< of the value that travels, "" for `order`
  TensorType type = {};
  std::int32_t input = none;  ///< of kind `input`: position in Plan::inputs
  /// Where the sender finds it: stash, host_stash (the receiver's programs transfer it), sent_back.
  Location source = {};
};

/// The gradient sum of one use of a parameter.
struct GradientPlan {
  std::int32_t stage = none;
  std::int64_t offset = 0;  ///< in that stage's accumulators
  bool on_host = false;     ///< in those that are kept in the host store

  bool operator==(const GradientPlan&) const = default;
};

/// Where another stage has a copy of a parameter.
struct CopyPlan {
  std::int32_t stage = none;
  std::int32_t position = none;  ///< in that stage's variables

  bool operator==(const CopyPlan&) const = default;
};

/// A parameter or buffer as a stage holds it. Layers of several stages may share a parameter: the
/// stage of its first use owns and updates it, the others have copies.
struct VariablePlan {
  std::int32_t variable = none;  ///< position in Plan::variables
  TensorType type = {};
  std::int64_t offset = 0;  ///< in the stage's parameters, or in those that the host store keeps
  bool on_host = false;     ///< in these, and in the weight room at the same offset
  bool trainable = false;
  std::int64_t kept_offset = none;  ///< of a buffer's copy as of the last update; trained: none
  std::int32_t owner = none;        ///< of a copy: the stage that updates it
  /// In the owner: its gradient sums, one per use, in model order; the gradient is their sum.
  std::vector<GradientPlan> gradients = {};
  std::vector<CopyPlan> copies = {};  ///< in the owner
};

struct OutputPlan {
  std::int32_t output = none;  ///< position in Plan::outputs
  Location source = {};        ///< in the stash or host_stash
};

struct StagePlan {
  std::int32_t ipu = 0;  ///< of replica 0
  std::vector<std::string> blocks = {};
  Program forward = {};
  Program backward = {};                            ///< no instructions in inference
  std::vector<std::int32_t> forward_receives = {};  ///< positions in Plan::edges
  std::vector<std::int32_t> forward_sends = {};
  std::vector<std::int32_t> backward_receives = {};
  std::vector<std::int32_t> backward_sends = {};
  std::vector<OutputPlan> outputs = {};      ///< sent to the host
  bool outputs_after_backward = false;       ///< for some are gradients; else after forward
  std::vector<VariablePlan> variables = {};  ///< in model order
  std::int64_t parameter_bytes = 0;
  std::int64_t host_parameter_bytes = 0;  ///< kept in the host store; the stage's weight room
  std::int64_t accumulator_bytes = 0;
  std::int64_t host_accumulator_bytes = 0;  ///< kept in the host store
  std::int64_t kept_bytes = 0;              ///< copies of buffers, which change within a window
  std::int64_t stash_bytes = 0;             ///< of one micro-batch
  std::int64_t host_stash_bytes = 0;        ///< of one micro-batch, kept in the host store
  std::int64_t scratch_bytes = 0;           ///< of the larger program
  std::int32_t in_flight = 1;               ///< micro-batches between forward and backward, at most
  std::int32_t stash_slots = 1;  ///< in_flight, and two more where the host reads outputs
};

struct VariableInfo {
  std::string name;
  TensorType type = {};
  bool trainable = true;
  std::int32_t stage = none;
};

struct TensorInfo {
  std::string name;
  TensorType type = {};  ///< of one micro-batch
};

struct Plan {
  std::string name;
  bool training = false;
  std::int64_t batch = 1;
  const Schedule* schedule = nullptr;
  Phases phases = {};                ///< that its stages have their turns in; none: see Phases
  std::int32_t threads_per_ipu = 1;  ///< that share the kernels' work; no bit depends on them
  std::vector<StagePlan> stages = {};
  std::vector<Edge> edges = {};
  std::vector<TensorInfo> inputs = {};    ///< that the plan needs, in the model's order
  std::vector<TensorInfo> outputs = {};   ///< in the model's order; in training the loss is last
  std::optional<std::int32_t> loss = {};  ///< position in outputs, in training
  /// Of each anchor that was asked for: its position in outputs, which the model's own do without.
  std::vector<std::int32_t> anchors = {};
  std::vector<VariableInfo> variables = {};  ///< that the plan needs, in model order
};

/// Bytes of one stage of one replica on its IPU.
struct StageBytes {
  std::int64_t weights = 0;      ///< parameters, buffers and their copies, accumulators
  std::int64_t activations = 0;  ///< stash, and the buffers of the gradients that it sends back
  std::int64_t scratch = 0;
  std::int64_t weight_room = 0;  ///< like scratch shared by the stages of an IPU

  std::int64_t total() const noexcept { return weights + activations + scratch + weight_room; }
};
/// With as many micro-batches in flight as the plan says, or as another schedule would have.
StageBytes bytes_of_stage(const Plan& plan, std::size_t stage, const Schedule* schedule = nullptr);
/// In all.
std::int64_t stage_bytes(const Plan& plan, std::size_t stage);

/// Micro-batches for which a gradient or order edge needs its own buffer: as many as its receiver
/// holds in flight, for only then can the one before last still be unread.
std::int32_t edge_depth(const Plan& plan, const Edge& edge);

}  // namespace penstock::graph
