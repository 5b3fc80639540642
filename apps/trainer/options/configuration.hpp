// A configuration has all options of a run in one file. It is a JSON object whose keys are the
// names of the options: numbers for those that take one, true or false for switches, and texts as
// on the command line for the others.
#pragma once

#include <map>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// Says of each option that a file names in which line that is.
using OptionLines = std::map<std::string, int>;

/// Sets the options that the file names. @throws penstock::Error io_error if it cannot be read;
/// invalid_argument naming it, the line and the option for what is unknown, there twice, malformed
/// or out of range.
OptionLines read_configuration(const std::string& file, TrainerOptions& options);

/// Returns such a file of every option that has a value. @throws penstock::Error invalid_argument
/// if a value is not valid UTF-8.
std::string configuration_text(const TrainerOptions& options);

}  // namespace trainer
