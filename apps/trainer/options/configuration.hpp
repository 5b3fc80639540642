// Configuration: all options of a run in one file, a JSON object whose keys are the options' names:
// numbers for those that take one, true or false for switches, texts as on the command line for the
// others.
#pragma once

#include <map>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// Of each option that a file names: where.
using OptionLines = std::map<std::string, int>;

/// Sets the options that the file names. @throws penstock::Error io_error if it cannot be read;
/// invalid_argument naming it, the line and the option for what is unknown, there twice, malformed
/// or out of range.
OptionLines read_configuration(const std::string& file, TrainerOptions& options);

/// Every option that has a value, as such a file.
/// @throws penstock::Error invalid_argument if one is not valid UTF-8.
std::string configuration_text(const TrainerOptions& options);

}  // namespace trainer
