#include "engine/monitor/answers.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "engine/json/json_object.hpp"
#include "graph/values/stopwatch.hpp"
#include "penstock/version.hpp"

namespace penstock {
namespace {

constexpr int format = 1;

/// An IpuRow is what is shown of one IPU of a model, added up over all of the model's plans on that
/// IPU.
struct IpuRow {
  std::int64_t replica = 0;
  std::vector<std::int64_t> stages = {};
  std::int64_t bytes = 0, busy_ns = 0;
};

struct ModelRow {
  const ModelGauge* gauge = nullptr;
  std::int64_t ipu_limit = 0;
  std::map<std::int64_t, IpuRow> ipus = {};
};

JsonObject heading() {
  JsonObject object;
  object.add("penstock_monitor", format).add("version", version).add("pid", ::getpid());
  return object.add("now_ns", steady_ns());
}

std::string_view mode_of(bool training) {
  return training ? "training" : "inference";
}

JsonValue last_call(const ModelGauge::Reading& reading) {
  if (reading.calls == 0) return {};
  return JsonObject()
      .add("seconds", static_cast<double>(reading.last_ns) * 1e-9)
      .add("samples", reading.last_samples)
      .add("loss", reading.loss)
      .take();
}

JsonValue json_of(const ModelRow& model) {
  const ModelGauge::Reading reading = model.gauge->read();
  std::vector<JsonValue> ipus;
  for (const auto& [number, ipu] : model.ipus)
    ipus.push_back(JsonObject()
                       .add("ipu", number)
                       .add("replica", ipu.replica)
                       .add("stages", ipu.stages)
                       .add("busy_ns", ipu.busy_ns)
                       .add("memory_bytes", ipu.bytes)
                       .add("memory_budget_bytes",
                            model.ipu_limit > 0 ? penstock::json_of(model.ipu_limit) : JsonValue())
                       .take());
  return JsonObject()
      .add("model", model.gauge->number)
      .add("name", model.gauge->name)
      .add("mode", mode_of(model.gauge->training))
      .add("updates", reading.updates)
      .add("calls", reading.calls)
      .add("samples", reading.samples)
      .add("in_call_since_ns",
           reading.in_call_since_ns > 0 ? penstock::json_of(reading.in_call_since_ns) : JsonValue())
      .add("last_call", last_call(reading))
      .add("ipus", ipus)
      .take();
}

JsonValue json_of(const actors::Wait& wait, std::int64_t now_ns) {
  JsonObject object;
  object.add("actor", wait.actor).add("text", wait.text).add("from", actors::awaited_by(wait));
  const double seconds = static_cast<double>(now_ns - wait.since_ns) * 1e-9;
  return object.add("since_seconds", wait.since_ns > 0 ? penstock::json_of(seconds) : JsonValue())
      .take();
}

JsonValue json_of(const ShownWaits& pipeline, std::int64_t now_ns) {
  std::vector<JsonValue> waits;
  for (const actors::Wait& wait : pipeline.content.waits) waits.push_back(json_of(wait, now_ns));
  std::vector<std::string> cycle;
  for (const std::size_t position : actors::cycle_of(pipeline.content.waits))
    cycle.push_back(pipeline.content.waits[position].actor);
  return JsonObject()
      .add("model", pipeline.model)
      .add("name", pipeline.name)
      .add("mode", mode_of(pipeline.training))
      .add("in_call", pipeline.in_call)
      .add("asked", pipeline.content.asked)
      .add("silent", pipeline.content.silent)
      .add("waits", waits)
      .add("cycle", cycle)
      .take();
}

}  // namespace

std::int64_t work_of(const ShownPipeline& pipeline, std::int64_t ipu) noexcept {
  for (const auto& pulse : pipeline.runtime->ipus())
    if (pulse->ipu() == ipu) return pulse->busy_ns();
  return 0;
}

std::string status_answer(const std::vector<const ShownPipeline*>& pipelines) {
  std::map<std::uint64_t, ModelRow> models;
  for (const ShownPipeline* pipeline : pipelines) {
    ModelRow& model = models[pipeline->model->number];
    model.gauge = pipeline->model.get();
    model.ipu_limit = pipeline->ipu_limit;
    for (const ShownIpu& ipu : pipeline->ipus) {
      auto [row, is_new] = model.ipus.try_emplace(ipu.ipu, IpuRow{ipu.replica});
      const auto& past = model.gauge->past_work_ns;
      if (const auto work = past.find(ipu.ipu); is_new && work != past.end())
        row->second.busy_ns = work->second;
      row->second.busy_ns += work_of(*pipeline, ipu.ipu);
      row->second.bytes += ipu.bytes;
      for (const std::int64_t stage : ipu.stages)
        if (std::ranges::count(row->second.stages, stage) == 0) row->second.stages.push_back(stage);
    }
  }
  std::vector<JsonValue> rows;
  for (const auto& [number, model] : models) rows.push_back(json_of(model));
  return to_json(heading().add("models", rows).take()) + '\n';
}

std::string waits_answer(const std::vector<ShownWaits>& pipelines) {
  const std::int64_t now_ns = steady_ns();
  std::vector<JsonValue> shown;
  for (const ShownWaits& pipeline : pipelines) shown.push_back(json_of(pipeline, now_ns));
  return to_json(heading().add("pipelines", shown).take()) + '\n';
}

}  // namespace penstock
