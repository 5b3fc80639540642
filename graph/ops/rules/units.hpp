// Many ops have these units (Op::units): what lies along an axis or, where work goes element by
// element, one cache line each, so that no two threads write to the same cache line.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

inline constexpr std::int64_t line_elements = 16;

inline std::int64_t units_of_elements(std::int64_t count) {
  return (count + line_elements - 1) / line_elements;
}

/// Counts the cache lines of output 0, for Op::units.
inline std::int64_t element_units(const Attributes&, Types, Types outputs) {
  return units_of_elements(outputs[0].shape.elements());
}

/// Counts what lies along an axis of output 0, for Op::units.
template <int axis>
std::int64_t axis_units(const Attributes&, Types, Types outputs) {
  return outputs[0].shape[axis];
}

/// Has the neighbouring elements of a part: where they begin, and how many there are.
struct ElementRange {
  std::int64_t first, count;

  ElementRange(const KernelCall& call, std::int64_t elements) {
    const Part range = elements_of(call.part, line_elements, elements);
    first = range.begin;
    count = range.end - range.begin;
  }
};

}  // namespace penstock::graph
