// These pure functions order an epoch's samples and share out a batch's rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace penstock::actors {

/// Returns the numbers 0 to samples-1 in an order that depends on nothing but `samples`, `seed`,
/// `epoch` and `purpose`. Orders of different purposes have nothing to do with each other.
/// @throws Error out_of_memory
std::vector<std::int64_t> shuffled_order(std::int64_t samples, std::uint64_t seed,
                                         std::uint64_t epoch,
                                         std::string_view purpose = "epoch_order");

/// An OrderPartition is one of `count` partitions of an epoch's order. Each partition has `samples`
/// consecutive samples of the order, and no sample is in two partitions. The samples that are in no
/// partition are neighbors in the order, if its end and its beginning count as neighbors. The next
/// epoch leaves out the positions that follow the positions of these samples, so that each position
/// of the order is left out in its turn.
struct OrderPartition {
  int index = 0;
  int count = 1;
  std::int64_t samples = 0;
};

/// An OrderWindow has consecutive positions of an epoch's order, except for a gap that is left out.
struct OrderWindow {
  /// This is the window's first position if the gap lies behind it. If the gap begins there or
  /// before, the window begins `gap` positions later.
  std::int64_t first = 0;
  std::int64_t gap_begin = std::numeric_limits<std::int64_t>::max();
  /// This many positions are left out from `gap_begin` on.
  std::int64_t gap = 0;

  /// Returns the window's position number `i`.
  std::int64_t position(std::int64_t i) const noexcept {
    return first + i < gap_begin ? first + i : first + i + gap;
  }
};

/// Returns the positions that `partition` has in the order of an epoch with `size` samples.
OrderWindow partition_window(std::int64_t size, const OrderPartition& partition,
                             std::uint64_t epoch);

/// An EqualBatches describes `count` batches of equally many rows; only the last batch may have
/// fewer. Unlike a list of ends, the description takes the same memory for any number of batches.
struct EqualBatches {
  std::int64_t samples = 0;
  std::int64_t rows = 1;
  std::int64_t count = 0;
};

/// An EpochPlan says which samples an epoch visits, batch after batch.
struct EpochPlan {
  /// This has the number of the sample at each position of the order. If it is empty, each position
  /// has the sample of the same number.
  std::vector<std::int64_t> order = {};
  /// This has, for each batch, how many samples the plan has visited when the batch ends. If it is
  /// empty, `equal` describes the batches.
  std::vector<std::int64_t> ends = {};
  EqualBatches equal = {};
  /// The plan visits these positions of the order.
  OrderWindow window = {};

  std::int64_t sample(std::int64_t i) const {
    const std::int64_t position = window.position(i);
    return order.empty() ? position : order[static_cast<std::size_t>(position)];
  }
  std::int64_t begin_of(std::int64_t batch) const {
    if (ends.empty()) return batch * equal.rows;
    return batch == 0 ? 0 : ends[static_cast<std::size_t>(batch - 1)];
  }
  std::int64_t rows_of(std::int64_t batch) const {
    if (ends.empty()) return std::min(equal.rows, equal.samples - begin_of(batch));
    return ends[static_cast<std::size_t>(batch)] - begin_of(batch);
  }
  std::int64_t batches() const noexcept {
    return ends.empty() ? equal.count : static_cast<std::int64_t>(ends.size());
  }
  /// Returns how many rows the largest batch has.
  std::int64_t most_rows() const;
};

/// A RowRange is the rows [begin, end) of a batch.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const RowRange&) const = default;
};

/// Divides the rows 0 to rows-1 into at most `most` ranges. None of the ranges is empty, and their
/// lengths differ by one at most.
std::vector<RowRange> split_rows(std::int64_t rows, int most);

}  // namespace penstock::actors
