// These functions print DataLoaderOptions as JSON, and read them from JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/data_loader.hpp"
#include "penstock/json_value.hpp"

namespace penstock {

/// Returns an object with every field by its name, except `sampler` and `log`, which are functions.
/// A seed that is not set is null.
std::string to_json(const DataLoaderOptions& options);
/// Prints `options` as to_json() does.
std::ostream& operator<<(std::ostream& stream, const DataLoaderOptions& options);

/// Returns `base` with those fields replaced that `json` names.
/// @throws Error invalid_argument if `json` is not valid JSON, if it names an unknown field or a
/// field twice, or if a value has the wrong type or is out of range, with a text such as "line 3:
/// data_loader.workers: expected 0 to 1024, got -1".
DataLoaderOptions data_loader_options_from_json(std::string_view json,
                                                const DataLoaderOptions& base = {});
/// Returns what data_loader_options_from_json() of a text returns, for a part of a text that
/// parse_json() has parsed. Error messages count the lines from the beginning of the whole text.
DataLoaderOptions data_loader_options_from_json(const JsonValue& json,
                                                const DataLoaderOptions& base = {});

}  // namespace penstock
