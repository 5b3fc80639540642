#include "penstock/json_value.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/files/weights_header.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;
using Kind = JsonValue::Kind;

constexpr std::size_t deepest = 32;  // trees are destroyed recursively
constexpr std::size_t longest_number = 40;

[[noreturn]] void refuse(int line, const std::string& what) {
  throw Error(Errc::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

/// A text's characters, from the first to the last, telling how far the parser has come.
class Characters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Characters(const char* at, const char*& reached) : at_(at), reached_(&reached) {}
  reference operator*() const { return *at_; }
  Characters& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Characters operator++(int) {
    Characters before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Characters& other) const { return at_ == other.at_; }
  bool operator!=(const Characters& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Builds the tree from the parser's events.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(std::string_view text) : counted_(text.data()), reached_(text.data()) {}

  const char*& reached() { return reached_; }
  JsonValue take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool truth) override { return add({.kind = Kind::boolean, .truth = truth}); }
  bool number_integer(number_integer_t number) override {
    return add_number(std::to_string(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return add_number(std::to_string(number));
  }
  bool number_float(number_float_t, const string_t& spelling) override {
    return add_number(spelling);
  }
  bool string(string_t& text) override { return add({.kind = Kind::text, .text = text}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open({.kind = Kind::object}); }
  bool start_array(std::size_t) override { return open({.kind = Kind::list}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [first, is_new] = open_.back().names.emplace(name, line());
    if (!is_new)
      refuse(line(),
             quoted_name(name) + " is there twice, first in line " + std::to_string(first->second));
    name_ = name;
    return true;
  }

  bool parse_error(std::size_t, const std::string& read, const Json::exception& error) override {
    constexpr int out_of_range = 406;
    if (error.id == out_of_range)
      refuse(line(), place() + "expected a number that a double can hold, got " +
                         read.substr(0, longest_number));
    const std::string text = error.what();
    const auto reason = text.find(" - ");
    refuse(line(), "not valid JSON" + (reason == text.npos ? "" : ": " + text.substr(reason + 3)));
  }

 private:
  struct OpenValue {
    JsonValue* value;
    std::map<std::string, int> names = {};  ///< of an object, with their lines
  };

  bool add_number(const std::string& spelling) {
    return add({.kind = Kind::number, .text = spelling});
  }

  bool add(JsonValue value) {
    insert(std::move(value));
    return true;
  }

  bool open(JsonValue value) {
    if (open_.size() == deepest)
      refuse(line(), "nested more than " + std::to_string(deepest) + " deep");
    JsonValue& opened = insert(std::move(value));
    open_.push_back({&opened});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// "runtime.stall_seconds: " for the value that comes next; nothing for the whole text.
  std::string place() const {
    std::string path;
    const auto add = [&](const JsonValue& parent, const std::string& name, std::size_t position) {
      if (parent.kind == Kind::list)
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
    return path + ": ";
  }

  /// Pointers to open values stay good: only the innermost one grows.
  JsonValue& insert(JsonValue value) {
    value.line = line();
    if (open_.empty()) return root_ = std::move(value);
    JsonValue& parent = *open_.back().value;
    if (parent.kind == Kind::object) value.name = std::move(name_);
    return parent.items.emplace_back(std::move(value));
  }

  /// Of the last character that belongs to what was read: behind a number the parser has seen one
  /// more, which may be the line's end.
  int line() {
    if (reached_ == counted_) return line_;
    line_ += static_cast<int>(std::count(counted_, reached_ - 1, '\n'));
    counted_ = reached_ - 1;
    return line_;
  }

  const char* counted_;  ///< the characters before are in line_
  const char* reached_;
  int line_ = 1;
  std::string name_;
  JsonValue root_;
  std::vector<OpenValue> open_;
};

std::string quoted_text(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    throw Error(Errc::invalid_argument, quoted_name(text) + " is not valid UTF-8");
  }
}

/// Appends `value`. Without an indentation, as in lists, it is one line.
void write(std::string& out, const JsonValue& value, std::optional<int> indentation) {
  const auto write_items = [&](char begin, char end, std::optional<int> inner) {
    const auto break_line = [&](std::optional<int> columns) {
      if (columns) out.append(1, '\n').append(static_cast<std::size_t>(*columns), ' ');
    };
    out += begin;
    for (const JsonValue& item : value.items) {
      if (&item != value.items.data()) out += inner ? "," : ", ";
      break_line(inner);
      if (value.kind == Kind::object) out += quoted_text(item.name) + ": ";
      write(out, item, inner);
    }
    if (!value.items.empty() && inner) break_line(indentation);
    out += end;
  };
  switch (value.kind) {
    case Kind::text:
      out += quoted_text(value.text);
      break;
    case Kind::number:
      out += value.text;
      break;
    case Kind::list:
      write_items('[', ']', std::nullopt);
      break;
    case Kind::object:
      write_items('{', '}', indentation ? std::optional(*indentation + 2) : std::nullopt);
      break;
    default:
      out += describe(value);
  }
}

}  // namespace

JsonValue parse_json(std::string_view text) {
  TreeBuilder builder(text);
  const char* unread = nullptr;
  const char* const end = text.data() + text.size();
  Json::sax_parse(Characters(text.data(), builder.reached()), Characters(end, unread), &builder);
  return builder.take();
}

std::string to_json(const JsonValue& value) {
  std::string out;
  write(out, value, 0);
  return out;
}

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return value.truth ? "true" : "false";
    case Kind::number:
      return value.text.substr(0, longest_number);
    case Kind::text:
      return quoted_name(value.text);
    case Kind::list:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return {};
}

}  // namespace penstock
