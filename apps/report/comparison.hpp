// compare() says what became faster, slower, larger and smaller from one profile to another. It is
// pure.
#pragma once

#include <span>
#include <string>

#include "apps/report/figures.hpp"

namespace report {

/// Returns a text with the figures that differ by more than `least_change` (0.03 stands for 3 %),
/// in groups such as "Faster" and "Larger"; each group begins with the largest change. Then come
/// the figures that only one profile has, and the number of those that differ by less.
std::string compare(std::span<const Figure> before, std::span<const Figure> after,
                    double least_change);

}  // namespace report
