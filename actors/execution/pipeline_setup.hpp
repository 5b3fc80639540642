// A PipelineSetup is what every actor of a running model may read. It does not change while the
// actors live.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/division.hpp"
#include "actors/execution/host_trace.hpp"
#include "actors/execution/run_constants.hpp"
#include "actors/execution/update_rules.hpp"
#include "actors/host/update_count.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "penstock/options.hpp"

namespace penstock::actors {

/// An OutputSelection says for which micro-batches an output is returned.
struct OutputSelection {
  OutputMode mode = OutputMode::all;  ///< This is not `automatic`.
  std::int64_t period = 1;
};

struct PipelineSetup {
  std::shared_ptr<const graph::Plan> plan;
  std::int64_t replicas = 1;
  /// This many consecutive replicas get the same rows.
  std::int64_t input_group = 1;
  std::int64_t gradient_accumulation = 1;  ///< This is 1 in inference.
  Reduction reduction = Reduction::mean;
  /// The plan was compiled for this strategy.
  ReductionStrategy reduction_strategy = ReductionStrategy::post;
  OffloadOptions offload = {};
  ShardingOptions sharding = {};
  std::uint64_t seed = 0;
  Division division = {};                     ///< This says which processes have the stages.
  std::int32_t process = host_process;        ///< The actors are in the process with this number.
  OutputSelection outputs = {};               ///< This is for the model's outputs and the loss.
  std::vector<OutputSelection> anchors = {};  ///< The selections are in the order of Plan::anchors.
  bool trace = false;                         ///< If this is true, the stages record events.
  /// If this is true, the pipeline records for a profile what the actors without an IPU do, and how
  /// long instructions take.
  bool profile = false;
  /// All stages together keep at most this many events.
  std::int64_t trace_events = 1 << 20;
  /// This holds the events of the actors that have no IPU. completed() makes it if `profile` is
  /// true; otherwise it is null.
  std::shared_ptr<HostTrace> host_trace = {};
  double stall_seconds = 60;
  /// This counts the updates that all stages of all replicas have done, on from the number that it
  /// has at first. If this is not the host's process, it counts those of the stages that are here.
  /// The host's threads may read it during a call. If it is null, `update_count` counts in a number
  /// of its own.
  std::shared_ptr<std::atomic<std::uint64_t>> updates = {};
  /// The actors count updates with this, in `updates`. completed() makes it.
  std::shared_ptr<UpdateCount> update_count = {};
  /// These are the constants, which completed() makes.
  std::shared_ptr<CurrentConstants> constants = {};

  std::size_t stages() const { return plan->stages.size(); }
  /// Returns whether there is a stage number `stage` of a replica number `replica`.
  bool has_stage(std::int32_t replica, std::int32_t stage) const {
    return replica >= 0 && replica < replicas && stage >= 0 &&
           static_cast<std::size_t>(stage) < stages();
  }
  /// Returns whether stage number `stage` is in the process of the actors.
  bool is_here(std::size_t stage) const noexcept { return division.process_of(stage) == process; }
  /// Returns whether the actors are in the process of the host.
  bool is_host() const noexcept { return process == host_process; }
  /// Returns how many micro-batches of one replica may be under way at a time, from the feed to the
  /// end of their last backward turn. Their numbers are consecutive, so that a ring of this length
  /// has a slot for each of them.
  std::int64_t live_micro_batches() const { return plan->stages.front().in_flight + 2; }
  std::int32_t ipu(std::int64_t replica, std::size_t stage) const {
    return static_cast<std::int32_t>(graph::ReplicaIpus(*plan, replicas).of(replica, stage));
  }
};

/// Returns `setup` with its update count, its host trace if PipelineSetup::profile is true, and its
/// constants, which are those of `rules`.
std::shared_ptr<const PipelineSetup> completed(PipelineSetup setup, const UpdateRules& rules);

/// Returns the number by which a gradient sum is divided to make the gradient that
/// `setup.reduction` asks for.
double gradient_parts(const PipelineSetup& setup);

/// Returns how many events each stage of each replica keeps: an equal share of
/// PipelineSetup::trace_events, but at least 1.
std::int64_t events_of_stage(const PipelineSetup& setup);

/// Returns whether the options for sharding divide the state that `rule` keeps for a parameter with
/// `elements` elements among the replicas.
bool is_sharded(const PipelineSetup& setup, const graph::ParameterRule& rule,
                std::int64_t elements);

/// Returns the constants of a model that begins with update 0.
inline RunConstants constants_of(const UpdateRules& rules) {
  return {.first_update = 0, .loss_scale = static_cast<float>(rules.loss_scaling)};
}

/// Returns the name that texts give a stage, such as "stage 2 (replica 0, IPU 2)".
std::string stage_name(const PipelineSetup& setup, std::int64_t replica, std::size_t stage);

}  // namespace penstock::actors
