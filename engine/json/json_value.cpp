#include "penstock/json_value.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "engine/json/json_reader.hpp"
#include "engine/json/json_string.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using JsonKind = JsonValue::Kind;

constexpr std::size_t deepest = 32;  // There is a limit because trees are destroyed recursively.
constexpr std::size_t longest_number = 40;

Error error_in(int line, const std::string& what) {
  return {Errc::invalid_argument, "line " + std::to_string(line) + ": " + what};
}

[[noreturn]] void refuse(int line, const std::string& what) {
  throw error_in(line, what);
}

/// Returns whether a number that no double can hold is too large for a double. If it is not, it is
/// too close to 0.
bool is_too_large(std::string_view spelling) {
  const auto exponent_at = std::min(spelling.find_first_of("eE"), spelling.size());
  const std::string_view digits = spelling.substr(0, exponent_at);
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = digits.find_first_of("123456789");
  if (first == digits.npos) return false;
  std::int64_t exponent = 0;
  std::string_view written = spelling.substr(std::min(exponent_at + 1, spelling.size()));
  if (written.starts_with('+')) written.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(written.data(), written.data() + written.size(), exponent);
  if (error == std::errc::result_out_of_range) return !written.starts_with('-');
  // The comparison is written so that no exponent overflows: `first` and `point` are positions in
  // the text.
  return exponent > static_cast<std::int64_t>(first) - point;
}

/// Returns whether a double can hold the number. A number that is too close to 0 counts as a number
/// that a double can hold.
bool fits_a_double(std::string_view spelling) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(spelling.data(), spelling.data() + spelling.size(), number);
  return error != std::errc::result_out_of_range || !is_too_large(spelling);
}

/// A TreeBuilder makes the tree from the parser's events.
class TreeBuilder : public JsonEvents {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  JsonValue take() { return std::move(root_); }

  void null(std::size_t at) override { add({}, at); }
  void boolean(bool truth, std::size_t at) override {
    add({.kind = JsonKind::boolean, .truth = truth}, at);
  }
  void text(std::string&& value, std::size_t at) override {
    add({.kind = JsonKind::text, .text = std::move(value)}, at);
  }
  void begin_object(std::size_t at) override { open({.kind = JsonKind::object}, at); }
  void begin_list(std::size_t at) override { open({.kind = JsonKind::list}, at); }
  void end_object() override { open_.pop_back(); }
  void end_list() override { open_.pop_back(); }

  void number(std::string_view spelling, std::size_t at) override {
    if (!fits_a_double(spelling))
      refuse(line_of(at), place() + "expected a number that a double can hold, got " +
                              shortened(spelling, longest_number));
    add({.kind = JsonKind::number, .text = std::string(spelling)}, at);
  }

  void key(std::string&& name, std::size_t at) override {
    const auto [first, is_new] = open_.back().names.emplace(name, line_of(at));
    if (!is_new)
      refuse(line_of(at),
             quoted_name(name) + " is there twice, first in line " + std::to_string(first->second));
    name_ = std::move(name);
  }

  Error failure(std::size_t at, const char* reason) override {
    const std::size_t last = text_.empty() ? 0 : text_.size() - 1;
    return error_in(line_of(std::min(at, last)), std::string("not valid JSON: ") + reason);
  }

 private:
  struct OpenValue {
    JsonValue* value;
    std::map<std::string, int> names = {};  ///< `names` has the lines of the names in an object.
  };

  void add(JsonValue value, std::size_t at) { insert(std::move(value), at); }

  void open(JsonValue value, std::size_t at) {
    if (open_.size() == deepest)
      refuse(line_of(at), "nested more than " + std::to_string(deepest) + " deep");
    JsonValue& opened = insert(std::move(value), at);
    open_.push_back({&opened});
  }

  /// Returns where the next value stands, as a text such as "runtime.stall_seconds: ", or an empty
  /// text if the next value is the whole text.
  std::string place() const {
    std::string path;
    const auto add = [&](const JsonValue& parent, const std::string& name, std::size_t position) {
      if (parent.kind == JsonKind::list)
        path += '[' + std::to_string(position) + ']';
      else
        path += (path.empty() ? "" : ".") + name;
    };
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const JsonValue& parent = *open_[i - 1].value;
      add(parent, open_[i].value->name, parent.items.size() - 1);
    }
    if (open_.empty()) return path;
    add(*open_.back().value, name_, open_.back().value->items.size());
    return printable(path) + ": ";
  }

  /// Adds a value to the innermost open value, or as the root if no value is open. Pointers to open
  /// values stay valid, because only the innermost of them grows.
  JsonValue& insert(JsonValue value, std::size_t at) {
    value.line = line_of(at);
    if (open_.empty()) return root_ = std::move(value);
    JsonValue& parent = *open_.back().value;
    if (parent.kind == JsonKind::object) value.name = std::move(name_);
    return parent.items.emplace_back(std::move(value));
  }

  /// Returns the line of the byte at `at`, or the line that was returned last if that is greater.
  int line_of(std::size_t at) {
    const auto counted = text_.begin() + static_cast<std::ptrdiff_t>(std::min(counted_, at));
    line_ += static_cast<int>(
        std::count(counted, text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted_ = std::max(counted_, at);
    return line_;
  }

  std::string_view text_;
  /// `counted_` is the number of bytes whose line ends are counted in `line_`.
  std::size_t counted_ = 0;
  int line_ = 1;
  std::string name_;
  JsonValue root_;
  std::vector<OpenValue> open_;
};

std::string text_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return value.truth ? "true" : "false";
    case JsonKind::number:
      return shortened(value.text, longest_number);
    case JsonKind::text:
      return quoted_name(value.text);
    case JsonKind::list:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return {};
}

/// Appends `value` to `out`. The last line of an object is indented by `indentation` columns, and
/// the lines of its items by two more. If `indentation` is empty, as it is inside lists, the value
/// is one line.
void write(std::string& out, const JsonValue& value, std::optional<int> indentation) {
  const auto write_items = [&](char begin, char end, std::optional<int> inner) {
    const auto break_line = [&](std::optional<int> columns) {
      if (columns) out.append(1, '\n').append(static_cast<std::size_t>(*columns), ' ');
    };
    out += begin;
    for (const JsonValue& item : value.items) {
      if (&item != value.items.data()) out += inner ? "," : ", ";
      break_line(inner);
      if (value.kind == JsonKind::object) out += json_string(item.name) + ": ";
      write(out, item, inner);
    }
    if (!value.items.empty() && inner) break_line(indentation);
    out += end;
  };
  switch (value.kind) {
    case JsonKind::text:
      out += json_string(value.text);
      break;
    case JsonKind::number:
      out += value.text;
      break;
    case JsonKind::list:
      write_items('[', ']', std::nullopt);
      break;
    case JsonKind::object:
      write_items('{', '}', indentation ? std::optional(*indentation + 2) : std::nullopt);
      break;
    default:
      out += text_of(value);
  }
}

}  // namespace

JsonValue parse_json(std::string_view text) {
  return on_hosts_thread("reading JSON", [&] {
    TreeBuilder builder(text);
    read_json_text(text, builder);
    return builder.take();
  });
}

std::string to_json(const JsonValue& value) {
  return or_out_of_memory("writing JSON", [&] {
    std::string out;
    write(out, value, 0);
    return out;
  });
}

std::string describe(const JsonValue& value) {
  return or_out_of_memory("a JSON value", [&] { return text_of(value); });
}

}  // namespace penstock
