#include <string_view>

#include "engine/json/json_object.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/json_value.hpp"
#include "penstock/profile.hpp"

namespace penstock {

// The functions json_of() are in no unnamed namespace, because JsonObject::add() has to find them
// by the type of its argument.

/// Returns an object with a field for each enumerator of `Enum`. `values` has the fields' values in
/// the order of the enumerators' numbers.
template <class Enum>
static JsonValue by_enumerator(const auto& values) {
  JsonObject object;
  for (std::size_t i = 0; i < values.size(); ++i)
    object.add(to_string(static_cast<Enum>(i)), values[i]);
  return object.take();
}

static JsonValue json_of(const TimeSplit& seconds) {
  return JsonObject()
      .add("active", by_enumerator<Activity>(seconds.active))
      .add("waiting", by_enumerator<WaitReason>(seconds.waiting))
      .add("busy", seconds.busy())
      .add("idle", seconds.idle())
      .add("total", seconds.total())
      .take();
}

static JsonValue json_of(const TensorMemory& tensor) {
  return JsonObject()
      .add("name", tensor.name)
      .add("stage", tensor.stage)
      .add("class", to_string(tensor.memory_class))
      .add("bytes", tensor.bytes)
      .add("copies", tensor.copies)
      .take();
}

static JsonValue json_of(const IpuMemory& memory) {
  return JsonObject()
      .add("budget_bytes", memory.budget_bytes)
      .add("peak_bytes", memory.peak_bytes)
      .add("classes", by_enumerator<MemoryClass>(memory.class_bytes))
      .add("tensors", memory.tensors)
      .take();
}

static JsonValue json_of(const IpuProfile& ipu) {
  return JsonObject()
      .add("ipu", ipu.ipu)
      .add("seconds", ipu.seconds)
      .add("memory", ipu.memory)
      .take();
}

static JsonValue json_of(const RunTimes& times) {
  return JsonObject()
      .add("runs", times.runs)
      .add("seconds", times.seconds)
      .add("mean_seconds", times.mean_seconds())
      .add("least_seconds", times.least_seconds)
      .add("most_seconds", times.most_seconds)
      .take();
}

static JsonValue json_of(const LivePoint& point) {
  return JsonObject()
      .add("instruction", point.instruction)
      .add("backward", point.backward)
      .add("bytes", point.bytes)
      .take();
}

static JsonValue json_of(const StageProfile& stage) {
  return JsonObject()
      .add("stage", stage.stage)
      .add("ipus", stage.ipus)
      .add("blocks", stage.blocks)
      .add("forward", stage.forward)
      .add("backward", stage.backward)
      .add("update", stage.update)
      .add("share", stage.share)
      .add("in_flight_limit", stage.in_flight_limit)
      .add("max_in_flight", stage.max_in_flight)
      .add("sent_bytes", stage.sent_bytes)
      .add("resident_bytes", stage.resident_bytes)
      .add("stash_bytes", stage.stash_bytes)
      .add("liveness", stage.liveness)
      .take();
}

static JsonValue json_of(const OpProfile& op) {
  return JsonObject()
      .add("stage", op.stage)
      .add("backward", op.backward)
      .add("recomputed", op.recomputed)
      .add("name", op.name)
      .add("op", op.op)
      .add("flops", op.flops)
      .add("timed_runs", op.timed_runs)
      .add("mean_seconds", op.mean_seconds)
      .add("seconds", op.seconds)
      .take();
}

static JsonValue json_of(const CompileStep& step) {
  return JsonObject().add("name", step.name).add("seconds", step.seconds).take();
}

static JsonValue json_of(const CompileReport& compile) {
  return JsonObject()
      .add("seconds", compile.seconds)
      .add("from_cache", compile.from_cache)
      .add("steps", compile.steps)
      .add("expected_utilization", compile.expected_utilization)
      .add("warnings", compile.warnings)
      .take();
}

static JsonValue json_of(const BubbleProfile& bubble) {
  return JsonObject()
      .add("measured", bubble.measured)
      .add("predicted", bubble.predicted)
      .add("closed_form", bubble.closed_form)
      .take();
}

static JsonValue json_of(const ProfileAdvice& advice) {
  return JsonObject()
      .add("topic", advice.topic)
      .add("text", advice.text)
      .add("speedup", advice.speedup)
      .take();
}

static JsonValue json_of(const Profile& profile) {
  return JsonObject()
      .add("model", profile.model)
      .add("training", profile.training)
      .add("schedule", profile.schedule)
      .add("replicas", profile.replicas)
      .add("batch_size", profile.batch_size)
      .add("gradient_accumulation", profile.gradient_accumulation)
      .add("processors", profile.processors)
      .add("calls", profile.calls)
      .add("short_calls", profile.short_calls)
      .add("micro_batches", profile.micro_batches)
      .add("samples", profile.samples)
      .add("call_seconds", profile.call_seconds)
      .add("elapsed_seconds", profile.elapsed_seconds)
      .add("compile", profile.compile)
      .add("ipus", profile.ipus)
      .add("stages", profile.stages)
      .add("ops", profile.ops)
      .add("bubble", profile.bubble)
      .add("advice", profile.advice)
      .add("older_events", profile.older_events)
      .add("dropped_events", profile.dropped_events)
      .take();
}

std::string to_json(const Profile& profile) {
  return on_hosts_thread("to_json of a Profile", [&] { return to_json(json_of(profile)); });
}

}  // namespace penstock
