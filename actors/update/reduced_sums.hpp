// ReducedSums say which gradient sums of a stage have a total over all replicas, and where it is:
// in the place of the first replica's sums. Only the sums of parameters that are not sharded have a
// total. Each replica's IPU adds up a slice of all totals. If a parameter is sharded, each replica
// adds up its own share of the sum instead.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"

namespace penstock::actors {

/// A ReducedRange describes neighbouring sums of a stage's block that have totals.
struct ReducedRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t place = 0;  ///< The ranges before this one have this many bytes together.
};

struct ReducedLayout {
  std::vector<ReducedRange> ranges = {};  ///< The ranges are in the order of their offsets.
  std::int64_t bytes = 0;                 ///< The ranges have this many bytes together.
};

/// Returns the layout of the sums that stage number `stage` has in `space`, which is
/// Space::accumulators or Space::host_accumulators.
ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, graph::Space space);

/// ReducedSums are the gradient sums of one stage in all replicas. Once the slices of all replicas
/// are added up, those of the first replica are the totals.
struct ReducedSums {
  ReducedLayout on_ipu = {};                          ///< These sums are on the IPUs.
  ReducedLayout in_host_store = {};                   ///< These sums are in the host store.
  std::vector<std::shared_ptr<Arena>> replicas = {};  ///< These arenas have the sums.
};

/// Returns the sums of stage number `stage`. `replicas` has the arenas of that stage in all
/// replicas.
std::shared_ptr<const ReducedSums> make_reduced_sums(const PipelineSetup& setup,
                                                     const UpdateRules& rules, std::size_t stage,
                                                     std::vector<std::shared_ptr<Arena>> replicas);

/// A SharedWork says which threads share the work of one IPU.
struct SharedWork {
  graph::PartRunner* runner = nullptr;  ///< If this is null, the calling thread works alone.
  std::int32_t threads = 1;             ///< The runner has this many threads.
};

/// Adds up slice number `slice` of all totals, which have as many equal slices as there are
/// replicas. For each element, the sums of replica 0, 1, 2 and so on are added in this order, so
/// that the bits depend neither on the number of slices nor on the number of threads. Unless
/// `heartbeat` is null, it beats with each piece. Nobody else reads or writes the sums of this
/// slice meanwhile.
void add_up_slice(const ReducedSums& sums, std::int64_t slice, const SharedWork& by,
                  graph::Heartbeat* heartbeat);

}  // namespace penstock::actors
