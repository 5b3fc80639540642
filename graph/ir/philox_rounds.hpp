// These are the rounds of the generator Philox 4x32-10. Those who draw one counter and those who
// draw several side by side share them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::graph {

struct PhiloxCounter {
  std::uint32_t a, b, c, d;
};

constexpr PhiloxCounter next_philox_round(const PhiloxCounter& counter,
                                          const std::array<std::uint32_t, 2>& key) noexcept {
  const std::uint64_t x = std::uint64_t{0xD2511F53u} * counter.a;
  const std::uint64_t y = std::uint64_t{0xCD9E8D57u} * counter.c;
  const auto high = [](std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); };
  const auto low = [](std::uint64_t product) { return static_cast<std::uint32_t>(product); };
  return {high(y) ^ counter.b ^ key[0], low(y), high(x) ^ counter.d ^ key[1], low(x)};
}

/// Replaces each counter by what ten rounds with `key` make of it.
template <std::size_t count>
[[gnu::always_inline]] inline void run_philox(PhiloxCounter (&counters)[count],
                                              std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    for (PhiloxCounter& counter : counters) counter = next_philox_round(counter, key);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
}

}  // namespace penstock::graph
