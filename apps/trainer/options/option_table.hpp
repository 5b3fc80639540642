// The table of all options of penstock-train: the one place that names, explains and bounds them.
#pragma once

#include <vector>

#include "apps/trainer/options/option_row.hpp"

namespace trainer {

/// All options but --help, grouped as the help shows them.
const std::vector<OptionGroup>& option_groups();

}  // namespace trainer
