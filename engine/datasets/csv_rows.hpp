// CsvRows gives the rows of a text file of values with separators, from front to back. It keeps one
// row at a time. The file may be damaged or hostile. One thread uses a CsvRows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/files/input_file.hpp"

namespace penstock {

class CsvRows {
 public:
  /// Opens the file at `path`. @throws Error io_error naming the file; std::bad_alloc.
  CsvRows(const std::string& path, char separator);

  /// Reads the next row that has a character. Returns false if there is none. @throws Error
  /// io_error; corrupt_file, naming the file and the line.
  bool next();
  /// Returns the values of the row, without quotes.
  const std::vector<std::string>& values() const noexcept { return values_; }
  /// Returns the number of the line, from 1, in which the row begins.
  std::int64_t line() const noexcept { return first_line_; }
  /// Returns the file's name and the row's line, as messages begin with them.
  std::string place() const;
  /// Returns the file's name as messages show it.
  const std::string& path() const noexcept { return path_; }

 private:
  static constexpr int end_of_file = -1;

  int get();
  int peek();
  void refill();
  bool read_row();
  int read_value();
  int read_quoted(std::string& value);
  int read_plain(std::string& value, int c);
  [[noreturn]] void refuse_row(const std::string& text) const;

  std::string path_;
  InputFile file_;
  int separator_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  std::int64_t line_ = 1;
  std::int64_t first_line_ = 1;
  std::vector<std::string> values_;
  std::size_t count_ = 0;  ///< The row that is being read has this many values so far.
};

}  // namespace penstock
