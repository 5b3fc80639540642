// These pure functions count the steps that an epoch of a training will have if neither a callback
// nor the host ends it early.
#pragma once

#include <cstdint>

namespace penstock {

/// UpdatesOfData describe data that give `batches` batches in each of their epochs. A batch makes
/// `updates_per_batch` updates, except for the last one of an epoch, which makes `updates_of_last`.
struct UpdatesOfData {
  std::int64_t batches = 0;  ///< An epoch of the data has this many batches; 0 says "unknown".
  std::int64_t updates_per_batch = 1;
  std::int64_t updates_of_last = 1;
  /// This many batches of the data's present epoch were taken already.
  std::int64_t taken = 0;
};

/// Returns the number of steps in which `updates` updates are done, or `most` if that is less. The
/// last step may be cut short. The function's time does not grow with the number of steps.
std::int64_t announced_steps(const UpdatesOfData& data, std::int64_t updates, std::int64_t most);

}  // namespace penstock
