// A figure is a number of a profile with a name and a unit. Two profiles are compared by their
// figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "penstock/json_value.hpp"

namespace report {

/// A Unit is what a figure counts. The figure's unit decides how the figure is written, and whether
/// a larger figure is better.
enum class Unit { seconds, bytes, share_of_idleness, samples_per_second };

struct Figure {
  std::string name;  ///< A figure has the same name in all profiles, such as "stage 2, forward".
  Unit unit = Unit::seconds;
  double value = 0;
};

/// Returns `value` with its unit, such as "2.00 MB" or "25.0 %".
std::string value_text(Unit unit, double value);
/// Returns a text such as "1.50 times".
std::string factor_text(double factor);
/// Returns `share`, of which 1 stands for 100 %, as a text such as "3 %".
std::string percent_text(double share);

/// Returns the figures of a profile.json: of the whole run, then of its stages, its IPUs, and its
/// ops. @throws penstock::Error invalid_data naming the field that is missing or of another kind.
std::vector<Figure> figures_of(const penstock::JsonValue& profile);

/// Reads the figures of `path`, which is a profile.json or the directory that has it.
/// @throws penstock::Error io_error or invalid_data naming the file.
std::vector<Figure> read_figures(const std::filesystem::path& path);

}  // namespace report
