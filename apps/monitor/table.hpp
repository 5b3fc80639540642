// A Table is text in columns, in a frame of lines. Some columns become narrower if the table is too
// wide for its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monitor {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  /// `shrinks` says whether the column becomes narrower if the table is too wide, down to 8
  /// characters.
  bool shrinks = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row, with a cell for each column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const noexcept { return rows_.empty(); }

  /// Returns the lines of the table, with `heading` above the titles. Columns that shrink are cut
  /// until each line has at most `width` characters, as far as that is possible; a `width` of 0 is
  /// no limit.
  std::vector<std::string> lines(const std::string& heading, std::size_t width) const;

 private:
  std::vector<std::size_t> widths(std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns how many characters `text`, which is UTF-8, has.
std::size_t characters_of(std::string_view text);
/// Returns the first `most` characters of `text`; if `text` has more characters, the last one is an
/// ellipsis.
std::string cut(const std::string& text, std::size_t most);

}  // namespace monitor
