// These functions count the steps that an epoch of a training will have if nobody ends it before.
// They are pure.
#pragma once

#include <cstdint>

namespace penstock {

/// Data that give `batches` batches again and again: all of them take `updates_per_batch` updates,
/// but for each last one, which takes `updates_of_last`.
struct UpdatesOfData {
  std::int64_t batches = 0;  ///< Is 0 if nobody knows.
  std::int64_t updates_per_batch = 1;
  std::int64_t updates_of_last = 1;
  std::int64_t taken = 0;  ///< Counts the batches that were taken of the data's epoch already.
};

/// Returns how many steps it takes until `updates` updates are done, the last of which may be cut
/// short, or `most` if that is less. It takes no longer for more steps.
std::int64_t announced_steps(const UpdatesOfData& data, std::int64_t updates, std::int64_t most);

}  // namespace penstock
