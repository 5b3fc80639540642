// metrics_lines() reads the file that the trainer's option --metrics wrote, line by line.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {

/// Returns the lines of the file: one for each step, and then the summary.
inline std::vector<nlohmann::json> metrics_lines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(file_content(path));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace penstock::testing
