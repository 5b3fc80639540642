// The table of all options of penstock-train is the one place that names, explains and bounds the
// options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/trainer/options/option_row.hpp"

namespace trainer {

/// Returns all options of a run, grouped as the help shows them.
const std::vector<OptionGroup>& option_groups();

/// Returns the option that has `name` as its name or its other spelling, or null if there is no
/// such option.
const OptionRow* find_option(std::string_view name);

/// Returns the end of a text that refuses the unknown option `name`, such as "; did you mean
/// --epochs? --help lists what there is". An option is proposed only if its name is nearly `name`,
/// and is shown with `dashes` in front. In `name`, an "=" and whatever follows it do not count.
std::string advice_on_unknown(std::string_view name, std::string_view dashes);

}  // namespace trainer
