// A PipelineSetup is what every actor of a running model may read. It does not change while the
// actors live.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/execution/host_trace.hpp"
#include "actors/host/update_count.hpp"
#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "penstock/options.hpp"

namespace penstock::actors {

/// Holds the host's optimizer in the form that the actors use. It is replaced as a whole between
/// steps.
struct UpdateRules {
  /// Has the rules in the order of Plan::variables.
  std::vector<graph::ParameterRule> variables = {};
  /// Is the norm to which gradients are clipped. 0 means that they are not clipped.
  double max_grad_norm = 0;
  /// Says whether clipping follows PopTorch; see graph/plan/optimizers/norm.hpp.
  bool exact_max_grad_norm = false;
  /// Is the factor by which the gradients that the programs compute are larger than those of the
  /// loss.
  double loss_scaling = 1;
  /// Returns the factor of the learning rates after the given number of updates. If the function is
  /// null, the factor is 1.
  std::function<double(std::int64_t)> learning_rate_factor = {};
};

/// Is what every program reads besides its inputs. The host writes it between calls.
struct RunConstants {
  /// Is what is added to the number of windows before a micro-batch, to have the number of the
  /// update that the micro-batch belongs to.
  std::int64_t first_update = 0;
  float loss_scale = 1;  ///< Is the gradient of the loss with respect to itself.
};

/// Says for which micro-batches an output is returned.
struct OutputSelection {
  OutputMode mode = OutputMode::all;  ///< Is not `automatic`.
  std::int64_t period = 1;
};

struct PipelineSetup {
  std::shared_ptr<const graph::Plan> plan;
  std::int64_t replicas = 1;
  /// Is the number of consecutive replicas that get the same rows.
  std::int64_t input_group = 1;
  std::int64_t gradient_accumulation = 1;  ///< Is 1 in inference.
  Reduction reduction = Reduction::mean;
  /// Is the strategy for which the plan was compiled.
  ReductionStrategy reduction_strategy = ReductionStrategy::post;
  OffloadOptions offload = {};
  ShardingOptions sharding = {};
  std::uint64_t seed = 0;
  OutputSelection outputs = {};               ///< Applies to the model's outputs and the loss.
  std::vector<OutputSelection> anchors = {};  ///< Has the selections in the order of Plan::anchors.
  bool trace = false;                         ///< Says whether the stages record events.
  /// Says whether what the actors without an IPU do, and how long instructions take, is recorded
  /// for a profile.
  bool profile = false;
  /// Is the largest number of events that all stages together keep.
  std::int64_t trace_events = 1 << 20;
  /// Holds the events of the actors that have no IPU. completed() makes it if `profile` is set,
  /// else it is null.
  std::shared_ptr<HostTrace> host_trace = {};
  double stall_seconds = 60;
  /// Counts the updates that all stages have done, on from the number that it had before. The
  /// host's threads may read it during a call. If it is null, completed() makes a counter of its
  /// own.
  std::shared_ptr<std::atomic<std::uint64_t>> updates = {};
  /// Is what the actors count updates with; it counts in `updates`. completed() makes it.
  std::shared_ptr<UpdateCount> update_count = {};
  /// Has the constants, which completed() makes.
  std::shared_ptr<RunConstants> constants = {};

  std::size_t stages() const { return plan->stages.size(); }
  /// Returns how many micro-batches of one replica may be under way at a time, from the feed to the
  /// end of their last backward turn. Their numbers are consecutive, so that a ring of this length
  /// has a place for each.
  std::int64_t live_micro_batches() const { return plan->stages.front().in_flight + 2; }
  std::int32_t ipu(std::int64_t replica, std::size_t stage) const {
    return static_cast<std::int32_t>(graph::ReplicaIpus(*plan, replicas).of(replica, stage));
  }
};

/// Returns `setup` with its update count, its host trace if `profile` is set, and the constants
/// that `rules` begin with.
std::shared_ptr<const PipelineSetup> completed(PipelineSetup setup, const UpdateRules& rules);

/// Returns the number by which a gradient sum is divided to make the gradient that
/// `setup.reduction` asks for.
double gradient_parts(const PipelineSetup& setup);

/// Returns how many events each stage of each replica keeps, which is an equal share and at
/// least 1.
std::int64_t events_of_stage(const PipelineSetup& setup);

/// Returns whether the replicas divide among themselves the state that `rule` keeps of a parameter
/// of `elements` elements.
bool divided(const PipelineSetup& setup, const graph::ParameterRule& rule, std::int64_t elements);

/// Returns the constants of a model that begins with update 0.
inline RunConstants constants_of(const UpdateRules& rules) {
  return {.first_update = 0, .loss_scale = static_cast<float>(rules.loss_scaling)};
}

/// Returns the name of a stage in messages, such as "stage 2 (replica 0, IPU 2)".
std::string stage_name(const PipelineSetup& setup, std::int64_t replica, std::size_t stage);

}  // namespace penstock::actors
