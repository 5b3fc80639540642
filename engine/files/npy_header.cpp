#include "engine/files/npy_header.hpp"

#include <charconv>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

// NumPy's arrays have up to 64 dimensions.
constexpr std::size_t most_npy_dims = 64;

/// An NpyHeaderReader reads a header's text from front to back.
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(std::string_view text) : text_(text) {}

  NpyHeader read() {
    expect('{');
    while (!takes('}')) {
      read_entry();
      if (!takes(',') && peek() != '}') fail("a comma or \"}\"");
    }
    if (peek() != '\0' || at_ != text_.size()) fail("nothing behind the dictionary");
    if (!has_type_ || !has_order_ || !has_shape_)
      throw Error(Errc::corrupt_file,
                  "header: expected the entries descr, fortran_order and shape, got fewer");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw Error(Errc::corrupt_file,
                "header: expected " + expected + " at byte " + std::to_string(at_));
  }

  /// Skips spaces, and returns the next character, or NUL at the end of the text.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// Moves behind the next character if that is `wanted`, and returns whether it is.
  bool takes(char wanted) {
    const bool is_there = peek() == wanted;
    if (is_there) ++at_;
    return is_there;
  }

  void expect(char wanted) {
    if (!takes(wanted)) fail(std::string("\"") + wanted + '"');
  }

  bool takes_word(std::string_view word) {
    peek();
    const bool is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }

  std::string_view read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a text in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("a text that ends with a quote");
    const std::string_view string = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return string;
  }

  void read_entry() {
    const std::string_view key = read_string();
    expect(':');
    if (key == "descr")
      once(has_type_, [&] { header_.type = read_type(); });
    else if (key == "fortran_order")
      once(has_order_, [&] { header_.fortran_order = read_bool(); });
    else if (key == "shape")
      once(has_shape_, [&] { read_dims(); });
    else
      throw Error(Errc::corrupt_file,
                  "header: expected descr, fortran_order or shape, got " + quoted_name(key));
  }

  void once(bool& has, const auto& read_value) {
    if (has) fail("each entry once");
    has = true;
    read_value();
  }

  std::string_view read_type() {
    if (peek() == '[')
      throw Error(Errc::unsupported, "expected elements that are numbers, got records of fields");
    return read_string();
  }

  bool read_bool() {
    const bool is_true = takes_word("True");
    if (!is_true && !takes_word("False")) fail("True or False");
    return is_true;
  }

  void read_dims() {
    expect('(');
    while (!takes(')')) {
      header_.dims.push_back(read_dim());
      if (header_.dims.size() > most_npy_dims) fail("at most 64 dimensions");
      if (!takes(',') && peek() != ')') fail("a comma or \")\"");
    }
  }

  std::int64_t read_dim() {
    peek();
    std::int64_t dim = 0;
    const char* const begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
    if (error != std::errc() || dim < 0) fail("a dimension from 0 to 2^63 - 1");
    at_ += static_cast<std::size_t>(stop - begin);
    return dim;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  return NpyHeaderReader(text).read();
}

std::string to_text(const NpyHeader& header) {
  std::string dims;
  for (const std::int64_t dim : header.dims) dims += std::to_string(dim) + ", ";
  // Python writes a tuple of one as "(3,)", and a longer one without a comma at its end.
  if (!dims.empty()) dims.resize(dims.size() - (header.dims.size() == 1 ? 1 : 2));
  return "{'descr': '" + header.type +
         "', 'fortran_order': " + (header.fortran_order ? "True" : "False") + ", 'shape': (" +
         dims + "), }";
}

}  // namespace penstock
