// A JsonObject is a JSON object under construction. json_of() makes JSON of plain values.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/json_value.hpp"

namespace penstock {

/// Returns `number` as JSON. JSON has no word for nan and infinity, which become null.
inline JsonValue json_of(double number) {
  if (!std::isfinite(number)) return {};
  return {.kind = JsonValue::Kind::number, .text = number_text(number)};
}
inline JsonValue json_of(std::integral auto number) {
  return {.kind = JsonValue::Kind::number, .text = std::to_string(number)};
}
inline JsonValue json_of(bool truth) {
  return {.kind = JsonValue::Kind::boolean, .truth = truth};
}
/// Returns at most 4000 bytes of `text`, in which control characters have become "?".
inline JsonValue json_of(std::string_view text) {
  return {.kind = JsonValue::Kind::text, .text = printable(text)};
}
inline JsonValue json_of(const char* text) {
  return json_of(std::string_view(text));
}
inline JsonValue json_of(const std::string& text) {
  return json_of(std::string_view(text));
}
inline JsonValue json_of(JsonValue value) {
  return value;
}
template <class Item>
JsonValue json_of(const std::vector<Item>& items) {
  JsonValue list{.kind = JsonValue::Kind::list};
  for (const Item& item : items) list.items.push_back(json_of(item));
  return list;
}

class JsonObject {
 public:
  JsonObject& add(std::string_view name, const auto& value) {
    JsonValue item = json_of(value);
    item.name = name;
    object_.items.push_back(std::move(item));
    return *this;
  }
  JsonValue take() { return std::move(object_); }

 private:
  JsonValue object_{.kind = JsonValue::Kind::object};
};

}  // namespace penstock
