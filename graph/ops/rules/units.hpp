// Many ops divide their work into the units of this header (Op::units): one unit for each index
// along an axis of output 0 or, in ops that work element by element, one unit for each cache line
// of output 0, so that no two threads write to the same cache line.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

inline constexpr std::int64_t line_elements = 16;

inline std::int64_t units_of_elements(std::int64_t count) {
  return (count + line_elements - 1) / line_elements;
}

/// Serves as Op::units: returns the number of cache lines of output 0.
inline std::int64_t element_units(const Attributes&, Types, Types outputs) {
  return units_of_elements(outputs[0].shape.elements());
}

/// Serves as Op::units: returns the size of output 0 along `axis`.
template <int axis>
std::int64_t axis_units(const Attributes&, Types, Types outputs) {
  return outputs[0].shape[axis];
}

/// An ElementRange has the elements of a part of the work: `count` neighbours from element `first`
/// on.
struct ElementRange {
  std::int64_t first, count;

  ElementRange(const KernelCall& call, std::int64_t elements) {
    const Part range = elements_of(call.part, line_elements, elements);
    first = range.begin;
    count = range.end - range.begin;
  }
};

}  // namespace penstock::graph
