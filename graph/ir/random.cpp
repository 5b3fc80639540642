#include "graph/ir/random.hpp"

#include "graph/ir/philox_rounds.hpp"
#include "graph/ir/random_run.hpp"

namespace penstock::graph {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept {
  PhiloxCounter counters[]{{counter[0], counter[1], counter[2], counter[3]}};
  run_philox(counters, key);
  const auto& [a, b, c, d] = counters[0];
  return {a, b, c, d};
}

std::array<std::uint32_t, 4> philox(const RandomKey& key, std::uint64_t index) noexcept {
  const PhiloxStart start = philox_start(key);
  return philox4x32_10({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                        start.upper_counter[0], start.upper_counter[1]},
                       start.key);
}

}  // namespace penstock::graph
