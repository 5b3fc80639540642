#include "penstock/options_json.hpp"

#include <charconv>
#include <concepts>
#include <limits>
#include <map>
#include <ostream>
#include <type_traits>
#include <vector>

#include "engine/files/weights_header.hpp"
#include "engine/values/number_range.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"

namespace penstock {
namespace {

using Kind = JsonValue::Kind;

template <class T, class Group>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Group>;

// The fields of each group. The bindings name all of them: a new one must be listed here, or this
// does not compile.

void each_field(MaybeConst<Stage> auto& stage, const auto& visit) {
  auto& [blocks, ipu] = stage;
  visit("blocks", blocks);
  visit("ipu", ipu);
}

void each_field(MaybeConst<Phase> auto& phase, const auto& visit) {
  auto& [stages] = phase;
  visit("stages", stages);
}

void each_field(MaybeConst<PhasedOptions> auto& phased, const auto& visit) {
  auto& [phases, separate_backward_phase, batch_serial] = phased;
  visit("phases", phases);
  visit("separate_backward_phase", separate_backward_phase);
  visit("batch_serial", batch_serial);
}

void each_field(MaybeConst<Topology> auto& topology, const auto& visit) {
  auto& [strategy, schedule, stages, stage_rule, automatic_stages, ipus, ipu_memory_bytes,
         replication_factor, input_group_size, threads_per_ipu, phased] = topology;
  visit("strategy", strategy);
  visit("schedule", schedule);
  visit("stages", stages);
  visit("stage_rule", stage_rule);
  visit("automatic_stages", automatic_stages);
  visit("ipus", ipus);
  visit("ipu_memory_bytes", ipu_memory_bytes);
  visit("replication_factor", replication_factor);
  visit("input_group_size", input_group_size);
  visit("threads_per_ipu", threads_per_ipu);
  visit("phased", phased);
}

void each_field(MaybeConst<Offload> auto& offload, const auto& visit) {
  auto& [on, minimum_bytes] = offload;
  visit("on", on);
  visit("minimum_bytes", minimum_bytes);
}

void each_field(MaybeConst<OffloadOptions> auto& offload, const auto& visit) {
  auto& [optimizer_state, accumulators, activations, weights] = offload;
  visit("optimizer_state", optimizer_state);
  visit("accumulators", accumulators);
  visit("activations", activations);
  visit("weights", weights);
}

void each_field(MaybeConst<ReplicaSharding> auto& sharding, const auto& visit) {
  auto& [on, minimum_elements] = sharding;
  visit("on", on);
  visit("minimum_elements", minimum_elements);
}

void each_field(MaybeConst<ShardingOptions> auto& sharding, const auto& visit) {
  auto& [optimizer_state] = sharding;
  visit("optimizer_state", optimizer_state);
}

void each_field(MaybeConst<TrainingOptions> auto& training, const auto& visit) {
  auto& [gradient_accumulation, reduction, reduction_strategy, offload, sharding, recompute,
         recompute_stages] = training;
  visit("gradient_accumulation", gradient_accumulation);
  visit("reduction", reduction);
  visit("reduction_strategy", reduction_strategy);
  visit("offload", offload);
  visit("sharding", sharding);
  visit("recompute", recompute);
  visit("recompute_stages", recompute_stages);
}

void each_field(MaybeConst<Anchor> auto& anchor, const auto& visit) {
  auto& [name, tensor, gradient, mode, period] = anchor;
  visit("name", name);
  visit("tensor", tensor);
  visit("gradient", gradient);
  visit("mode", mode);
  visit("period", period);
}

void each_field(MaybeConst<OutputOptions> auto& output, const auto& visit) {
  auto& [mode, period, anchors] = output;
  visit("mode", mode);
  visit("period", period);
  visit("anchors", anchors);
}

void each_field(MaybeConst<RuntimeOptions> auto& runtime, const auto& visit) {
  auto& [threads, trace, stall_seconds, cache_directory, cache_bytes, log, log_level,
         compile_progress] = runtime;
  static_cast<void>(log);  // functions of the host's
  static_cast<void>(compile_progress);
  visit("threads", threads);
  visit("trace", trace);
  visit("stall_seconds", stall_seconds);
  visit("cache_directory", cache_directory);
  visit("cache_bytes", cache_bytes);
  visit("log_level", log_level);
}

void each_field(MaybeConst<Options> auto& options, const auto& visit) {
  auto& [batch_size, device_iterations, seed, static_shapes, topology, training, output, runtime] =
      options;
  visit("batch_size", batch_size);
  visit("device_iterations", device_iterations);
  visit("seed", seed);
  visit("static_shapes", static_shapes);
  visit("topology", topology);
  visit("training", training);
  visit("output", output);
  visit("runtime", runtime);
}

JsonValue written(bool truth) {
  return {.kind = Kind::boolean, .truth = truth};
}

JsonValue written(std::integral auto number) {
  return {.kind = Kind::number, .text = std::to_string(number)};
}

JsonValue written(double number) {
  return {.kind = Kind::number, .text = number_text(number)};
}

JsonValue written(const std::string& text) {
  return {.kind = Kind::text, .text = text};
}

template <class Enum>
requires std::is_enum_v<Enum> JsonValue written(Enum value) {
  return written(std::string(to_string(value)));
}

template <class T>
JsonValue written(const std::vector<T>& values);

template <class Group>
requires std::is_class_v<Group> JsonValue written(const Group& group) {
  JsonValue json{.kind = Kind::object};
  each_field(group, [&](const char* name, const auto& field) {
    json.items.push_back(written(field));
    json.items.back().name = name;
  });
  return json;
}

template <class T>
JsonValue written(const std::vector<T>& values) {
  JsonValue json{.kind = Kind::list};
  for (const T& value : values) json.items.push_back(written(value));
  return json;
}

/// Reads values into fields, and remembers where each came from.
class Reader {
 public:
  /// "line 3: " for a field that was read, or else for what it is a part of; else nothing.
  std::string line_of(std::string path) const {
    while (!path.empty()) {
      const auto found = lines_.find(path);
      if (found != lines_.end()) return "line " + std::to_string(found->second) + ": ";
      const auto end = path.find_last_of(".[");
      path.resize(end == path.npos ? 0 : end);
    }
    return {};
  }

  template <class T>
  void read(const std::string& path, const JsonValue& json, T& value) {
    lines_[path] = json.line;
    read_value(path, json, value);
  }

  template <class Group>
  void read_fields(const std::string& path, const JsonValue& json, Group& group) {
    if (json.kind != Kind::object) refuse(path, json, "an object");
    for (const JsonValue& item : json.items) read_field(path, item, group);
  }

 private:
  [[noreturn]] static void refuse(const std::string& path, const JsonValue& json,
                                  const std::string& expected) {
    throw Error(Errc::invalid_argument, "line " + std::to_string(json.line) + ": " + path +
                                            ": expected " + expected + ", got " + describe(json));
  }

  template <class Group>
  void read_field(const std::string& path, const JsonValue& json, Group& group) {
    bool found = false;
    std::string names;
    each_field(group, [&](const char* name, auto& field) {
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (json.name != name) return;
      found = true;
      read(path + '.' + name, json, field);
    });
    if (found) return;
    throw Error(Errc::invalid_argument, "line " + std::to_string(json.line) + ": " + path + ": " +
                                            quoted_name(json.name) + " is none of its fields " +
                                            names);
  }

  void read_value(const std::string& path, const JsonValue& json, bool& value) {
    if (json.kind != Kind::boolean) refuse(path, json, "true or false");
    value = json.truth;
  }

  void read_value(const std::string& path, const JsonValue& json, std::string& value) {
    if (json.kind != Kind::text) refuse(path, json, "a text");
    value = json.text;
  }

  void read_value(const std::string& path, const JsonValue& json, double& value) {
    if (!reads_as(json, value)) refuse(path, json, "a number");
  }

  template <std::integral Number>
  void read_value(const std::string& path, const JsonValue& json, Number& value) {
    using Limits = std::numeric_limits<Number>;
    if (!reads_as(json, value))
      refuse(path, json,
             "a whole number from " + std::to_string(Limits::min()) + " to " +
                 std::to_string(Limits::max()));
  }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void read_value(const std::string& path, const JsonValue& json, Enum& value) {
    std::string known;
    for (int i = 0; to_string(static_cast<Enum>(i)) != "unknown"; ++i) {
      const std::string_view name = to_string(static_cast<Enum>(i));
      known += (known.empty() ? "" : ", ") + std::string(name);
      if (json.kind != Kind::text || json.text != name) continue;
      value = static_cast<Enum>(i);
      return;
    }
    refuse(path, json, "one of " + known);
  }

  template <class T>
  void read_value(const std::string& path, const JsonValue& json, std::vector<T>& values) {
    if (json.kind != Kind::list) refuse(path, json, "a list");
    values.assign(json.items.size(), T());
    for (std::size_t i = 0; i < values.size(); ++i)
      read(path + '[' + std::to_string(i) + ']', json.items[i], values[i]);
  }

  template <class Group>
  requires std::is_class_v<Group>
  void read_value(const std::string& path, const JsonValue& json, Group& group) {
    read_fields(path, json, group);
  }

  template <class Number>
  static bool reads_as(const JsonValue& json, Number& value) {
    if (json.kind != Kind::number) return false;
    const char* const end = json.text.data() + json.text.size();
    const auto [stop, error] = std::from_chars(json.text.data(), end, value);
    return error == std::errc() && stop == end;
  }

  std::map<std::string, int> lines_;
};

}  // namespace

std::string to_json(const Options& options) {
  return to_json(written(options));
}

std::ostream& operator<<(std::ostream& stream, const Options& options) {
  return stream << to_json(options);
}

Options options_from_json(std::string_view json, const Options& base) {
  Options options = base;
  Reader reader;
  reader.read_fields("options", parse_json(json), options);
  try {
    options.validate();
  } catch (const Error& error) {
    const std::string text = error.what();
    throw Error(error.code(), reader.line_of(text.substr(0, text.find(": "))) + text);
  }
  return options;
}

}  // namespace penstock
