// Part: some of the units that a kernel's work consists of. Declarations only, as sources of every
// instruction set include this; static, so that none of them shares a function.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Units `begin` to `end - 1`; by default all, however many there are.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

/// The part as far as there are units.
static constexpr Part within(Part part, std::int64_t units) {
  return {part.begin < units ? part.begin : units, part.end < units ? part.end : units};
}

static constexpr bool empty(Part part) {
  return part.begin >= part.end;
}

/// Which of `count` units from `first` on are in the part, counted from `first`.
static constexpr Part overlap(Part part, std::int64_t first, std::int64_t count) {
  return within(
      {part.begin > first ? part.begin - first : 0, part.end > first ? part.end - first : 0},
      count);
}

/// Which of units number, number + step, ..., `count` of them, are in the part, counted one by one.
static constexpr Part every(Part part, std::int64_t step, std::int64_t number, std::int64_t count) {
  const Part units = within(part, step * count);
  const auto first_from = [&](std::int64_t unit) {
    return unit > number ? (unit - number + step - 1) / step : 0;
  };
  return {first_from(units.begin), first_from(units.end)};
}

/// The elements of these units, of which each has `size`, the last of them what is left of `count`.
static constexpr Part elements_of(Part part, std::int64_t size, std::int64_t count) {
  const Part units = within(part, (count + size - 1) / size);
  return {units.begin * size < count ? units.begin * size : count,
          units.end * size < count ? units.end * size : count};
}

}  // namespace penstock::graph
