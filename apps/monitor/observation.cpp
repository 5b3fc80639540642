#include "apps/monitor/observation.hpp"

#include <algorithm>

#include "apps/monitor/fields.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"

namespace monitor {
namespace {

using penstock::JsonValue;

constexpr std::int64_t known_format = 1;

JsonValue read_answer(std::string_view answer) {
  JsonValue read = penstock::parse_json(answer);
  if (const std::int64_t format = whole_number(read, "penstock_monitor"); format != known_format)
    throw penstock::Error(penstock::Errc::invalid_argument,
                          "answer: expected format " + std::to_string(known_format) + ", got " +
                              std::to_string(format) + ": the process has another Penstock");
  return read;
}

Ipu ipu_of(const JsonValue& json) {
  Ipu ipu{.ipu = whole_number(json, "ipu"),
          .replica = whole_number(json, "replica"),
          .busy_ns = whole_number(json, "busy_ns"),
          .memory_bytes = whole_number(json, "memory_bytes"),
          .memory_budget_bytes = optional_whole_number(json, "memory_budget_bytes")};
  for (const JsonValue& stage : list(json, "stages")) ipu.stages.push_back(whole_number(stage));
  return ipu;
}

std::optional<LastCall> last_call_of(const JsonValue& json) {
  if (json.kind == JsonValue::Kind::null) return std::nullopt;
  return LastCall{.seconds = number(json, "seconds").value_or(0),
                  .samples = whole_number(json, "samples"),
                  .loss = number(json, "loss")};
}

RunningModel model_of(const JsonValue& json) {
  RunningModel model{.model = whole_number(json, "model"),
                     .name = text(json, "name"),
                     .mode = text(json, "mode"),
                     .updates = whole_number(json, "updates"),
                     .calls = whole_number(json, "calls"),
                     .samples = whole_number(json, "samples"),
                     .in_call_since_ns = optional_whole_number(json, "in_call_since_ns"),
                     .last_call = last_call_of(field(json, "last_call"))};
  for (const JsonValue& ipu : list(json, "ipus")) model.ipus.push_back(ipu_of(ipu));
  return model;
}

PipelineWaits waits_of(const JsonValue& json) {
  PipelineWaits pipeline{.model = whole_number(json, "model"),
                         .name = text(json, "name"),
                         .mode = text(json, "mode"),
                         .in_call = truth(json, "in_call"),
                         .asked = whole_number(json, "asked"),
                         .silent = whole_number(json, "silent"),
                         .cycle = texts(json, "cycle")};
  for (const JsonValue& wait : list(json, "waits"))
    pipeline.waits.push_back({.actor = text(wait, "actor"),
                              .text = text(wait, "text"),
                              .from = texts(wait, "from"),
                              .since_seconds = number(wait, "since_seconds")});
  return pipeline;
}

/// Returns the first item of `all` whose `member` is `value`, or null if there is no such item.
const auto* find_in(const auto& all, auto member, std::int64_t value) {
  const auto found = std::ranges::find(all, value, member);
  return found == all.end() ? nullptr : &*found;
}

/// Returns a - b. An answer may hold any numbers, also such as no difference of integers holds.
double difference(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) - static_cast<double>(b);
}

void add_rates(RunningModel& now, const RunningModel& before, double seconds) {
  const double samples = difference(now.samples, before.samples);
  // If a call is longer than the time between the observations, only some of its samples were taken
  // in that time.
  const bool long_call = now.last_call && now.last_call->seconds > seconds;
  if (samples > 0 && !long_call)
    now.samples_per_second = samples / seconds;
  else if ((samples > 0 || now.in_call_since_ns) && now.last_call && now.last_call->seconds > 0)
    now.samples_per_second = static_cast<double>(now.last_call->samples) / now.last_call->seconds;
  for (Ipu& ipu : now.ipus)
    if (const Ipu* earlier = find_in(before.ipus, &Ipu::ipu, ipu.ipu))
      ipu.busy = std::clamp(difference(ipu.busy_ns, earlier->busy_ns) * 1e-9 / seconds, 0.0, 1.0);
}

}  // namespace

Observation read_status(std::string_view answer) {
  const JsonValue json = read_answer(answer);
  Observation observation{.pid = whole_number(json, "pid"),
                          .version = text(json, "version"),
                          .now_ns = whole_number(json, "now_ns")};
  for (const JsonValue& model : list(json, "models")) observation.models.push_back(model_of(model));
  return observation;
}

void add_rates(std::vector<Observation>& now, const std::vector<Observation>& before) {
  for (Observation& process : now) {
    const Observation* const earlier = find_in(before, &Observation::pid, process.pid);
    if (!earlier) continue;
    const double seconds = difference(process.now_ns, earlier->now_ns) * 1e-9;
    if (!(seconds > 0)) continue;
    for (RunningModel& model : process.models)
      if (const RunningModel* then = find_in(earlier->models, &RunningModel::model, model.model))
        add_rates(model, *then, seconds);
  }
}

ProcessWaits read_waits(std::string_view answer) {
  const JsonValue json = read_answer(answer);
  ProcessWaits waits{.pid = whole_number(json, "pid")};
  for (const JsonValue& pipeline : list(json, "pipelines"))
    waits.pipelines.push_back(waits_of(pipeline));
  return waits;
}

}  // namespace monitor
