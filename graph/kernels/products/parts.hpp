// Loops are cut into equal parts. The build compiles this function once per instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(first, size)` for equal parts of at most `most`.
template <class Work>
[[gnu::always_inline]] inline void for_each_part(std::int64_t count, std::int64_t most, Work work) {
  const std::int64_t parts = (count + most - 1) / most;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t first = count * part / parts;
    work(first, count * (part + 1) / parts - first);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
