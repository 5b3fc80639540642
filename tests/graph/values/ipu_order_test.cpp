#include "penstock/ipu_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using Ipus = std::vector<int>;

TEST(IpuOrder, G7_IsThePermutationOfItsName) {
  EXPECT_EQ(ipus_in_order(IpuOrder::natural, 4), (Ipus{0, 1, 2, 3}));
  EXPECT_EQ(ipus_in_order(IpuOrder::snake, 8), (Ipus{0, 1, 3, 2, 4, 5, 7, 6}));
  EXPECT_EQ(ipus_in_order(IpuOrder::hoof, 16),
            (Ipus{0, 2, 4, 6, 8, 10, 12, 14, 15, 13, 11, 9, 7, 5, 3, 1}));
}

TEST(IpuOrder, G7_NamesEachIpuOnceWhateverTheirNumber) {
  for (int count = 1; count <= 17; ++count) {
    Ipus all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    for (const IpuOrder order : {IpuOrder::natural, IpuOrder::snake, IpuOrder::hoof}) {
      Ipus ipus = ipus_in_order(order, count);
      std::ranges::sort(ipus);
      EXPECT_EQ(ipus, all) << to_string(order) << " of " << count;
    }
  }
}

TEST(IpuOrder, RefusesNoIpus) {
  EXPECT_NE(testing::refusal(Errc::invalid_argument, [] { ipus_in_order(IpuOrder::snake, 0); })
                .find("ipus_in_order: count: expected 1 to 65536, got 0"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock
