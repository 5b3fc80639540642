// A configuration has all options of a run in one file. It is a JSON object whose keys are the
// names of the options. The values are numbers for options that take a number, true or false for
// switches, and texts as on the command line for all other options. The value null takes back the
// default of an option that need not have a value.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"
#include "penstock/json_value.hpp"

namespace trainer {

/// OptionLines has the line, counted from 1, of each option that a configuration file names.
using OptionLines = std::map<std::string, int>;

/// A Configuration is a configuration file that was read.
struct Configuration {
  std::string file;            ///< `file` is the path of the file.
  penstock::JsonValue object;  ///< `object` has a value for each option that the file names.
};

/// Reads `file` once, so that it may be a pipe. @throws penstock::Error io_error if the file cannot
/// be read; invalid_argument, naming the file and the line, if it has no JSON object.
Configuration read_configuration(const std::string& file);

/// Sets those of the options that the configuration names for which `reads` is true, and returns
/// the lines of all options that it names. An option whose value is null loses the value that it
/// has.
/// @throws penstock::Error invalid_argument that names the file, the line and the option if an
/// option is unknown, given twice, malformed or out of range.
OptionLines apply(
    const Configuration& configuration, TrainerOptions& options,
    const std::function<bool(const std::string& name)>& reads = [](const std::string&) {
      return true;
    });

/// Returns the text of a configuration file with every switch, and every other option that has a
/// value or that would have one by `defaults`, which are the defaults of the model that is trained.
/// @throws penstock::Error invalid_argument if a value is not valid UTF-8.
std::string configuration_text(const TrainerOptions& options, const TrainerOptions& defaults = {});

/// Returns a text that names each option on which the trained weights depend and whose value in
/// `options` is another one than in `saved`, the text of a configuration file, such as
/// "--batch-size: expected 40, got 50". Returns an empty text if there is none.
/// @throws penstock::Error invalid_argument if `saved` is no JSON.
std::string differences(const std::string& saved, const TrainerOptions& options);

/// Returns the text of the option `name` in `saved`, the text of a configuration file, or nothing
/// if the option has no value there or is a switch that is off.
/// @throws penstock::Error invalid_argument if `saved` is no JSON.
std::optional<std::string> option_in(const std::string& saved, const std::string& name);

}  // namespace trainer
