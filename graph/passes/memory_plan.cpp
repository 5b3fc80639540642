#include "graph/passes/memory_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/values/memory.hpp"

namespace penstock::graph {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;  ///< [begin, end) in bytes

bool overlap(const Buffer& a, const Buffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<std::size_t> largest_first(std::span<const Buffer> buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](auto i) { return buffers[i].bytes; });
  return order;
}

/// The lowest offset at which `bytes` fit between the ranges that are taken.
std::int64_t lowest_gap(std::vector<Range> taken, std::int64_t bytes) {
  std::ranges::sort(taken);
  std::int64_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + bytes <= begin) break;
    offset = std::max(offset, end);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Buffer> buffers) {
  MemoryPlan plan{.offsets = std::vector<std::int64_t>(buffers.size())};
  std::vector<std::size_t> placed;
  for (const std::size_t i : largest_first(buffers)) {
    std::vector<Range> taken;
    for (const std::size_t other : placed)
      if (overlap(buffers[i], buffers[other]))
        taken.emplace_back(plan.offsets[other],
                           plan.offsets[other] + aligned(buffers[other].bytes));
    const std::int64_t bytes = aligned(buffers[i].bytes);
    plan.offsets[i] = lowest_gap(std::move(taken), bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace penstock::graph
