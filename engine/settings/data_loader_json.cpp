#include "penstock/data_loader_json.hpp"

#include <ostream>

#include "engine/settings/json_fields.hpp"

namespace penstock {

// Each structured binding in this file names all fields of a struct, so that a field that is added
// to the struct does not compile until the binding names it.

void each_field(MaybeConst<Partition> auto& partition, const auto& visit) {
  auto& [index, count] = partition;
  visit("index", index);
  visit("count", count);
}

void each_field(MaybeConst<DataLoaderOptions> auto& options, const auto& visit) {
  auto& [shuffle, drop_last, mode, workers, buffered, seed, timeout_seconds, stop_seconds, sampler,
         partition, log, trace_events] = options;
  // Functions of the host's cannot be written as JSON.
  static_cast<void>(sampler);
  static_cast<void>(log);
  visit("shuffle", shuffle);
  visit("drop_last", drop_last);
  visit("mode", mode);
  visit("workers", workers);
  visit("buffered", buffered);
  visit("seed", seed);
  visit("timeout_seconds", timeout_seconds);
  visit("stop_seconds", stop_seconds);
  visit("partition", partition);
  visit("trace_events", trace_events);
}

std::string to_json(const DataLoaderOptions& options) {
  return json_text(options);
}

std::ostream& operator<<(std::ostream& stream, const DataLoaderOptions& options) {
  return stream << to_json(options);
}

DataLoaderOptions data_loader_options_from_json(const JsonValue& json,
                                                const DataLoaderOptions& base) {
  return read_checked("data_loader", json, base);
}

DataLoaderOptions data_loader_options_from_json(std::string_view json,
                                                const DataLoaderOptions& base) {
  return data_loader_options_from_json(parse_json(json), base);
}

}  // namespace penstock
