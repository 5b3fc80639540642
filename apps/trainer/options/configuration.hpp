// A configuration has all options of a run in one file. It is a JSON object whose keys are the
// names of the options. The values are numbers for options that take a number, true or false for
// switches, and texts as on the command line for all other options.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// OptionLines has the line, counted from 1, of each option that a configuration file names.
using OptionLines = std::map<std::string, int>;

/// Sets those of the options that `file` names for which `reads` is true, and returns the lines of
/// these options. @throws penstock::Error io_error if the file cannot be read; invalid_argument
/// that names the file, the line and the option if an option is unknown, given twice, malformed or
/// out of range.
OptionLines read_configuration(
    const std::string& file, TrainerOptions& options,
    const std::function<bool(const std::string& name)>& reads = [](const std::string&) {
      return true;
    });

/// Returns the text of a configuration file with every switch, and every other option that has a
/// value. @throws penstock::Error invalid_argument if a value is not valid UTF-8.
std::string configuration_text(const TrainerOptions& options);

}  // namespace trainer
