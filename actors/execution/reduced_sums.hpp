// ReducedSums: which of a stage's gradient sums have one total for all replicas, and where in it
// they are: those of tensors that are whole in every replica. Each replica's IPU adds up a share of
// the total, and reads all of it afterwards. Of the other tensors each replica adds up its own
// shard.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"

namespace penstock::actors {

/// Neighbouring sums, in a stage's block of them and in the total.
struct ReducedPart {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t place = 0;  ///< in the total
};

struct ReducedLayout {
  std::vector<ReducedPart> parts = {};  ///< by offset
  std::int64_t bytes = 0;               ///< of the total

  /// Where the total has the sum at `offset` of the stage's block, which is one of these.
  std::int64_t place_of(std::int64_t offset) const;
};

/// Of the sums of a stage on its IPU, or of those in the host store.
ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, bool on_host);

struct ReducedTotal {
  ReducedLayout layout = {};
  std::shared_ptr<std::byte> total = {};  ///< null if there is none
};

/// What the replicas' gradient sums of a stage become, update by update in the same places.
struct ReducedSums {
  ReducedTotal on_ipu = {};   ///< of sums that the stages have on their IPUs
  ReducedTotal on_host = {};  ///< and in the host store
  std::vector<std::shared_ptr<Arena>> replicas = {};  ///< with the sums themselves
};

/// Who shares the work of one IPU.
struct SharedWork {
  graph::PartRunner* runner = nullptr;  ///< null: the calling thread does it alone
  std::int32_t threads = 1;             ///< of the runner
};

/// Adds up share `share`, of as many equal ones as there are replicas, of both totals: element by
/// element the sums of replica 0, 1, 2 and so on, so that the bits depend neither on the number of
/// shares nor on that of threads. `heartbeat`, if any, beats with each piece. Nobody writes the
/// sums meanwhile.
void add_up_share(const ReducedSums& sums, std::int64_t share, const SharedWork& by,
                  graph::Heartbeat* heartbeat);

}  // namespace penstock::actors
