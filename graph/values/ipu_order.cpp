#include "penstock/ipu_order.hpp"

#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {
namespace {

/// Returns the IPU at position `place` of IpuOrder::snake, for `count` IPUs. The snake goes through
/// pairs of IPUs, counted from 0, and takes the IPUs of every odd pair in reverse: 0 1 3 2 4 5 7 6.
/// If `count` is odd, the last IPU has no partner and keeps its place.
int at_snake(int place, int count) {
  const bool backwards = place / 2 % 2 == 1, paired = (place | 1) < count;
  return backwards && paired ? place ^ 1 : place;
}

int at_hoof(int place, int count) {
  const int there = (count + 1) / 2;
  return place < there ? 2 * place : 2 * (count - place) - 1;
}

}  // namespace

std::vector<int> ipus_in_order(IpuOrder order, int count) {
  return or_out_of_memory("ipus_in_order", [&] {
    check_number("ipus_in_order: count", count, {.low = 1, .high = highest_ipu + 1});
    std::vector<int> ipus;
    for (int place = 0; place < count; ++place)
      ipus.push_back(order == IpuOrder::snake  ? at_snake(place, count)
                     : order == IpuOrder::hoof ? at_hoof(place, count)
                                               : place);
    return ipus;
  });
}

std::string_view to_string(IpuOrder order) noexcept {
  switch (order) {
    case IpuOrder::natural:
      return "natural";
    case IpuOrder::snake:
      return "snake";
    case IpuOrder::hoof:
      return "hoof";
  }
  return "unknown";
}

}  // namespace penstock
