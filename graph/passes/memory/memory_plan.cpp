#include "graph/passes/memory/memory_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "graph/ir/graph.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {
namespace {

/// A Range is the offset of the first byte of a range of memory, and the offset of the first byte
/// behind it.
using Range = std::pair<std::int64_t, std::int64_t>;

/// TakenRanges are the ranges of memory that are taken, each with the instructions during which it
/// is taken. They are stored in a binary tree, in which each node stands for consecutive
/// instructions. A range is kept at those few nodes that together stand for the instructions during
/// which it is taken.
class TakenRanges {
 public:
  explicit TakenRanges(std::int32_t instructions)
      : leaves_(std::bit_ceil(index(std::max(instructions, 1)))), at_node_(2 * leaves_) {}

  void add(const Buffer& buffer, const Range& range) {
    std::size_t low = leaves_ + index(buffer.first), high = leaves_ + index(buffer.last) + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) at_node_[low++].push_back(range);
      if (high % 2 == 1) at_node_[--high].push_back(range);
    }
  }

  /// Returns the ranges that are taken during at least one of the instructions that need `buffer`.
  /// The same range may be in the list several times.
  std::vector<Range> during(const Buffer& buffer) const {
    std::vector<Range> taken;
    std::size_t low = leaves_ + index(buffer.first), high = leaves_ + index(buffer.last);
    for (; low > 0; low /= 2, high /= 2)
      for (std::size_t node = low; node <= high; ++node)
        taken.insert(taken.end(), at_node_[node].begin(), at_node_[node].end());
    return taken;
  }

 private:
  std::size_t leaves_;
  // These are the ranges of each node of the tree. The root is node 1, and the nodes 2i and 2i + 1
  // are the halves of node i.
  std::vector<std::vector<Range>> at_node_;
};

std::int32_t instructions_of(std::span<const Buffer> buffers) {
  std::int32_t last = -1;
  for (const Buffer& buffer : buffers) last = std::max(last, buffer.last);
  return last + 1;
}

std::vector<std::size_t> largest_first(std::span<const Buffer> buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](auto i) { return buffers[i].bytes; });
  return order;
}

/// Returns the lowest offset at which `bytes` bytes fit between the ranges `taken`.
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
  TakenRanges taken(instructions_of(buffers));
  for (const std::size_t i : largest_first(buffers)) {
    const std::int64_t bytes = aligned(buffers[i].bytes);
    const std::int64_t offset = lowest_gap(taken.during(buffers[i]), bytes);
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    taken.add(buffers[i], {offset, offset + bytes});
  }
  return plan;
}

}  // namespace penstock::graph
