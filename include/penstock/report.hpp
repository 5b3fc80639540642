// Reports say what the compiler has decided and what a model has done. They are plain data;
// report_text.hpp makes tables of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/call_size.hpp"

namespace penstock {

/// An OffloadReport says which tensors of one class a stage keeps in the host store, and what was
/// copied between the host store and the stage's IPU since the model was attached. Replicas keep
/// the optimizer's state there together, so that each reports its part.
struct OffloadReport {
  std::int64_t bytes = 0;         ///< The host store keeps this many bytes.
  std::uint64_t loads = 0;        ///< Tensors were copied to the IPU this many times.
  std::uint64_t stores = 0;       ///< Tensors were copied to the host store this many times.
  std::int64_t loaded_bytes = 0;  ///< This many bytes were copied to the IPU.
  std::int64_t stored_bytes = 0;  ///< This many bytes were copied to the host store.
  /// The host store has this many further bytes, which align the tensors.
  std::int64_t padding_bytes = 0;
};

/// A CollectiveReport says what one stage of one replica has exchanged with other replicas in
/// weight updates since the model was attached. A tensor that replicas divide is reduce-scattered
/// and all-gathered, and any other tensor is all-reduced.
struct CollectiveReport {
  /// Gradients were all-reduced this many times, counted tensor by tensor.
  std::uint64_t all_reduces = 0;
  std::uint64_t reduce_scatters = 0;  ///< Gradients were reduce-scattered this many times.
  std::uint64_t all_gathers = 0;      ///< Weights were all-gathered this many times.
  /// All-reductions have moved this many bytes. Each counts as a reduce-scatter, which sends the
  /// elements that other replicas would keep, and an all-gather, which brings them back.
  std::int64_t all_reduced_bytes = 0;
  /// This many bytes of other replicas' gradients were read for the stage's own shards.
  std::int64_t scattered_bytes = 0;
  /// The stage has got this many bytes of new weights from other replicas. Replicas of one process
  /// share the memory of weights, so that nothing is copied.
  std::int64_t gathered_bytes = 0;
};

/// A StageReport says what one stage of one replica has done since the model was attached, or since
/// a call has gone on after a failure, for which other actors begin to count.
struct StageReport {
  int replica = 0;                  ///< `replica` is the number of the replica, counted from 0.
  int stage = 0;                    ///< `stage` is the number of the stage, counted from 0.
  int ipu = 0;                      ///< The stage runs on this IPU.
  std::uint64_t forward_runs = 0;   ///< The forward program has run this many times.
  std::uint64_t backward_runs = 0;  ///< The backward program has run this many times.
  /// This many of the backward runs have repeated operations of the forward.
  std::uint64_t recomputed_runs = 0;
  /// At most this many micro-batches were in flight at a time: each from the beginning of its
  /// forward to the end of its backward.
  int max_in_flight = 0;
  /// The stage has spent this many seconds in its programs and weight updates.
  double busy_seconds = 0;
  /// This many bytes of activations and gradients were sent to other stages.
  std::int64_t sent_bytes = 0;
  /// Tensors of the stage, the optimizer's state included, take at most this many bytes of the
  /// IPU's memory.
  std::int64_t peak_bytes = 0;
  /// This part of `peak_bytes` is shared by all stages of the IPU, and exists once.
  std::int64_t shared_bytes = 0;
  std::int64_t optimizer_bytes_on_ipu = 0;  ///< This part of `peak_bytes` is the optimizer's state.
  /// `optimizer_state` describes the state of the optimizer in the host store.
  OffloadReport optimizer_state = {};
  /// `accumulators` describes the sums of gradients in the host store.
  OffloadReport accumulators = {};
  /// `collectives` says what the stage has exchanged with other replicas.
  CollectiveReport collectives = {};
  OffloadReport activations = {};  ///< `activations` describes the activations in the host store.
  /// `weights` describes the weights in the host store, which the replicas share.
  OffloadReport weights = {};
  /// In phased execution, the weights came to the IPU this many times for a turn of forward.
  std::uint64_t forward_weight_loads = 0;
  /// In phased execution, the weights came to the IPU this many times for a turn of backward.
  std::uint64_t backward_weight_loads = 0;
  /// The IPU has this many bytes in addition to `peak_bytes`, which align the optimizer's state.
  std::int64_t padding_bytes = 0;
  /// This many bytes of `peak_bytes` exist once for the stages of this number in all replicas,
  /// which share them: the parameters, what inference computes of them once for all micro-batches,
  /// and the optimizer's state that the replicas do not divide.
  /// The number is 0 if there is one replica.
  std::int64_t bytes_shared_by_replicas = 0;
};

/// A CompileStep says how long one step of compiling took.
struct CompileStep {
  std::string name;    ///< `name` is the name of the step, as in CompileProgress::step.
  double seconds = 0;  ///< The step took this many seconds.
};

/// A StagePlanReport says what the compiler has made of one stage.
struct StagePlanReport {
  int stage = 0;  ///< `stage` is the number of the stage, counted from 0.
  int ipu = 0;    ///< Replica 0 has the stage on this IPU.
  /// `blocks` has the names of the blocks whose layers the stage has.
  std::vector<std::string> blocks = {};
  /// `phase` is the phase that the stage is in, or -1 if execution is not phased.
  int phase = -1;
  /// `forward_phase` is the number of the forward of that phase (docs/phases.md), or -1.
  int forward_phase = -1;
  /// `backward_phase` is the number of the backward of that phase, or -1.
  int backward_phase = -1;
  std::string first_layer = {};  ///< `first_layer` is the name of the first layer of the stage.
  std::int64_t parameters = 0;   ///< The parameters of the stage have this many elements.
  /// The forward program does this many floating-point operations per micro-batch.
  double forward_flops = 0;
  /// The backward program does this many floating-point operations per micro-batch.
  double backward_flops = 0;
  /// This part of `backward_flops` computes results of the forward a second time.
  double recomputed_flops = 0;
  /// `share` is the stage's share of the work of all stages, by measured times if there are any,
  /// and as estimated otherwise.
  double share = 0;
  /// The forward of a micro-batch took this many seconds on one core; 0 if it was not measured.
  double forward_seconds = 0;
  /// The backward of a micro-batch took this many seconds on one core; 0 if it was not measured.
  double backward_seconds = 0;
  int in_flight_limit = 0;  ///< The stage holds at most this many micro-batches.
  /// The stage keeps this many bytes of each micro-batch in flight on its IPU.
  std::int64_t stash_bytes = 0;
  /// Weights, accumulators, stash, outputs and scratch take this many bytes.
  std::int64_t bytes = 0;
};

/// An EdgePlanReport describes a tensor that travels with each micro-batch: an input, an activation
/// or a gradient.
struct EdgePlanReport {
  int from = -1;            ///< `from` is the stage that sends the tensor, or -1 for the host.
  int to = 0;               ///< `to` is the stage that receives the tensor.
  std::string tensor = {};  ///< `tensor` is the name of the tensor.
  /// `gradient` says whether the tensor is a gradient, which travels backward.
  bool gradient = false;
  std::int64_t bytes = 0;  ///< The tensor has this many bytes for a micro-batch.
};

/// An OutputKind says which part of StepResult a returned tensor is in.
enum class OutputKind : std::uint8_t { output, loss, anchor };

/// An OutputPlanReport describes a tensor that calls return; see StepResult.
struct OutputPlanReport {
  OutputKind kind = OutputKind::output;  ///< `kind` says which part of StepResult the tensor is in.
  /// `name` is the name of the tensor in StepResult. It is empty for a loss.
  std::string name = {};
  std::int64_t bytes = 0;  ///< A full call returns this many bytes of the tensor.
};

/// A CompileReport says what the compiler has made of a model, and how long that took.
struct CompileReport {
  double seconds = 0;                   ///< Compiling took this many seconds.
  std::vector<CompileStep> steps = {};  ///< `steps` has the steps of compiling in their order.
  /// `from_cache` says whether the plan was read from `RuntimeOptions::cache_directory` instead of
  /// made.
  bool from_cache = false;
  CallSize call = {};                        ///< `call` says how much a full call takes and does.
  std::vector<StagePlanReport> stages = {};  ///< `stages` has the stages in their order.
  /// `edges` has the tensors that travel from the host to stages and between stages.
  std::vector<EdgePlanReport> edges = {};
  /// `outputs` has the loss, the outputs and the anchors that calls return.
  std::vector<OutputPlanReport> outputs = {};
  /// This many operations of the forward only move a tensor from one layout to another.
  int layout_conversions = 0;
  /// A micro-batch takes this many lanes of the batch-lane layout; 0 if no layer uses that layout.
  std::int64_t lanes = 0;
  std::int64_t wasted_lanes = 0;  ///< This many of the lanes are padding.
  /// `expected_utilization` is the share of time that IPUs are expected to work, from the schedule
  /// and the costs of the stages.
  double expected_utilization = 0;
  /// The first stage begins this many micro-batches until the pipeline is full, which means until
  /// each stage has had its first work or, in training, until the first gradient is back. A window,
  /// or a call of inference, with fewer micro-batches never fills the pipeline. The number follows
  /// from the schedule and the costs of the stages.
  int ramp = 0;
  /// The IPUs share this many threads; 0 if each has a thread of its own.
  int threads = 0;
  int threads_per_ipu = 1;  ///< This many threads share the work of each kernel of an IPU.
  /// The plan is expected to be this many times as fast as one stage on the same threads.
  double expected_speedup = 1;
  /// `automatic_stages` says whether the compiler has cut the stages.
  bool automatic_stages = false;
  /// `warnings` has a line for each thing that the compiler advises against.
  std::vector<std::string> warnings = {};

  /// Returns how many bytes of the host's memory the results of a full call take.
  std::int64_t output_bytes() const noexcept {
    std::int64_t bytes = 0;
    for (const OutputPlanReport& output : outputs) bytes += output.bytes;
    return bytes;
  }
};

}  // namespace penstock
