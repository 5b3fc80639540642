#include "graph/ir/random_run.hpp"

namespace penstock::graph {
namespace {

/// This many counters are worked on side by side. Their multiplications do not wait for each other,
/// and their words fit into the registers of a processor.
constexpr std::size_t abreast = 4;

struct Counter {
  std::uint32_t a, b, c, d;
};

// The function is the finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint32_t low(std::uint64_t x) noexcept {
  return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high(std::uint64_t x) noexcept {
  return static_cast<std::uint32_t>(x >> 32);
}

constexpr Counter next_round(const Counter& c, std::uint32_t k0, std::uint32_t k1) noexcept {
  const std::uint64_t x = std::uint64_t{0xD2511F53u} * c.a;
  const std::uint64_t y = std::uint64_t{0xCD9E8D57u} * c.c;
  return {high(y) ^ c.b ^ k0, low(y), high(x) ^ c.d ^ k1, low(x)};
}

/// Writes the draws of `abreast` indices from `index` on.
[[gnu::always_inline]] inline void draw_abreast(const PhiloxStart& start, std::uint64_t index,
                                                std::uint32_t* draws) noexcept {
  Counter counters[abreast];
  for (std::size_t i = 0; i < abreast; ++i)
    counters[i] = {low(index + i), high(index + i), start.upper_counter[0], start.upper_counter[1]};
  auto [k0, k1] = start.key;
  for (int round = 0; round < 10; ++round) {
    for (Counter& counter : counters) counter = next_round(counter, k0, k1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (const Counter& counter : counters) {
    *draws++ = counter.a;
    *draws++ = counter.b;
    *draws++ = counter.c;
    *draws++ = counter.d;
  }
}

}  // namespace

PhiloxStart philox_start(const RandomKey& key) noexcept {
  // Mixing makes the digests of neighbouring updates or micro-batches unlike each other, so that
  // these share no draws.
  const std::uint64_t where = mix(mix(key.update + 0x9e3779b97f4a7c15u) ^
                                  (std::uint64_t{key.replica} << 32 | key.micro_batch));
  const std::uint64_t subject = mix(mix(key.seed + 0x9e3779b97f4a7c15u) ^ key.name);
  return {.upper_counter = {low(where), high(where)}, .key = {low(subject), high(subject)}};
}

RandomRun::Draws RandomRun::draw(std::uint64_t index) const noexcept {
  Draws draws;
  for (std::size_t i = 0; i < indices; i += abreast)
    draw_abreast(start_, index + i, draws.data() + 4 * i);
  return draws;
}

}  // namespace penstock::graph
