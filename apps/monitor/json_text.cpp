#include "apps/monitor/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <utility>

#include "penstock/json_value.hpp"

namespace monitor {
namespace {

using penstock::JsonValue;
using Kind = JsonValue::Kind;

constexpr int format = 1;

JsonValue json(const std::string& text) {
  return {.kind = Kind::text, .text = text};
}
JsonValue json(bool truth) {
  return {.kind = Kind::boolean, .truth = truth};
}
JsonValue json(std::integral auto number) {
  return {.kind = Kind::number, .text = std::to_string(number)};
}
JsonValue json(double number) {
  if (!std::isfinite(number)) return {};
  std::array<char, 32> text;
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {.kind = Kind::number,
          .text = std::string(text.data(), static_cast<std::size_t>(end - text.data()))};
}

template <class T>
JsonValue json(const std::optional<T>& value) {
  return value ? json(*value) : JsonValue();
}

/// Returns a list of the results of `json_of` for the items.
JsonValue list_of(const auto& items, const auto& json_of) {
  JsonValue list{.kind = Kind::list};
  for (const auto& item : items) list.items.push_back(json_of(item));
  return list;
}
template <class T>
JsonValue json(const std::vector<T>& items) {
  return list_of(items, [](const T& item) { return json(item); });
}

/// An Object is a JSON object under construction.
class Object {
 public:
  Object& add(const char* name, JsonValue value) {
    value.name = name;
    object_.items.push_back(std::move(value));
    return *this;
  }
  Object& add(const char* name, const auto& value) { return add(name, json(value)); }
  JsonValue take() { return std::move(object_); }

 private:
  JsonValue object_{.kind = Kind::object};
};

JsonValue ipu_json(const Ipu& ipu) {
  return Object()
      .add("ipu", ipu.ipu)
      .add("replica", ipu.replica)
      .add("stages", ipu.stages)
      .add("busy", ipu.busy)
      .add("memory_bytes", ipu.memory_bytes)
      .add("memory_budget_bytes", ipu.memory_budget_bytes)
      .take();
}

JsonValue call_json(const LastCall& call) {
  return Object()
      .add("seconds", call.seconds)
      .add("samples", call.samples)
      .add("loss", call.loss)
      .take();
}

JsonValue model_json(const RunningModel& model) {
  return Object()
      .add("model", model.model)
      .add("name", model.name)
      .add("mode", model.mode)
      .add("updates", model.updates)
      .add("calls", model.calls)
      .add("samples", model.samples)
      .add("samples_per_second", model.samples_per_second)
      .add("in_call", model.in_call_since_ns.has_value())
      .add("last_call", model.last_call ? call_json(*model.last_call) : JsonValue())
      .add("ipus", list_of(model.ipus, ipu_json))
      .take();
}

JsonValue process_json(const Observation& process) {
  return Object()
      .add("pid", process.pid)
      .add("command", process.facts.command)
      .add("user", process.facts.user)
      .add("running_seconds", process.facts.running_seconds)
      .add("version", process.version)
      .add("models", list_of(process.models, model_json))
      .take();
}

JsonValue wait_json(const Wait& wait) {
  return Object()
      .add("actor", wait.actor)
      .add("text", wait.text)
      .add("from", wait.from)
      .add("since_seconds", wait.since_seconds)
      .take();
}

JsonValue pipeline_json(const PipelineWaits& pipeline) {
  return Object()
      .add("model", pipeline.model)
      .add("name", pipeline.name)
      .add("mode", pipeline.mode)
      .add("in_call", pipeline.in_call)
      .add("asked", pipeline.asked)
      .add("silent", pipeline.silent)
      .add("waits", list_of(pipeline.waits, wait_json))
      .add("cycle", pipeline.cycle)
      .take();
}

JsonValue waits_json(const ProcessWaits& process) {
  return Object()
      .add("pid", process.pid)
      .add("command", process.facts.command)
      .add("user", process.facts.user)
      .add("pipelines", list_of(process.pipelines, pipeline_json))
      .take();
}

}  // namespace

std::string json_text(const std::vector<Observation>& processes, double interval_seconds) {
  return penstock::to_json(Object()
                               .add("format", format)
                               .add("interval_seconds", interval_seconds)
                               .add("processes", list_of(processes, process_json))
                               .take()) +
         '\n';
}

std::string json_text(const std::vector<ProcessWaits>& processes) {
  return penstock::to_json(Object()
                               .add("format", format)
                               .add("processes", list_of(processes, waits_json))
                               .take()) +
         '\n';
}

}  // namespace monitor
