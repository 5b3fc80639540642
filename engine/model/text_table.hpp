// Tables and lists as text, for a person to read.
#pragma once

#include <string>
#include <vector>

namespace penstock {

using TextRow = std::vector<std::string>;

/// A line per row, of the same number of cells; columns as wide as their widest cell, the last one
/// apart.
std::string text_table(const std::vector<TextRow>& rows);

/// "a, b".
std::string comma_separated(const std::vector<std::string>& parts);

}  // namespace penstock
