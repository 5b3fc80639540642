#include "apps/trainer/options/configuration.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/option_table.hpp"
#include "apps/trainer/options/refuse.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"

namespace trainer {
namespace {

using penstock::JsonValue;
using Kind = JsonValue::Kind;

constexpr std::size_t largest_file = 1'000'000;  // No configuration file may have more bytes.
// The message of a longer refusal is cut to this many bytes.
constexpr std::size_t longest_message = 1500;
std::string read_file(const std::string& file) {
  std::string text(largest_file + 1, '\0');
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.eof() && !stream.good())
    throw penstock::Error(penstock::Errc::io_error,
                          "cannot read it: " + std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > largest_file)
    refuse("expected at most " + std::to_string(largest_file) + " bytes");
  return text;
}

/// Returns the kind of value that the option takes, in words.
std::string expected_kind(const OptionRow& row) {
  if (row.value_name.empty()) return "true or false";
  return row.is_number ? "a number" : "a text";
}

bool has_expected_kind(const OptionRow& row, const JsonValue& value) {
  if (row.value_name.empty()) return value.kind == Kind::boolean;
  return value.kind == (row.is_number ? Kind::number : Kind::text);
}

/// Sets the option that `value` names, if `reads` is true for the option's name. Returns that name,
/// also if `value` has the option by its alias.
std::string set(const JsonValue& value, TrainerOptions& options,
                const std::function<bool(const std::string& name)>& reads) {
  const OptionRow* const row = find_option(value.name);
  if (row == nullptr) refuse("unknown option" + advice_on_unknown(value.name, ""));
  if (!reads(row->name)) return row->name;
  if (value.kind == Kind::null) {
    if (row->get(options)) row->set(options, "");
    return row->name;
  }
  if (!has_expected_kind(*row, value))
    refuse("expected " + expected_kind(*row) + ", got " + describe(value));
  const bool is_switch = value.kind == Kind::boolean;
  row->set(options, is_switch ? (value.truth ? "true" : "false") : value.text);
  return row->name;
}

/// Throws `error` with the name of the file in front of its text.
[[noreturn]] void refuse_file(const std::string& file, const penstock::Error& error) {
  throw penstock::Error(error.code(),
                        excerpt("--config \"" + file + "\": " + error.what(), longest_message));
}

JsonValue written(const OptionRow& row, const std::optional<std::string>& text) {
  JsonValue value{.kind = row.is_number ? Kind::number : Kind::text, .name = row.name};
  if (row.value_name.empty()) value.kind = Kind::boolean;
  value.truth = text.has_value();
  value.text = text.value_or("");
  return value;
}

bool names(const JsonValue& configuration, const std::string& option) {
  return std::ranges::count(configuration.items, option, &JsonValue::name) > 0;
}

/// Does what option_in() does, on a configuration that was read.
std::optional<std::string> text_in(const JsonValue& configuration, const std::string& name) {
  const auto found = std::ranges::find(configuration.items, name, &JsonValue::name);
  if (found == configuration.items.end() || found->kind == Kind::null) return std::nullopt;
  if (found->kind == Kind::boolean) return found->truth ? std::optional("") : std::nullopt;
  return found->text;
}

/// Returns the value of an option as a message shows it.
std::string shown(const OptionRow& row, const std::optional<std::string>& text) {
  if (row.value_name.empty()) return text ? "true" : "false";
  return text ? excerpt(*text, longest_name) : "none";
}

}  // namespace

Configuration read_configuration(const std::string& file) try {
  const JsonValue json = penstock::parse_json(read_file(file));
  if (json.kind != Kind::object)
    refuse("line " + std::to_string(json.line) + ": expected an object, got " + describe(json));
  return {file, json};
} catch (const penstock::Error& error) {
  refuse_file(file, error);
}

OptionLines apply(const Configuration& configuration, TrainerOptions& options,
                  const std::function<bool(const std::string& name)>& reads) try {
  OptionLines lines;
  for (const JsonValue& value : configuration.object.items) try {
      const std::string name = set(value, options, reads);
      if (!lines.emplace(name, value.line).second)
        refuse("is another spelling of " + name + ", which is there in line " +
               std::to_string(lines[name]));
    } catch (const penstock::Error& error) {
      refuse("line " + std::to_string(value.line) + ": " + excerpt(value.name, longest_name) +
             ": " + error.what());
    }
  return lines;
} catch (const penstock::Error& error) {
  refuse_file(configuration.file, error);
}

std::string configuration_text(const TrainerOptions& options, const TrainerOptions& defaults) {
  JsonValue json{.kind = Kind::object};
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows) {
      const auto text = row.get(options);
      if (text || row.value_name.empty())
        json.items.push_back(written(row, text));
      else if (row.get(defaults))
        json.items.push_back({.kind = Kind::null, .name = row.name});
    }
  return to_json(json) + '\n';
}

std::string differences(const std::string& saved, const TrainerOptions& options) {
  const JsonValue configuration = penstock::parse_json(saved);
  const TrainerOptions defaults;
  std::string text;
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows) {
      if (!row.decides_weights) continue;
      // An earlier version, which did not have the option, did what its default asks for.
      const auto before =
          names(configuration, row.name) ? text_in(configuration, row.name) : row.get(defaults);
      const auto now = row.get(options);
      if (before == now) continue;
      text += (text.empty() ? "--" : "; --") + row.name + ": expected " + shown(row, before) +
              ", got " + shown(row, now);
    }
  return text;
}

std::optional<std::string> option_in(const std::string& saved, const std::string& name) {
  return text_in(penstock::parse_json(saved), name);
}

}  // namespace trainer
