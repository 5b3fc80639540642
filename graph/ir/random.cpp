#include "graph/ir/random.hpp"

#include "graph/ir/random_run.hpp"

namespace penstock::graph {
namespace {

using Counter = std::array<std::uint32_t, 4>;

constexpr Counter round_of(const Counter& c, std::uint32_t k0, std::uint32_t k1) noexcept {
  const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0];
  const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2];
  return {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    counter = round_of(counter, key[0], key[1]);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

std::array<std::uint32_t, 4> philox(const RandomKey& key, std::uint64_t index) noexcept {
  const PhiloxStart start = philox_start(key);
  return philox4x32_10({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                        start.upper_counter[0], start.upper_counter[1]},
                       start.key);
}

}  // namespace penstock::graph
