// In which order an epoch visits the samples, and how a batch's rows are shared out. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::actors {

/// Every sample once: 0, 1, 2, ..., or shuffled by the seed and the epoch's number alone.
std::vector<std::int64_t> epoch_order(std::int64_t samples, bool shuffle, std::uint64_t seed,
                                      std::uint64_t epoch);

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
