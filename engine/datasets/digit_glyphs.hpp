// These are the strokes of the ten digits, as polylines in a unit square, with x to the right and y
// down.
#pragma once

#include <span>
#include <vector>

namespace penstock {

struct Point {
  float x = 0;
  float y = 0;
};

using Stroke = std::vector<Point>;

/// Returns the strokes of `digit`, which is from 0 to 9.
std::span<const Stroke> digit_strokes(int digit);

}  // namespace penstock
