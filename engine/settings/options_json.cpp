#include "penstock/options_json.hpp"

#include <ostream>

#include "engine/settings/json_fields.hpp"
#include "graph/values/option_fields.hpp"

namespace penstock {

void each_field(OptionGroup auto& group, const auto& visit) {
  each_option(group, [&](const auto& row) { visit(row.name, row.field); });
}

std::string to_json(const Options& options) {
  return json_text(options);
}

std::ostream& operator<<(std::ostream& stream, const Options& options) {
  return stream << to_json(options);
}

Options options_from_json(const JsonValue& json, const Options& base) {
  return read_checked("options", json, base);
}

Options options_from_json(std::string_view json, const Options& base) {
  return options_from_json(parse_json(json), base);
}

}  // namespace penstock
