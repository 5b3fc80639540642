// A SliceRange says which elements of an axis ONNX's Slice takes. The function is pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/error.hpp"

namespace penstock {

/// A SliceRange has `count` elements, the first of which is number `first`, and each next one
/// `step` further on, which may be below 0.
struct SliceRange {
  std::int64_t first, step, count;
};

/// Returns what Slice takes of an axis of `size` elements: negative bounds count from the end, and
/// bounds outside of the axis stand for its ends. @throws Error corrupt_file for a step of 0.
inline SliceRange slice_range(std::int64_t start, std::int64_t end, std::int64_t step,
                              std::int64_t size) {
  if (step == 0) throw Error(Errc::corrupt_file, "expected a step other than 0");
  const auto counted = [size](std::int64_t bound) { return bound < 0 ? bound + size : bound; };
  if (step > 0) {
    const std::int64_t first = std::clamp<std::int64_t>(counted(start), 0, size);
    const std::int64_t behind = std::clamp<std::int64_t>(counted(end), 0, size);
    step = std::min(step, std::max<std::int64_t>(size, 1));
    return {first, step, first < behind ? (behind - first - 1) / step + 1 : 0};
  }
  const std::int64_t first = std::clamp<std::int64_t>(counted(start), -1, size - 1);
  const std::int64_t behind = std::clamp<std::int64_t>(counted(end), -1, size - 1);
  step = std::max(step, -std::max<std::int64_t>(size, 1));
  return {first, step, first > behind ? (first - behind - 1) / -step + 1 : 0};
}

}  // namespace penstock
