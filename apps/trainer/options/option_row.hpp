// An OptionRow is one option of a run: it says how the option is spelled and explained, and which
// field of TrainerOptions the option sets. An OptionRows builds the rows of one group of fields.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "apps/trainer/options/value_kind.hpp"

namespace trainer {

/// An EngineField describes a field of the engine that an option sets.
struct EngineField {
  std::string name;  ///< `name` is the engine's name of the field, such as "options.topology.ipus".
  /// `value` is the only value of the option that sets the field, or empty if every value sets the
  /// field.
  std::string value = {};
};

struct OptionRow {
  std::string name;
  std::string value_name;  ///< `value_name` is empty for a switch, which takes no value.
  std::string help;
  /// Reads `text` into the option's field. A switch is turned on by "true" and by an empty text,
  /// and off by "false". For an option without a default, an empty text removes the value that has
  /// been set.
  /// @throws penstock::Error if the option cannot have this value.
  std::function<void(TrainerOptions&, const std::string& text)> set;
  /// Returns the text from which `set` would read the field's value. Returns nothing if the field
  /// has no value, or if the option is a switch that is off.
  std::function<std::optional<std::string>(const TrainerOptions&)> get;
  bool is_number = false;  ///< `is_number` says whether the option's text is a number.
  /// `alias` is another spelling of the name, which is read but never shown.
  std::string alias = {};
  /// `is_repeatable` says whether the option may be given several times on the command line. The
  /// texts are joined by commas then.
  bool is_repeatable = false;
  /// `engine_fields` are the engine's fields that the option sets. Where a message of the engine
  /// names such a field, the trainer prints the option instead.
  std::vector<EngineField> engine_fields = {};
  /// `decides_weights` says whether the trained weights depend on the option, so that a run that
  /// goes on from a checkpoint has to have the same value.
  bool decides_weights = false;
  /// `is_for_downloads` says whether the option changes something beside --download, which runs
  /// nothing.
  bool is_for_downloads = false;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionRow> rows;
};

template <class Group>
class OptionRows {
 public:
  OptionRows(std::string title, Group TrainerOptions::*group)
      : group_(group), built_{std::move(title), {}} {}

  /// Adds a switch, which is off by default.
  OptionRows& add(const std::string& name, bool Group::*field, const std::string& help) {
    const auto set = [group = group_, field](TrainerOptions& options, const std::string& text) {
      (options.*group).*field = read_switch(text);
    };
    const auto get = [group = group_, field](const TrainerOptions& options) {
      return (options.*group).*field ? std::optional<std::string>("") : std::nullopt;
    };
    built_.rows.push_back({name, "", help, set, get});
    return *this;
  }

  /// Adds an option whose default is the default of the field. The help shows the default.
  template <class T>
  OptionRows& add(const std::string& name, T Group::*field, const ValueKind<T>& kind,
                  const std::string& help) {
    const std::string shown = kind.show(Group{}.*field);
    return add_row(name, field, kind, with_choices(help, kind) + " [" + shown + "]");
  }

  /// Adds an option whose field has no value by default.
  template <class T>
  OptionRows& add(const std::string& name, std::optional<T> Group::*field, const ValueKind<T>& kind,
                  const std::string& help) {
    return add_row(name, field, kind, with_choices(help, kind));
  }

  /// Adds rows that were built elsewhere. They may set other fields than those of `Group`.
  OptionRows& add_rows(const std::vector<OptionRow>& rows) {
    built_.rows.insert(built_.rows.end(), rows.begin(), rows.end());
    return *this;
  }

  /// Gives the option that was added last another spelling.
  OptionRows& also_called(const std::string& alias) {
    built_.rows.back().alias = alias;
    return *this;
  }

  /// Lets the option that was added last be given several times on the command line.
  OptionRows& repeatable() {
    built_.rows.back().is_repeatable = true;
    return *this;
  }

  /// Notes that the option that was added last sets the field that the engine calls `engine_field`.
  /// If `value` is not empty, only that value of the option sets the field.
  OptionRows& sets(const std::string& engine_field, const std::string& value = "") {
    built_.rows.back().engine_fields.push_back({engine_field, value});
    return *this;
  }

  /// Notes that the trained weights depend on the option that was added last.
  OptionRows& decides_weights() {
    built_.rows.back().decides_weights = true;
    return *this;
  }

  /// Notes that the trained weights depend on all options that were added, but for those that
  /// `except` names.
  OptionRows& all_decide_weights(const std::set<std::string>& except = {}) {
    for (OptionRow& row : built_.rows) row.decides_weights = !except.contains(row.name);
    return *this;
  }

  /// Notes that the option that was added last changes something beside --download.
  OptionRows& for_downloads() {
    built_.rows.back().is_for_downloads = true;
    return *this;
  }

  /// Notes that all options that were added change something beside --download.
  OptionRows& all_for_downloads() {
    for (OptionRow& row : built_.rows) row.is_for_downloads = true;
    return *this;
  }

  OptionGroup take() { return std::move(built_); }

 private:
  template <class T>
  static std::string with_choices(const std::string& help, const ValueKind<T>& kind) {
    return kind.choices.empty() ? help : help + ": " + kind.choices;
  }

  template <class Field, class T>
  OptionRows& add_row(const std::string& name, Field Group::*field, const ValueKind<T>& kind,
                      const std::string& help) {
    const auto set = [group = group_, field, read = kind.read](TrainerOptions& options,
                                                               const std::string& text) {
      Field& value = (options.*group).*field;
      if constexpr (!std::is_same_v<Field, T>)
        if (text.empty() && value) return value.reset();
      value = read(text);
    };
    const auto get = [group = group_, field, show = kind.show](const TrainerOptions& options) {
      const std::optional<T> value = (options.*group).*field;
      return value ? std::optional(show(*value)) : std::nullopt;
    };
    built_.rows.push_back({name, kind.value_name, help, set, get, kind.is_number});
    return *this;
  }

  Group TrainerOptions::*group_;
  OptionGroup built_;
};

}  // namespace trainer
