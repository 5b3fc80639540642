#include "actors/loader_order.hpp"

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
