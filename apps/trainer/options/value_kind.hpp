// A ValueKind says how the values of one kind of option are read and shown. Reading is strict: the
// whole text must be one value in its range. Any other text is refused by a penstock::Error
// invalid_argument that says what was expected and what the text is; the caller adds the option's
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

template <class T>
struct ValueKind {
  std::string value_name;  ///< `value_name` stands for a value in the help.
  std::function<T(std::string_view text)> read;
  /// Returns a text that `read` reads as the same value.
  std::function<std::string(const T&)> show;
  /// `choices` are the possible values, for the help; the text is empty if there are many.
  std::string choices = {};
  bool is_number = false;  ///< `is_number` says whether the value is one number without a unit.
};

/// Reads whether a switch is on: "true" and an empty text turn it on, and "false" turns it off.
bool read_switch(std::string_view text);

/// Reads whole numbers in [least, most]. T is int, std::int64_t or std::uint64_t.
template <class T>
ValueKind<T> whole_number(T least, T most = std::numeric_limits<T>::max());

/// `smallest_positive` is the smallest number above 0 that the engine can tell from 0: the engine
/// keeps numbers as f32, and takes the denormals of f32 for 0.
constexpr double smallest_positive = std::numeric_limits<float>::min();

/// A NumberRange is a range of finite numbers.
struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<float>::max();
  /// If `open_most` is true, `most` is outside the range, and so is a number that becomes `most`
  /// when the number is rounded to f32.
  bool open_most = false;
};
ValueKind<double> number(const NumberRange& range);

/// Reads any text that is not empty.
ValueKind<std::string> some_text(const std::string& value_name);
ValueKind<std::string> path(const std::string& value_name);
/// Reads one of `values`.
ValueKind<std::string> one_of(const std::vector<std::string>& values);
/// Reads a size with a decimal or binary unit, such as "900MB", "1.5GB" or "64KiB", in bytes.
ValueKind<std::int64_t> byte_size(const std::string& value_name);
/// Reads one of `values`, as to_string() spells it. By default, these are all enumerators that
/// to_string() has a name for.
template <class Enum>
ValueKind<Enum> one_of(std::vector<Enum> values = {}) {
  if (values.empty())
    for (int i = 0; to_string(static_cast<Enum>(i)) != "unknown"; ++i)
      values.push_back(static_cast<Enum>(i));
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(to_string(value));
  const ValueKind<std::string> name = one_of(names);
  return {name.value_name,
          [=](std::string_view text) {
            const std::string chosen = name.read(text);
            std::size_t i = 0;
            while (names[i] != chosen) ++i;
            return values[i];
          },
          [](const Enum& value) { return std::string(to_string(value)); }, name.choices};
}

}  // namespace trainer
