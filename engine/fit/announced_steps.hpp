// These functions count the steps that an epoch of a training will have if nobody ends it before.
// They are pure.
#pragma once

#include <cstdint>

namespace penstock {

/// Describes data that give `batches` batches again and again. Each batch makes `updates_per_batch`
/// updates, except for the last one, which makes `updates_of_last`.
struct UpdatesOfData {
  std::int64_t batches = 0;  ///< Is 0 if nobody knows.
  std::int64_t updates_per_batch = 1;
  std::int64_t updates_of_last = 1;
  std::int64_t taken = 0;  ///< Counts the batches of the data's epoch that were taken already.
};

/// Returns how many steps it takes to do `updates` updates, or `most` if that is less. The last
/// step may be cut short. The function takes no longer for more steps.
std::int64_t announced_steps(const UpdatesOfData& data, std::int64_t updates, std::int64_t most);

}  // namespace penstock
