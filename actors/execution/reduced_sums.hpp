// ReducedSums: which of a stage's gradient sums the replicas' reducer adds up for all of them:
// those of tensors that are whole in every replica, and where in its total they are. Of the others
// each replica adds up its own shard.
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

/// What the reducer of a stage makes, update by update in the same places.
struct ReducedSums {
  ReducedTotal on_ipu = {};   ///< of sums that the stages have on their IPUs
  ReducedTotal on_host = {};  ///< and in the host store
  std::vector<std::shared_ptr<Arena>> replicas = {};  ///< with the sums themselves
};

}  // namespace penstock::actors
