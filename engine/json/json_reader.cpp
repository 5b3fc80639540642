#include "engine/json/json_reader.hpp"

#include "engine/json/json_string.hpp"

namespace penstock {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class JsonReader {
 public:
  JsonReader(std::string_view text, JsonEvents& events) : text_(text), events_(events) {}

  void read() {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    do {
      read_value();
      while (!open_.empty() && !go_on()) {
      }
    } while (!open_.empty());
    skip_space();
    if (at_ < text_.size()) fail("expected nothing behind the value");
  }

 private:
  [[noreturn]] void fail(const char* reason) const { throw events_.failure(at_, reason); }

  /// Returns the next character, or NUL at the end of the text. JSON has no NUL within the text.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  /// Reads a whole value or, if the value is an object or a list, its opening bracket only.
  void read_value() {
    skip_space();
    const std::size_t begin = at_;
    switch (peek()) {
      case '{':
        return open(begin, '}');
      case '[':
        return open(begin, ']');
      case '"':
        return events_.text(read_string(), begin);
      case 't':
        expect("true", "expected a value");
        return events_.boolean(true, begin);
      case 'f':
        expect("false", "expected a value");
        return events_.boolean(false, begin);
      case 'n':
        expect("null", "expected a value");
        return events_.null(begin);
      default:
        return read_number();
    }
  }

  void open(std::size_t begin, char end) {
    if (end == '}')
      events_.begin_object(begin);
    else
      events_.begin_list(begin);
    open_ += end;
    is_empty_ = true;
    ++at_;
  }

  /// Reads on behind a value or an opening bracket. Returns whether another value follows in the
  /// innermost open object or list; if none does, that object or list is closed.
  bool go_on() {
    skip_space();
    const bool in_object = open_.back() == '}';
    if (peek() == open_.back()) {
      close();
      return false;
    }
    if (!is_empty_) expect(",", in_object ? "expected ',' or '}'" : "expected ',' or ']'");
    is_empty_ = false;
    if (in_object) read_key();
    return true;
  }

  void close() {
    ++at_;
    is_empty_ = false;
    const char end = open_.back();
    open_.pop_back();
    if (end == '}')
      events_.end_object();
    else
      events_.end_list();
  }

  void read_key() {
    skip_space();
    if (peek() != '"') fail("expected a key in quotes");
    const std::size_t begin = at_;
    events_.key(read_string(), begin);
    skip_space();
    expect(":", "expected ':' behind a key");
  }

  void expect(std::string_view word, const char* reason) {
    if (!text_.substr(at_).starts_with(word)) fail(reason);
    at_ += word.size();
  }

  std::string read_string() {
    std::string value;
    const JsonStringEnd end = read_json_string(text_, at_, value);
    at_ = end.at;
    if (end.reason) fail(end.reason);
    return value;
  }

  void read_number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (!is_digit(peek())) fail(at_ == begin ? "expected a value" : "expected a digit");
    if (peek() == '0')
      ++at_;
    else
      expect_digits();
    if (peek() == '.') {
      ++at_;
      expect_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      expect_digits();
    }
    events_.number(text_.substr(begin, at_ - begin), begin);
  }

  void expect_digits() {
    if (!is_digit(peek())) fail("expected a digit");
    while (is_digit(peek())) ++at_;
  }

  std::string_view text_;
  JsonEvents& events_;
  std::size_t at_ = 0;
  // `open_` has the ends of the objects and lists that are open, the innermost last.
  std::string open_;
  // `is_empty_` says whether the innermost open object or list has no value yet.
  bool is_empty_ = false;
};

}  // namespace

void read_json_text(std::string_view text, JsonEvents& events) {
  JsonReader(text, events).read();
}

}  // namespace penstock
