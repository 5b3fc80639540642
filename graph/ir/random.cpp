#include "graph/ir/random.hpp"

namespace penstock::graph {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The function is the finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

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
  // The 64-bit Philox key and the upper half of the counter hold two digests of the fields of
  // `key`. Mixing makes the digests of neighbouring updates or micro-batches unlike each other, so
  // that these share no draws.
  const std::uint64_t where = mix(mix(key.update + 0x9e3779b97f4a7c15u) ^
                                  (std::uint64_t{key.replica} << 32 | key.micro_batch));
  const std::uint64_t subject = mix(mix(key.seed + 0x9e3779b97f4a7c15u) ^ key.name);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return philox4x32_10({low(index), high(index), low(where), high(where)},
                       {low(subject), high(subject)});
}

}  // namespace penstock::graph
