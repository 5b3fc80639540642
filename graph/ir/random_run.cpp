#include "graph/ir/random_run.hpp"

#include "graph/ir/philox_rounds.hpp"

namespace penstock::graph {
namespace {

/// This many counters are worked on side by side. Their multiplications do not wait for each other,
/// and their words fit into the registers of a processor.
constexpr std::size_t abreast = 4;

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

/// Writes the draws of `abreast` indices from `index` on.
[[gnu::always_inline]] inline void draw_abreast(const PhiloxStart& start, std::uint64_t index,
                                                std::uint32_t* draws) noexcept {
  PhiloxCounter counters[abreast];
  for (std::size_t i = 0; i < abreast; ++i)
    counters[i] = {low(index + i), high(index + i), start.upper_counter[0], start.upper_counter[1]};
  run_philox(counters, start.key);
  for (const PhiloxCounter& counter : counters) {
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
