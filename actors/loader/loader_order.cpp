#include "actors/loader/loader_order.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>

#include "graph/ir/random.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

std::vector<std::int64_t> numbers_below(std::int64_t count) try {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
} catch (const std::exception&) {
  throw Error(Errc::out_of_memory, "data loader: no memory for the shuffled order of " +
                                       std::to_string(count) +
                                       " samples, which takes 8 bytes for each of them");
}

/// Shuffles by the method of Fisher and Yates: the number for position i is drawn from positions 0
/// to i. Because each draw has 64 bits, the bias that comes from taking its remainder is below
/// samples / 2^64.
void shuffle(std::vector<std::int64_t>& order, const graph::RandomKey& key) {
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto draws = graph::philox(key, i);
    const std::uint64_t draw = std::uint64_t{draws[0]} << 32 | draws[1];
    std::swap(order[i], order[draw % (i + 1)]);
  }
}

}  // namespace

std::vector<std::int64_t> shuffled_order(std::int64_t samples, std::uint64_t seed,
                                         std::uint64_t epoch, std::string_view purpose) {
  std::vector<std::int64_t> order = numbers_below(samples);
  shuffle(order, {.seed = seed, .update = epoch, .name = graph::hash_name(purpose)});
  return order;
}

OrderWindow partition_window(std::int64_t size, const OrderPartition& partition,
                             std::uint64_t epoch) {
  const std::int64_t left = size - partition.count * partition.samples;
  // The positions [gap_begin, gap_begin + left) are left out; those from `size` on stand for the
  // positions from 0 on.
  const auto turn = static_cast<std::int64_t>(epoch % static_cast<std::uint64_t>(size));
  const std::int64_t gap_begin = turn * left % size;
  const std::int64_t wrapped = std::max<std::int64_t>(0, gap_begin + left - size);
  return {wrapped + partition.index * partition.samples, gap_begin, left};
}

std::int64_t EpochPlan::most_rows() const {
  if (batches() == 0) return 0;
  std::int64_t rows = rows_of(0);
  for (std::int64_t batch = 1; batch < static_cast<std::int64_t>(ends.size()); ++batch)
    rows = std::max(rows, rows_of(batch));
  return rows;
}

std::vector<RowRange> split_rows(std::int64_t rows, int most) {
  const std::int64_t count = std::min<std::int64_t>(rows, most);
  std::vector<RowRange> ranges;
  for (std::int64_t i = 0, begin = 0; i < count; ++i) {
    const std::int64_t end = begin + rows / count + (i < rows % count ? 1 : 0);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

}  // namespace penstock::actors
