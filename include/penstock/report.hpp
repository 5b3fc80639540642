// Reports say what the compiler decided and what a run did. They are plain data; report_text.hpp
// makes tables of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/call_size.hpp"

namespace penstock {

/// Tensors of a class that a stage keeps in the host store, and what was copied to and from its IPU
/// since its model was attached.
struct OffloadReport {
  std::int64_t bytes = 0;          ///< kept in the host store
  std::uint64_t loads = 0;         ///< copies to the IPU
  std::uint64_t stores = 0;        ///< copies to the host store
  std::int64_t loaded_bytes = 0;   ///< So many bytes were copied to the IPU.
  std::int64_t stored_bytes = 0;   ///< So many bytes were copied to the host store.
  std::int64_t padding_bytes = 0;  ///< there beside `bytes`, for alignment
};

/// What replicas have exchanged in weight updates since their model was attached, seen by one stage
/// of one of them. A tensor that they divide is reduce-scattered and all-gathered, any other
/// all-reduced.
struct CollectiveReport {
  std::uint64_t all_reduces = 0;      ///< of gradients, tensor by tensor
  std::uint64_t reduce_scatters = 0;  ///< of gradients
  std::uint64_t all_gathers = 0;      ///< of weights
  /// Counted as a reduce-scatter, which sends the elements that other replicas would keep, and an
  /// all-gather, which brings them.
  std::int64_t all_reduced_bytes = 0;
  std::int64_t scattered_bytes = 0;  ///< read of other replicas' gradients, for its own shards
  std::int64_t gathered_bytes = 0;   ///< read of other replicas' new weights
};

/// What one stage of one replica has done since its model was attached.
struct StageReport {
  int replica = 0;                    ///< The stage belongs to this replica, counted from 0.
  int stage = 0;                      ///< This is the stage's number, counted from 0.
  int ipu = 0;                        ///< The stage runs on this IPU.
  std::uint64_t forward_runs = 0;     ///< Its forward program has run so often.
  std::uint64_t backward_runs = 0;    ///< Its backward program has run so often.
  std::uint64_t recomputed_runs = 0;  ///< of these, which repeated operations of forward
  int max_in_flight = 0;              ///< micro-batches forwarded but not yet backwarded, at most
  double busy_seconds = 0;            ///< in its programs and weight updates
  std::int64_t sent_bytes = 0;        ///< activations and gradients, to other stages
  std::int64_t peak_bytes = 0;  ///< tensor memory of the stage on its IPU, optimizer state included
  std::int64_t shared_bytes = 0;  ///< of these, what all stages of the IPU share: it is there once
  std::int64_t optimizer_bytes_on_ipu = 0;  ///< of these, optimizer state
  OffloadReport optimizer_state = {};       ///< This is what the host store has of optimizer state.
  OffloadReport accumulators = {};    ///< This is what the host store has of sums of gradients.
  CollectiveReport collectives = {};  ///< This is what the stage has exchanged with other replicas.
  OffloadReport activations = {};     ///< This is what the host store has of activations.
  OffloadReport weights = {};         ///< This is what the host store has of weights.
  /// In phased execution: how often its weights came to the IPU for a turn in that direction.
  std::uint64_t forward_weight_loads = 0;
  std::uint64_t backward_weight_loads = 0;  ///< The same for turns of backward.
  std::int64_t padding_bytes = 0;  ///< on the IPU beside the peak: alignment of optimizer state
  /// Of the totals of the replicas' gradient sums, which are on no IPU: there once for the stages
  /// of this number in all replicas.
  std::int64_t reducer_bytes = 0;
};

/// Says how long one phase of compiling took.
struct CompilePhase {
  std::string name;    ///< This is the phase's name, as `CompileProgress::phase` has it.
  double seconds = 0;  ///< The phase took so long.
};

/// Says what the compiler has made of one stage.
struct StagePlanReport {
  int stage = 0;                         ///< This is the stage's number, counted from 0.
  int ipu = 0;                           ///< of replica 0
  std::vector<std::string> blocks = {};  ///< that it has layers of
  int phase = -1;                        ///< that it is in, if execution is phased
  int forward_phase = -1;                ///< number of that phase's forward, see docs/phases.md
  int backward_phase = -1;               ///< and of its backward
  std::string first_layer = {};          ///< This is the name of its first layer.
  std::int64_t parameters = 0;           ///< elements
  double forward_flops = 0;              ///< per micro-batch
  double backward_flops = 0;    ///< This is the work of its backward program per micro-batch.
  double recomputed_flops = 0;  ///< forward's, a second time: part of backward's
  double share = 0;  ///< of the work of all stages: of their measured times, else as estimated
  double forward_seconds = 0;    ///< per micro-batch, measured on one core; 0: not measured
  double backward_seconds = 0;   ///< The same of its backward program.
  int in_flight_limit = 0;       ///< The stage holds so many micro-batches at most.
  std::int64_t stash_bytes = 0;  ///< kept of each micro-batch in flight, on the IPU
  std::int64_t bytes = 0;        ///< weights, accumulators, stash and scratch
};

/// What travels with each micro-batch: an input, an activation or a gradient.
struct EdgePlanReport {
  int from = -1;            ///< stage; -1: the host
  int to = 0;               ///< stage
  std::string tensor = {};  ///< This is the tensor's name.
  bool gradient = false;    ///< This says whether it is a gradient, which goes backward.
  std::int64_t bytes = 0;   ///< per micro-batch
};

enum class OutputKind : std::uint8_t { output, loss, anchor };

/// What calls return under a name, see StepResult.
struct OutputPlanReport {
  OutputKind kind = OutputKind::output;  ///< This says where StepResult has it.
  std::string name = {};                 ///< This is its name in StepResult; a loss has none.
  std::int64_t bytes = 0;                ///< that a full call returns of it
};

/// Says what the compiler has made of a model, and how long it took.
struct CompileReport {
  double seconds = 0;                     ///< Compiling took so long.
  std::vector<CompilePhase> phases = {};  ///< These are the phases of compiling, in their order.
  bool from_cache = false;  ///< the plan was read, not made: `RuntimeOptions::cache_directory`
  CallSize call = {};       ///< what a full one takes and does
  std::vector<StagePlanReport> stages = {};    ///< These are the stages, in their order.
  std::vector<EdgePlanReport> edges = {};      ///< These tensors travel between stages.
  std::vector<OutputPlanReport> outputs = {};  ///< the loss, the outputs, the anchors: StepResult
  /// Operations of the forward pass that only move a tensor between layouts.
  int layout_conversions = 0;
  /// Lanes of the batch-lane layout that a micro-batch takes, and how many of them are padding; 0
  /// if no layer uses that layout.
  std::int64_t lanes = 0;
  std::int64_t wasted_lanes = 0;    ///< So many of the lanes are padding.
  double expected_utilization = 0;  ///< of the IPUs, from the schedule and the stages' costs
  /// Micro-batches that the first stage begins until the pipeline is full, by the schedule and the
  /// stages' costs: until each stage has had its first work or, in training, the first gradient is
  /// back. A window, or a call of inference, of fewer never fills it.
  int ramp = 0;
  int threads = 0;                ///< that the IPUs share; 0: one each
  int threads_per_ipu = 1;        ///< that share the work of each of its kernels
  double expected_speedup = 1;    ///< over one stage, on these threads
  bool automatic_stages = false;  ///< cut by the compiler
  /// These are things that the compiler advises against, a line each.
  std::vector<std::string> warnings = {};

  /// Of all that a full call returns: so much memory of the host it takes.
  std::int64_t output_bytes() const noexcept {
    std::int64_t bytes = 0;
    for (const OutputPlanReport& output : outputs) bytes += output.bytes;
    return bytes;
  }
};

}  // namespace penstock
