// These functions write plain structs as JSON objects, field by field, and read them back. A field
// that the JSON does not name keeps its value. A struct takes part by a function
// each_field(struct, visit), which calls visit(name, field) for each of the struct's fields. A type
// that is written otherwise has functions written() and read_json() of its own. All functions are
// pure.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/values/field_lists.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"
#include "penstock/nearest_name.hpp"

namespace penstock {

inline JsonValue written(bool truth) {
  return {.kind = JsonValue::Kind::boolean, .truth = truth};
}

JsonValue written(std::integral auto number) {
  return {.kind = JsonValue::Kind::number, .text = std::to_string(number)};
}

inline JsonValue written(double number) {
  return {.kind = JsonValue::Kind::number, .text = number_text(number)};
}

inline JsonValue written(const std::string& text) {
  return {.kind = JsonValue::Kind::text, .text = text};
}

template <class Enum>
requires std::is_enum_v<Enum> JsonValue written(Enum value) {
  return written(std::string(to_string(value)));
}

/// Writes null if there is no value.
template <class T>
JsonValue written(const std::optional<T>& value) {
  return value ? written(*value) : JsonValue{};
}

template <class T>
JsonValue written(const std::vector<T>& values);

template <class T>
JsonValue written(const std::map<std::string, T>& values);

template <class Group>
requires std::is_class_v<Group> JsonValue written(const Group& group) {
  JsonValue json{.kind = JsonValue::Kind::object};
  each_field(group, [&](const char* name, const auto& field) {
    json.items.push_back(written(field));
    json.items.back().name = name;
  });
  return json;
}

template <class T>
JsonValue written(const std::vector<T>& values) {
  JsonValue json{.kind = JsonValue::Kind::list};
  for (const T& value : values) json.items.push_back(written(value));
  return json;
}

template <class T>
JsonValue written(const std::map<std::string, T>& values) {
  JsonValue json{.kind = JsonValue::Kind::object};
  for (const auto& [name, value] : values) {
    json.items.push_back(written(value));
    json.items.back().name = name;
  }
  return json;
}

/// Returns `group` as a JSON text. The caller's floating-point environment makes no difference.
template <class Group>
std::string json_text(const Group& group) {
  return on_hosts_thread("writing JSON", [&] { return to_json(written(group)); });
}

[[noreturn]] inline void refuse_json(const std::string& path, const JsonValue& json,
                                     const std::string& expected) {
  throw Error(Errc::invalid_argument, "line " + std::to_string(json.line) + ": " + printable(path) +
                                          ": expected " + expected + ", got " + describe(json));
}

/// A FieldReader reads values into fields, and remembers the line of each value.
class FieldReader {
 public:
  /// Returns "line 3: " for the field that a message calls `path` or, if that was not read, for the
  /// innermost value around it that was read. Returns an empty text if there is none. If a message
  /// calls several fields by one name, the first of them in the order of their bytes is meant,
  /// because validate() checks names that the host has given in this order.
  std::string line_of(std::string path) const {
    for (const auto& [alias, meant] : aliases_)
      if (path.starts_with(alias + '.')) path.replace(0, alias.size(), meant);
    while (!path.empty()) {
      const auto found = std::ranges::find(lines_, printable(path),
                                           [](const auto& line) { return printable(line.first); });
      if (found != lines_.end()) return "line " + std::to_string(found->second) + ": ";
      const auto end = path.find_last_of(".[");
      path.resize(end == path.npos ? 0 : end);
    }
    return {};
  }

  /// Notes that messages of errors say `alias` where `path` is meant.
  void add_alias(const std::string& alias, const std::string& path) { aliases_[alias] = path; }

  template <class T>
  void read(const std::string& path, const JsonValue& json, T& value) {
    lines_[path] = json.line;
    read_json(*this, path, json, value);
  }

  template <class Group>
  void read_fields(const std::string& path, const JsonValue& json, Group& group) {
    if (json.kind != JsonValue::Kind::object) refuse_json(path, json, "an object");
    for (const JsonValue& item : json.items) read_field(path, item, group);
  }

 private:
  template <class Group>
  void read_field(const std::string& path, const JsonValue& json, Group& group) {
    bool found = false;
    std::vector<std::string_view> names;
    each_field(group, [&](const char* name, auto& field) {
      names.emplace_back(name);
      if (json.name != name) return;
      found = true;
      read(path + '.' + name, json, field);
    });
    if (found) return;
    const std::string_view nearest = nearest_name(json.name, names);
    throw Error(Errc::invalid_argument,
                "line " + std::to_string(json.line) + ": " + printable(path) + ": " +
                    quoted_name(json.name) + " is none of its fields " + joined(names) +
                    (nearest.empty() ? "" : "; did you mean " + quoted_text(nearest) + '?'));
  }

  // `lines_` has the line of each path, with names as the host wrote them.
  std::map<std::string, int> lines_;
  std::map<std::string, std::string> aliases_;
};

template <class Number>
bool reads_as(const JsonValue& json, Number& value) {
  if (json.kind != JsonValue::Kind::number) return false;
  const char* const end = json.text.data() + json.text.size();
  const auto [stop, error] = std::from_chars(json.text.data(), end, value);
  return error == std::errc() && stop == end;
}

inline void read_json(FieldReader&, const std::string& path, const JsonValue& json, bool& value) {
  if (json.kind != JsonValue::Kind::boolean) refuse_json(path, json, "true or false");
  value = json.truth;
}

inline void read_json(FieldReader&, const std::string& path, const JsonValue& json,
                      std::string& value) {
  if (json.kind != JsonValue::Kind::text) refuse_json(path, json, "a text");
  value = json.text;
}

inline void read_json(FieldReader&, const std::string& path, const JsonValue& json, double& value) {
  if (!reads_as(json, value)) refuse_json(path, json, "a number");
}

template <std::integral Number>
void read_json(FieldReader&, const std::string& path, const JsonValue& json, Number& value) {
  using Limits = std::numeric_limits<Number>;
  if (!reads_as(json, value))
    refuse_json(path, json,
                "a whole number from " + std::to_string(Limits::min()) + " to " +
                    std::to_string(Limits::max()));
}

template <class Enum>
requires std::is_enum_v<Enum>
void read_json(FieldReader&, const std::string& path, const JsonValue& json, Enum& value) {
  const std::vector<std::string_view> names = enumerator_names<Enum>();
  const auto found = std::ranges::find(names, json.text);
  if (json.kind != JsonValue::Kind::text || found == names.end())
    refuse_json(path, json, "one of " + joined(names));
  value = static_cast<Enum>(found - names.begin());
}

template <class T>
void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               std::optional<T>& value) {
  value.reset();
  if (json.kind != JsonValue::Kind::null) read_json(reader, path, json, value.emplace());
}

/// Reads a list, which replaces the list in `values`.
template <class T>
void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               std::vector<T>& values) {
  if (json.kind != JsonValue::Kind::list) refuse_json(path, json, "a list");
  values.assign(json.items.size(), T());
  for (std::size_t i = 0; i < values.size(); ++i)
    reader.read(path + '[' + std::to_string(i) + ']', json.items[i], values[i]);
}

/// Reads an object with names that the host has chosen. It replaces what is in `values`.
template <class T>
void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               std::map<std::string, T>& values) {
  if (json.kind != JsonValue::Kind::object) refuse_json(path, json, "an object");
  values.clear();
  for (const JsonValue& item : json.items)
    reader.read(path + '.' + item.name, item, values[item.name]);
}

template <class Group>
requires std::is_class_v<Group>
void read_json(FieldReader& reader, const std::string& path, const JsonValue& json, Group& group) {
  reader.read_fields(path, json, group);
}

/// Returns `base` with the fields that `json` names, after validate() has checked the result. The
/// text of an error begins with the line of the field that it names first.
template <class Group>
Group read_checked(const std::string& name, const JsonValue& json, const Group& base) {
  return on_hosts_thread(name, [&] {
    Group group = base;
    FieldReader reader;
    reader.read_fields(name, json, group);
    try {
      group.validate();
    } catch (const Error& error) {
      const std::string text = error.what();
      throw Error(error.code(), printable(reader.line_of(text.substr(0, text.find(": "))) + text));
    }
    return group;
  });
}

}  // namespace penstock
