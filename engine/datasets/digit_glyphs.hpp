// The strokes of the ten digits: polylines in a unit square, x to the right, y down.
#pragma once

#include <span>
#include <vector>

namespace penstock {

struct Point {
  float x = 0;
  float y = 0;
};

using Stroke = std::vector<Point>;

/// @param digit 0 to 9
std::span<const Stroke> digit_strokes(int digit);

}  // namespace penstock
