#include "apps/monitor/fields.hpp"

#include <algorithm>
#include <charconv>

#include "penstock/error.hpp"
#include "penstock/terminal_text.hpp"

namespace monitor {
namespace {

using penstock::JsonValue;
using Kind = JsonValue::Kind;

[[noreturn]] void refuse(const JsonValue& value, const std::string& expected) {
  throw penstock::Error(penstock::Errc::invalid_argument, "answer, field \"" + value.name +
                                                              "\": expected " + expected +
                                                              ", got " + penstock::describe(value));
}

template <class Number>
Number number_of(const JsonValue& value) {
  Number number{};
  const char* const end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind != Kind::number || error != std::errc() || at != end) refuse(value, "a number");
  return number;
}

}  // namespace

const JsonValue& field(const JsonValue& object, const std::string& name) {
  const auto found = std::ranges::find(object.items, name, &JsonValue::name);
  if (object.kind != Kind::object || found == object.items.end())
    throw penstock::Error(penstock::Errc::invalid_argument,
                          "answer: there is no field \"" + name + '"');
  return *found;
}

std::int64_t whole_number(const JsonValue& value) {
  return number_of<std::int64_t>(value);
}

std::int64_t whole_number(const JsonValue& object, const std::string& name) {
  return whole_number(field(object, name));
}

std::string text(const JsonValue& object, const std::string& name) {
  const JsonValue& value = field(object, name);
  if (value.kind != Kind::text) refuse(value, "a text");
  return penstock::terminal_text(value.text);
}

bool truth(const JsonValue& object, const std::string& name) {
  const JsonValue& value = field(object, name);
  if (value.kind != Kind::boolean) refuse(value, "true or false");
  return value.truth;
}

const std::vector<JsonValue>& list(const JsonValue& object, const std::string& name) {
  const JsonValue& value = field(object, name);
  if (value.kind != Kind::list) refuse(value, "a list");
  return value.items;
}

std::vector<std::string> texts(const JsonValue& object, const std::string& name) {
  std::vector<std::string> texts;
  for (const JsonValue& item : list(object, name)) {
    if (item.kind != Kind::text) refuse(item, "a text");
    texts.push_back(penstock::terminal_text(item.text));
  }
  return texts;
}

std::optional<double> number(const JsonValue& object, const std::string& name) {
  const JsonValue& value = field(object, name);
  if (value.kind == Kind::null) return std::nullopt;
  return number_of<double>(value);
}

std::optional<std::int64_t> optional_whole_number(const JsonValue& object,
                                                  const std::string& name) {
  const JsonValue& value = field(object, name);
  if (value.kind == Kind::null) return std::nullopt;
  return whole_number(value);
}

}  // namespace monitor
