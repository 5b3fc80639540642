#include "benchmarks/machine/memory_bandwidth.hpp"

#include <algorithm>

#include "benchmarks/machine/loops.hpp"
#include "benchmarks/machine/on_threads.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "graph/values/memory.hpp"

namespace penstock::benchmarks {
namespace {

constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));

double gigabytes_per_second(std::int64_t floats, double seconds) {
  return static_cast<double>(floats * float_bytes) / seconds * 1e-9;
}

}  // namespace

WorkingSet::WorkingSet(graph::Isa isa, std::int64_t bytes)
    : isa_(isa),
      floats_(bytes / float_bytes / loops(isa).unit * loops(isa).unit),
      memory_(allocate_block(static_cast<std::size_t>(bytes))) {
  write();  // The first write makes the system provide every page.
}

double WorkingSet::read() {
  const auto* from = reinterpret_cast<const float*>(memory_.get());
  volatile float kept = 0;
  return gigabytes_per_second(floats_, seconds_of([&] { kept = loops(isa_).read(from, floats_); }));
}

double WorkingSet::write() {
  auto* to = reinterpret_cast<float*>(memory_.get());
  return gigabytes_per_second(floats_, seconds_of([&] { loops(isa_).write(to, floats_, 1); }));
}

double memory_bandwidth(graph::Isa isa, int threads) {
  return sum_over_threads(threads, [isa] {
    WorkingSet memory(isa, std::int64_t{256} << 20);
    double best = 0;
    for (int pass = 0; pass < 10; ++pass) best = std::max(best, memory.read());
    return best;
  });
}

}  // namespace penstock::benchmarks
