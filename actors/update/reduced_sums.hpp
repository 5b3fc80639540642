// ReducedSums hold the totals of a stage's gradient sums over all replicas, and say where in a
// total each sum is. Only the sums of parameters that the replicas do not divide are in a total.
// Each replica's IPU adds up a slice of the total, and reads all of the total afterwards. If a
// parameter is divided, each replica adds up its own shard of the sum instead.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"

namespace penstock::actors {

/// A ReducedRange describes sums that lie side by side both in a stage's block and in the total.
struct ReducedRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t place = 0;  ///< The range begins at this byte of the total.
};

struct ReducedLayout {
  std::vector<ReducedRange> ranges = {};  ///< The ranges are in the order of their offsets.
  std::int64_t bytes = 0;                 ///< The total has this many bytes.

  /// Returns the byte of the total that belongs to the byte `offset` of the stage's block.
  std::int64_t place_of(std::int64_t offset) const;
};

/// Returns the layout of the sums that stage number `stage` has in `space`, which is
/// Space::accumulators or Space::host_accumulators.
ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, graph::Space space);

struct ReducedTotal {
  ReducedLayout layout = {};
  std::shared_ptr<std::byte> total = {};  ///< This is null if the total has no bytes.
};

/// ReducedSums are the totals of a stage's gradient sums over all replicas. Every update uses the
/// same memory.
struct ReducedSums {
  ReducedTotal on_ipu = {};         ///< This is the total of the sums that are on the IPUs.
  ReducedTotal in_host_store = {};  ///< This is the total of the sums that the host store keeps.
  std::vector<std::shared_ptr<Arena>> replicas = {};  ///< These arenas have the sums.
};

/// Makes the totals of stage number `stage`, with their memory. `replicas` has the arenas of that
/// stage in all replicas. @throws std::bad_alloc
std::shared_ptr<const ReducedSums> make_reduced_sums(const PipelineSetup& setup,
                                                     const UpdateRules& rules, std::size_t stage,
                                                     std::vector<std::shared_ptr<Arena>> replicas);

/// A SharedWork says which threads share the work of one IPU.
struct SharedWork {
  graph::PartRunner* runner = nullptr;  ///< If this is null, the calling thread works alone.
  std::int32_t threads = 1;             ///< The runner has this many threads.
};

/// Adds up slice number `slice` of both totals, which have as many equal slices as there are
/// replicas. For each element, the sums of replica 0, 1, 2 and so on are added in this order, so
/// that the bits depend neither on the number of slices nor on the number of threads. Unless
/// `heartbeat` is null, it beats with each piece. Nobody writes the sums meanwhile.
void add_up_slice(const ReducedSums& sums, std::int64_t slice, const SharedWork& by,
                  graph::Heartbeat* heartbeat);

}  // namespace penstock::actors
