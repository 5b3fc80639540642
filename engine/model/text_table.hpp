// Tables as text, for a person to read.
#pragma once

#include <string>
#include <vector>

namespace penstock {

using TextRow = std::vector<std::string>;

/// A line per row, of the same number of cells; columns as wide as their widest cell, the last one
/// apart.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace penstock
