// text_table() writes a table as text for a person to read.
#pragma once

#include <string>
#include <vector>

namespace penstock {

using TextRow = std::vector<std::string>;

/// Returns a line per row. All rows have the same number of cells; columns are as wide as their
/// widest cell, except the last one.
std::string text_table(const std::vector<TextRow>& rows);

}  // namespace penstock
