// A GradientSums holds the gradient sums that the weight update of one stage works on. It adds up
// the sums of all replicas, and those of all uses of a tied parameter, and measures norms. Nothing
// makes sums zero again, because the first micro-batch of a window overwrites them. Sums that the
// host store keeps come to the IPU in pieces. A WeightUpdate owns the GradientSums, and the IPU's
// thread calls its functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/update/reduced_sums.hpp"
#include "actors/update/staging_buffer.hpp"
#include "graph/plan/optimizers/norm.hpp"

namespace penstock::actors {

/// StageSums are the gradient sums of one stage.
struct StageSums {
  std::shared_ptr<Arena> arena = {};                ///< This has the sums of this replica.
  std::shared_ptr<const ReducedSums> reduced = {};  ///< This is null if there is only one replica.
};

/// Returns how many elements `part` has.
constexpr std::int64_t size(const graph::Part& part) {
  return part.end - part.begin;
}

/// A SharedParameter describes a parameter, and says which of its elements one replica updates.
struct SharedParameter {
  std::int32_t variable = 0;  ///< This is the parameter's position in Plan::variables.
  const graph::VariablePlan* plan = nullptr;
  /// If this is true, the options for sharding divide the parameter's state among the replicas.
  bool sharded = false;
  /// This replica updates these elements, and keeps the state of these elements. They may be none.
  /// Replicas also divide many of the parameters that are not sharded.
  graph::Part share = {};
  std::int64_t elements() const { return plan->type.shape.elements(); }
  bool weight_on_host() const { return graph::in_host_store(plan->home.space); }
  bool sums_on_host() const { return graph::in_host_store(plan->gradients[0].home.space); }
};

class GradientSums {
 public:
  /// Makes the sums of the stage whose memory is `arena`. No more than `most_addends` sums are
  /// added up at a time.
  GradientSums(std::shared_ptr<Arena> arena, std::size_t most_addends) : arena_(std::move(arena)) {
    addends_.reserve(most_addends);
  }

  void set(std::int32_t stage, StageSums sums) { of_stage_[stage] = std::move(sums); }
  Arena& arena_of(std::int32_t stage) const { return *of_stage_.at(stage).arena; }
  /// Returns the arenas of this stage in all replicas, in the order of the replicas' numbers. The
  /// function is called only if there are several replicas.
  std::span<const std::shared_ptr<Arena>> replicas() const {
    return of_stage_.at(static_cast<std::int32_t>(arena_->number())).reduced->replicas;
  }
  // The functions from reduce_scatter() to norm_part() allocate nothing, because an update calls
  // them.

  /// Adds up the sums of all replicas, in the order of the replicas' numbers, for this replica's
  /// share of a sharded parameter. The result is in this replica's own sums. No replica may change
  /// other elements of its sums before all replicas have called this function.
  void reduce_scatter(const SharedParameter& parameter, const StagingBuffer& staging,
                      CollectiveReport& counts);
  /// Adds up the slice of replica `replica` of the stage's totals, which take the place of the
  /// first replica's sums. Only parameters that are not sharded have totals. No replica may read
  /// the totals or change its own sums before all replicas have called this function.
  void add_up_slice(std::int64_t replica, const SharedWork& by, const StagingBuffer& staging) const;
  /// Adds up the sums of all uses of a tied parameter, use 0 + use 1 + ..., for the elements that
  /// this replica updates, into its own sum of use 0. Does nothing if there is only one use.
  void add_uses(const SharedParameter& parameter, const StagingBuffer& staging);
  /// Returns the address of element 0 of the gradient sum that the update reads, after add_uses().
  const float* to_read(const SharedParameter& parameter) const;
  double squared_norm(const SharedParameter& parameter, float scale,
                      const StagingBuffer& staging) const;
  /// Sets `part` to the contribution of this replica's share to the norm of a sharded parameter's
  /// gradient.
  void norm_part(const SharedParameter& parameter, float scale, const StagingBuffer& staging,
                 graph::NormPart& part) const;

 private:
  /// Adds up two or more sums, for the elements of this replica's share, into the replica's own sum
  /// of use number `use`.
  void add_up(std::span<const float* const> sums, const SharedParameter& parameter, std::size_t use,
              const StagingBuffer& staging);
  static void add_on_ipu(std::span<const float* const> sums, std::span<float> result,
                         const StagingBuffer& staging);
  void add_in_pieces(std::span<const float* const> sums, std::span<float> result,
                     std::int64_t at_once, const StagingBuffer& staging);
  /// Returns how many elements of each of two sums fit into scratch at the same time.
  static std::int64_t pair_at_once(const SharedParameter& parameter, const StagingBuffer& staging);
  /// Returns where the update reads the gradient sum of use number `use` of the parameter.
  const float* sum_of(const SharedParameter& parameter, std::size_t use) const;
  /// Returns this replica's own sum of use number `use`.
  std::span<float> own_sum_of(const SharedParameter& parameter, std::size_t use) const;
  static std::span<float> sum_in(Arena& arena, const SharedParameter& parameter, std::size_t use);

  std::shared_ptr<Arena> arena_;
  std::map<std::int32_t, StageSums> of_stage_;
  std::vector<const float*> addends_;  // These point to the sums that are added up.
};

}  // namespace penstock::actors
