// comparison_page() shows two profiles side by side, for people.
#pragma once

#include <string>

#include "apps/report/comparison.hpp"

namespace report {

/// Returns a page of HTML that is complete in itself and loads nothing. Each figure has a row with
/// its two values, as numbers and as bars. `before` and `after` name the profiles.
std::string comparison_page(const Comparison& comparison, const std::string& before,
                            const std::string& after);

}  // namespace report
