#include "engine/fit/announced_steps.hpp"

#include <algorithm>

namespace penstock {
namespace {

/// Returns the number of parts of size `part` into which `whole` is divided. The last part may be
/// smaller.
std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return whole / part + (whole % part != 0 ? 1 : 0);
}

/// Returns in how many steps `full` whole batches, followed by the last batch of an epoch, do
/// `updates` updates; 0 if these batches are not enough.
std::int64_t steps_within(const UpdatesOfData& data, std::int64_t full, std::int64_t updates) {
  const std::int64_t by_full = parts(updates, data.updates_per_batch);
  if (by_full <= full) return by_full;
  // The updates need more than `full` whole batches, so the product is less than `updates` and does
  // not overflow.
  return updates - full * data.updates_per_batch <= data.updates_of_last ? full + 1 : 0;
}

std::int64_t steps_of(const UpdatesOfData& data, std::int64_t updates) {
  if (updates <= 0) return 0;
  if (data.batches <= 0) return parts(updates, data.updates_per_batch);
  const std::int64_t taken = data.taken % data.batches, full = data.batches - 1;
  if (const std::int64_t steps = steps_within(data, full - taken, updates)) return steps;
  // `begun` is the number of steps that are left of the data's present epoch.
  const std::int64_t begun = data.batches - taken;
  updates -= (full - taken) * data.updates_per_batch + data.updates_of_last;
  if (const std::int64_t steps = steps_within(data, full, updates)) return begun + steps;
  const std::int64_t each = full * data.updates_per_batch + data.updates_of_last;
  const std::int64_t epochs = (updates - 1) / each;
  return begun + epochs * data.batches + steps_within(data, full, updates - epochs * each);
}

}  // namespace

std::int64_t announced_steps(const UpdatesOfData& data, std::int64_t updates, std::int64_t most) {
  return std::min(steps_of(data, updates), most);
}

}  // namespace penstock
