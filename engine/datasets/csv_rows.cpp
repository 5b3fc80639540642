#include "engine/datasets/csv_rows.hpp"

#include <span>
#include <string_view>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t csv_buffer_bytes = 64 << 10;
// There is a limit because a value of no characters takes more memory than a separator in the file.
constexpr std::size_t most_columns = 65'536;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

}  // namespace

CsvRows::CsvRows(const std::string& path, char separator)
    : path_(printable(path)),
      file_(path, path_),
      separator_(static_cast<unsigned char>(separator)),
      buffer_(csv_buffer_bytes) {
  refill();
  if (std::string_view(buffer_.data(), filled_).starts_with(utf8_mark)) used_ = utf8_mark.size();
}

std::string CsvRows::place() const {
  return path_ + ": line " + std::to_string(first_line_);
}

void CsvRows::refill() {
  filled_ = file_.read(std::as_writable_bytes(std::span(buffer_)));
  used_ = 0;
}

int CsvRows::peek() {
  if (used_ == filled_) refill();
  return used_ == filled_ ? end_of_file : static_cast<unsigned char>(buffer_[used_]);
}

int CsvRows::get() {
  const int c = peek();
  if (c != end_of_file) ++used_;
  if (c == '\n') ++line_;
  return c;
}

bool CsvRows::next() {
  while (peek() != end_of_file)
    if (read_row()) return true;
  return false;
}

/// Reads a row, and returns whether it has a character.
bool CsvRows::read_row() {
  first_line_ = line_;
  count_ = 0;
  const bool is_quoted = peek() == '"';
  while (read_value() == separator_) {
  }
  values_.resize(count_);
  return is_quoted || count_ > 1 || !values_.front().empty();
}

/// Reads a value and the character behind it, and returns that character.
int CsvRows::read_value() {
  if (count_ == most_columns)
    refuse_row("expected at most " + std::to_string(most_columns) + " columns, got more");
  // The strings of earlier rows are used again.
  if (count_ == values_.size()) values_.emplace_back();
  std::string& value = values_[count_++];
  value.clear();
  const int c = get();
  return c == '"' ? read_quoted(value) : read_plain(value, c);
}

int CsvRows::read_plain(std::string& value, int c) {
  for (; c != separator_ && c != '\n' && c != end_of_file; c = get()) {
    if (c == '"') refuse_row("expected a quote at the beginning of a value only, got one within");
    if (c == '\r' && (peek() == '\n' || peek() == end_of_file)) continue;
    value += static_cast<char>(c);
  }
  return c;
}

int CsvRows::read_quoted(std::string& value) {
  for (int c = get();; c = get()) {
    if (c == end_of_file) refuse_row("a value in quotes has no quote at its end");
    if (c != '"') {
      value += static_cast<char>(c);
      continue;
    }
    c = get();
    if (c == '"') {
      value += '"';
      continue;
    }
    if (c == '\r' && (peek() == '\n' || peek() == end_of_file)) c = get();
    if (c == separator_ || c == '\n' || c == end_of_file) return c;
    refuse_row("expected the end of a value behind its quote, got more");
  }
}

void CsvRows::refuse_row(const std::string& text) const {
  throw Error(Errc::corrupt_file, place() + ": " + text);
}

}  // namespace penstock
