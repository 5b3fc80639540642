// DataLoaderOptions as JSON: printed, written to a file, read back, or merged into others field by
// field.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/data_loader.hpp"
#include "penstock/json_value.hpp"

namespace penstock {

/// Every field by its name; all but `sampler`, which is a function. No seed is null.
std::string to_json(const DataLoaderOptions& options);
/// Prints to_json().
std::ostream& operator<<(std::ostream& stream, const DataLoaderOptions& options);

/// `base` with the fields that `json` names. What it does not name stays as it is.
/// @throws Error invalid_argument if it is no JSON, names what is no field or names it twice, or if
/// a value has the wrong type or is outside its range: "line 3: data_loader.workers: expected 0 to
/// 1024, got -1".
DataLoaderOptions data_loader_options_from_json(std::string_view json,
                                                const DataLoaderOptions& base = {});
/// The same of a part of a text, whose lines are counted from the text's first.
DataLoaderOptions data_loader_options_from_json(const JsonValue& json,
                                                const DataLoaderOptions& base = {});

}  // namespace penstock
