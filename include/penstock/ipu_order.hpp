// An IpuOrder says which IPU the first stage is on, which the second, and so on; see
// Topology::ipus.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// The IPUs of every replica have numbers from 0 to at most this number.
inline constexpr int highest_ipu = 65535;

/// An IpuOrder says in which order stages take IPUs. Where IPUs are linked in two rows, 0, 2, 4,
/// ... and 1, 3, 5, ..., with links across, `snake` and `hoof` put consecutive stages on neighbors.
/// In Penstock no link is faster than another: the order decides only which IPU a trace and a
/// report name.
enum class IpuOrder : std::uint8_t {
  natural,  ///< The order is 0, 1, 2, 3, ...
  snake,  ///< The order is pair after pair, every other pair backwards: 0, 1, 3, 2, 4, 5, 7, 6, ...
  hoof,   ///< The order is along one row and back along the other: 0, 2, 4, ..., then ..., 5, 3, 1.
};

/// Returns the IPUs 0 to `count` - 1 in the order `order`. @throws Error invalid_argument for a
/// count below 1.
std::vector<int> ipus_in_order(IpuOrder order, int count);

/// Returns the name of the enumerator.
std::string_view to_string(IpuOrder order) noexcept;

}  // namespace penstock
