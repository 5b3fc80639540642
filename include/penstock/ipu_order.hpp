// Orders of IPUs, for Topology::ipus: which IPU the first stage is on, which the second, and so on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock {

/// Where IPUs are linked in two rows, 0, 2, 4, ... and 1, 3, 5, ..., with links across, the last
/// two put stages that follow each other on neighbours. Here no link is faster than another: the
/// order decides only which IPU a trace and a report name.
enum class IpuOrder : std::uint8_t {
  natural,  ///< 0, 1, 2, 3, ...
  snake,    ///< pair by pair, every other pair backwards: 0, 1, 3, 2, 4, 5, 7, 6, ...
  hoof,     ///< there and back: 0, 2, 4, ..., then ..., 5, 3, 1
};

/// The IPUs 0 to `count`-1 in that order. @throws Error invalid_argument for a count below 1.
std::vector<int> ipus_in_order(IpuOrder order, int count);

std::string_view to_string(IpuOrder order) noexcept;

}  // namespace penstock
