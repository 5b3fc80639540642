// A figure is a number of a profile with a name and a unit. Two profiles are compared by their
// figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "penstock/json_value.hpp"

namespace report {

/// Says what a figure counts, and thus how it is written and whether more of it is better.
enum class Unit { seconds, bytes, share_of_idleness, samples_per_second };

struct Figure {
  std::string name;  ///< Is the same in every profile, such as "stage 2, forward".
  Unit unit = Unit::seconds;
  double value = 0;
};

/// Returns the figures of a profile.json: of the whole run, then of its stages, its IPUs, and its
/// ops. @throws penstock::Error invalid_data naming the field that is missing or of another kind.
std::vector<Figure> figures_of(const penstock::JsonValue& profile);

/// Reads the figures of `path`, which is a profile.json or the directory that has it.
/// @throws penstock::Error io_error or invalid_data naming the file.
std::vector<Figure> read_figures(const std::filesystem::path& path);

}  // namespace report
