#include "actors/loader/loader_order.hpp"

#include <algorithm>
#include <numeric>

#include "graph/random.hpp"

namespace penstock::actors {
namespace {

/// Fisher and Yates: what comes to position i is drawn from positions 0 to i. With 64-bit draws the
/// remainder's bias is below samples / 2^64.
void shuffle_order(std::vector<std::int64_t>& order, std::uint64_t seed, std::uint64_t epoch) {
  const graph::RandomKey key{
      .seed = seed, .update = epoch, .name = graph::hash_name("epoch_order")};
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto draws = graph::philox(key, i);
    const std::uint64_t draw = std::uint64_t{draws[0]} << 32 | draws[1];
    std::swap(order[i], order[draw % (i + 1)]);
  }
}

}  // namespace

std::vector<std::int64_t> epoch_order(std::int64_t samples, bool shuffle, std::uint64_t seed,
                                      std::uint64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (shuffle) shuffle_order(order, seed, epoch);
  return order;
}

std::vector<std::int64_t> part_of_order(const std::vector<std::int64_t>& order,
                                        const OrderPart& part, std::uint64_t epoch) {
  const auto size = static_cast<std::int64_t>(order.size());
  const std::int64_t left = size - part.count * part.samples;
  // The window that is left out: [first, first + left), around the end.
  const std::int64_t turn = static_cast<std::int64_t>(epoch % order.size());
  const std::int64_t first = turn * left % size;
  const std::int64_t wrapped = std::max<std::int64_t>(0, first + left - size);
  std::vector<std::int64_t> samples;
  samples.reserve(static_cast<std::size_t>(part.samples));
  for (std::int64_t i = 0; i < part.samples; ++i) {
    const std::int64_t position = wrapped + part.index * part.samples + i;
    samples.push_back(
        order[static_cast<std::size_t>(position < first ? position : position + left)]);
  }
  return samples;
}

std::int64_t EpochPlan::most_rows() const {
  std::int64_t rows = 0;
  for (std::int64_t batch = 0; batch < batches(); ++batch) rows = std::max(rows, rows_of(batch));
  return rows;
}

EpochPlan plan_batches(std::vector<std::int64_t> order, std::int64_t rows, std::int64_t batches) {
  EpochPlan plan{std::move(order), {}};
  const auto size = static_cast<std::int64_t>(plan.order.size());
  for (std::int64_t batch = 0; batch < batches; ++batch)
    plan.ends.push_back(size - batch * rows < rows ? size : (batch + 1) * rows);
  return plan;
}

std::vector<RowRange> split_rows(std::int64_t rows, int parts) {
  const std::int64_t count = std::min<std::int64_t>(rows, parts);
  std::vector<RowRange> ranges;
  for (std::int64_t i = 0, begin = 0; i < count; ++i) {
    const std::int64_t end = begin + rows / count + (i < rows % count ? 1 : 0);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

}  // namespace penstock::actors
