// A Part is some of the units that a kernel's work consists of. The functions are static and
// defined here, so that each source that includes this header has functions of its own, compiled
// for its own instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A Part covers the units `begin` to `end - 1`; by default it covers all units, however many there
/// are.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = INT64_MAX;
};

/// Returns `part` without the units that do not exist. The units from 0 to `units` - 1 exist.
static constexpr Part within(Part part, std::int64_t units) {
  return {part.begin < units ? part.begin : units, part.end < units ? part.end : units};
}

static constexpr bool empty(Part part) {
  return part.begin >= part.end;
}

/// Returns which of the `count` units from `first` on are in `part`. In the result, unit `first`
/// has number 0.
static constexpr Part overlap(Part part, std::int64_t first, std::int64_t count) {
  return within(
      {part.begin > first ? part.begin - first : 0, part.end > first ? part.end - first : 0},
      count);
}

/// Returns which positions have a unit that is in `part`, in the row of the units `number`,
/// `number` + `step`, `number` + 2·`step` and so on. The row has `count` units, and its positions
/// are counted from 0. `number` is less than `step`.
static constexpr Part every(Part part, std::int64_t step, std::int64_t number, std::int64_t count) {
  const Part units = within(part, step * count);
  const auto first_from = [&](std::int64_t unit) {
    return unit > number ? (unit - number + step - 1) / step : 0;
  };
  return {first_from(units.begin), first_from(units.end)};
}

/// Returns which of `count` elements belong to the units of `part`. Each unit has `size` elements,
/// except that the last unit has the elements that are left.
static constexpr Part elements_of(Part part, std::int64_t size, std::int64_t count) {
  const Part units = within(part, (count + size - 1) / size);
  return {units.begin * size < count ? units.begin * size : count,
          units.end * size < count ? units.end * size : count};
}

}  // namespace penstock::graph
