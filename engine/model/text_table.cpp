#include "engine/model/text_table.hpp"

#include <algorithm>

namespace penstock {

std::string text_table(const std::vector<TextRow>& rows) {
  std::string text;
  for (const TextRow& row : rows) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      std::size_t width = 0;
      for (const TextRow& other : rows) width = std::max(width, other[column].size());
      text += row[column] + std::string(width + 2 - row[column].size(), ' ');
    }
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace penstock
