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

#include "apps/trainer/options/options.hpp"

namespace trainer {

template <class T>
struct ValueKind {
  std::string value_name;  ///< Stands for a value in the help.
  std::function<T(std::string_view text)> read;
  /// Returns a text that `read` reads as the same value.
  std::function<std::string(const T&)> show;
  std::string choices = {};  ///< Lists the possible values for the help; empty if there are many.
  bool is_number = false;    ///< Says that the value is one number without a unit.
};

/// Reads whether a switch is on: "true" and an empty text turn it on, and "false" turns it off.
bool read_switch(std::string_view text);

/// Reads whole numbers in [least, most]. T is int, std::int64_t or std::uint64_t.
template <class T>
ValueKind<T> whole_number(T least, T most = std::numeric_limits<T>::max());

/// Is the smallest number above 0 that the engine can tell from 0: it keeps numbers as f32, and
/// takes the denormals of f32 for 0.
constexpr double smallest_positive = std::numeric_limits<float>::min();

/// Is a range of finite numbers.
struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<float>::max();
  /// Says that `most` is outside, and so is a number that is `most` when it is rounded to f32.
  bool open_most = false;
};
ValueKind<double> number(const NumberRange& range);

ValueKind<std::string> path(const std::string& value_name);
/// Reads one of `values`.
ValueKind<std::string> one_of(const std::vector<std::string>& values);
/// Reads whole numbers from 0 to `most`, separated by commas.
ValueKind<std::vector<int>> number_list(const std::string& value_name, int most);
/// Reads "all", for which the list is empty, or whole numbers from 0 to `most`, separated by
/// commas.
ValueKind<std::vector<int>> stage_numbers(const std::string& value_name, int most);
/// Reads a size with a decimal or binary unit, such as "900MB", "1.5GB" or "64KiB", in bytes.
ValueKind<std::int64_t> byte_size(const std::string& value_name);
/// Reads blocks that are grouped into stages, such as "B1,B2|B3,B4", or "auto", or "auto:" and a
/// number of stages from 1 to `most`.
ValueKind<StagesOption> stage_list(const std::string& value_name, int most);
/// Reads stages that are grouped into phases, such as "B1|B2;B3".
ValueKind<std::vector<penstock::Phase>> phase_list(const std::string& value_name);

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
