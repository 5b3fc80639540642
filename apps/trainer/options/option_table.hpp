// The table of all options of penstock-train is the one place that names, explains and bounds them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/trainer/options/option_row.hpp"

namespace trainer {

/// Returns all options of a run, grouped as the help shows them.
const std::vector<OptionGroup>& option_groups();

/// Returns the option of that name, or of that other spelling, or null if there is none.
const OptionRow* find_option(std::string_view name);

/// Returns how the refusal of the unknown option `name`, which may have "=" and a value behind it,
/// ends: "; did you mean --epochs? --help lists what there is" if some option is nearly called so.
/// `dashes` stand before the name of the option in that text.
std::string advice_on_unknown(std::string_view name, std::string_view dashes);

}  // namespace trainer
