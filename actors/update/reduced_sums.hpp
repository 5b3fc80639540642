// ReducedSums holds the totals of a stage's gradient sums over all replicas, and says where in a
// total each sum is. Only the sums of parameters that the replicas do not divide are in a total.
// Each replica's IPU adds up a slice of the total, and reads all of the total afterwards. Of a
// divided parameter, each replica adds up its own shard instead.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"

namespace penstock::actors {

/// Describes sums that lie side by side both in a stage's block and in the total.
struct ReducedRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t place = 0;  ///< Is the byte of the total at which the range begins.
};

struct ReducedLayout {
  std::vector<ReducedRange> ranges = {};  ///< Has the ranges in the order of their offsets.
  std::int64_t bytes = 0;                 ///< Is the size of the total in bytes.

  /// Returns the byte at which the total has what is at byte `offset` in the stage's block.
  std::int64_t place_of(std::int64_t offset) const;
};

/// Returns the layout of the sums that a stage has in `space`, which is accumulators or
/// host_accumulators.
ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, graph::Space space);

struct ReducedTotal {
  ReducedLayout layout = {};
  std::shared_ptr<std::byte> total = {};  ///< Is null if the total has no bytes.
};

/// Has the totals of a stage's gradient sums over all replicas. Every update uses their memory
/// again.
struct ReducedSums {
  ReducedTotal on_ipu = {};  ///< Is the total of the sums that the stages have on their IPUs.
  ReducedTotal in_host_store = {};  ///< Is the total of the sums that the host store keeps.
  std::vector<std::shared_ptr<Arena>> replicas = {};  ///< Has the arenas that hold the sums.
};

/// Makes the totals of stage `stage`, with their memory. `replicas` has the arenas of that stage in
/// all replicas. @throws std::bad_alloc
std::shared_ptr<const ReducedSums> make_reduced_sums(const PipelineSetup& setup,
                                                     const UpdateRules& rules, std::size_t stage,
                                                     std::vector<std::shared_ptr<Arena>> replicas);

/// Says which threads share the work of one IPU.
struct SharedWork {
  graph::PartRunner* runner = nullptr;  ///< If it is null, the calling thread works alone.
  std::int32_t threads = 1;             ///< Is the number of threads that the runner has.
};

/// Adds up slice number `slice` of both totals, which have as many equal slices as there are
/// replicas. Each element adds the sums of replica 0, 1, 2 and so on, so that the bits depend
/// neither on the number of slices nor on that of threads. `heartbeat`, if it is not null, beats
/// with each piece. Nobody writes the sums meanwhile.
void add_up_slice(const ReducedSums& sums, std::int64_t slice, const SharedWork& by,
                  graph::Heartbeat* heartbeat);

}  // namespace penstock::actors
