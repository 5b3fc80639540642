// A comparison says of two profiles what became faster, slower, larger and smaller from the first
// to the second. All functions are pure.
#pragma once

#include <span>
#include <string>

#include "apps/report/figures.hpp"

namespace report {

/// Returns a text with the figures that differ by more than `least_change` (0.03 stands for 3 %),
/// grouped by what became better and worse, the largest change first in each group. Figures that
/// only one profile has are listed at the end.
std::string compare(std::span<const Figure> before, std::span<const Figure> after,
                    double least_change);

}  // namespace report
