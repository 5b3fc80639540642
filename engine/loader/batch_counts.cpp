#include "engine/loader/batch_counts.hpp"

#include "graph/values/text.hpp"

namespace penstock {

void BatchCounts::set(const EpochSize& size) noexcept {
  batches = size.batches;
  dropped = size.dropped;
  short_rows = size.short_rows;
}

void BatchCounts::set(const SampledEpoch& epoch) noexcept {
  rows = epoch.rows;
  batches = epoch.plan->batches();
  dropped = epoch.dropped;
  short_rows = epoch.short_rows;
}

std::string BatchCounts::note(const std::string& reason) const {
  if (const std::int64_t samples = dropped; samples > 0)
    return "data loader: " + count_text(samples, "sample") + " of each epoch left out, since " +
           reason;
  if (const std::int64_t samples = short_rows; samples > 0)
    return "data loader: the last batch has " + count_text(samples, "sample") + " instead of " +
           std::to_string(rows);
  return {};
}

}  // namespace penstock
