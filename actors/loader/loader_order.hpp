// In which order an epoch visits the samples, and how a batch's rows are shared out. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::actors {

/// Every sample once: 0, 1, 2, ..., or shuffled by the seed and the epoch's number alone.
std::vector<std::int64_t> epoch_order(std::int64_t samples, bool shuffle, std::uint64_t seed,
                                      std::uint64_t epoch);

/// One of `count` parts of an epoch that have no sample in common, each `samples` long: consecutive
/// ones of the order. Samples that are in no part are neighbours, and the next ones in the next
/// epoch, so that each has its turn.
struct OrderPart {
  int index = 0;
  int count = 1;
  std::int64_t samples = 0;
};
std::vector<std::int64_t> part_of_order(const std::vector<std::int64_t>& order,
                                        const OrderPart& part, std::uint64_t epoch);

/// What an epoch visits: batch b has samples order[ends[b-1]] (the first one: order[0]) up to and
/// without order[ends[b]].
struct EpochPlan {
  std::vector<std::int64_t> order = {};
  std::vector<std::int64_t> ends = {};

  std::int64_t begin_of(std::int64_t batch) const {
    return batch == 0 ? 0 : ends[static_cast<std::size_t>(batch - 1)];
  }
  std::int64_t rows_of(std::int64_t batch) const {
    return ends[static_cast<std::size_t>(batch)] - begin_of(batch);
  }
  std::int64_t batches() const noexcept { return static_cast<std::int64_t>(ends.size()); }
  std::int64_t most_rows() const;
};

/// Batches of `rows`, the last of them shorter if the order ends there; samples beyond are in none.
EpochPlan plan_batches(std::vector<std::int64_t> order, std::int64_t rows, std::int64_t batches);

/// Rows [begin, end) of a batch.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const RowRange&) const = default;
};

/// Rows 0 to rows-1 in at most `parts` ranges, none of them empty, whose lengths differ by one at
/// the most.
std::vector<RowRange> split_rows(std::int64_t rows, int parts);

}  // namespace penstock::actors
