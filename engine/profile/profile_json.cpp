#include "engine/profile/profile_json.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/files/trace_text.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/json_value.hpp"

namespace penstock {
namespace {

using Kind = JsonValue::Kind;

JsonValue json(double number) {
  return {.kind = Kind::number, .text = number_text(number)};
}
JsonValue json(std::integral auto number) {
  return {.kind = Kind::number, .text = std::to_string(number)};
}
JsonValue json(bool truth) {
  return {.kind = Kind::boolean, .truth = truth};
}
JsonValue json(const std::string& text) {
  return {.kind = Kind::text, .text = printable(text)};
}
JsonValue json(std::string_view text) {
  return json(std::string(text));
}

// Each struct of a profile has a function of its own below.
JsonValue json(const TimeSplit&);
JsonValue json(const TensorMemory&);
JsonValue json(const IpuMemory&);
JsonValue json(const IpuProfile&);
JsonValue json(const RunTimes&);
JsonValue json(const LivePoint&);
JsonValue json(const StageProfile&);
JsonValue json(const OpProfile&);
JsonValue json(const CompileStep&);
JsonValue json(const CompileReport&);
JsonValue json(const BubbleProfile&);
JsonValue json(const ProfileAdvice&);

template <class Item>
JsonValue json(const std::vector<Item>& items) {
  JsonValue list{.kind = Kind::list};
  for (const Item& item : items) list.items.push_back(json(item));
  return list;
}

/// Builds an object field by field.
class Object {
 public:
  Object& add(std::string_view name, JsonValue value) {
    value.name = name;
    object_.items.push_back(std::move(value));
    return *this;
  }
  Object& add(std::string_view name, const auto& value) { return add(name, json(value)); }
  JsonValue take() { return std::move(object_); }

 private:
  JsonValue object_{.kind = Kind::object};
};

/// Returns an object with a field for each enumerator, in the order of their numbers.
template <class Enum>
JsonValue by_enumerator(const auto& values) {
  Object object;
  for (std::size_t i = 0; i < values.size(); ++i)
    object.add(to_string(static_cast<Enum>(i)), values[i]);
  return object.take();
}

JsonValue json(const TimeSplit& seconds) {
  return Object()
      .add("active", by_enumerator<Activity>(seconds.active))
      .add("waiting", by_enumerator<WaitReason>(seconds.waiting))
      .add("busy", seconds.busy())
      .add("idle", seconds.idle())
      .add("total", seconds.total())
      .take();
}

JsonValue json(const TensorMemory& tensor) {
  return Object()
      .add("name", tensor.name)
      .add("stage", tensor.stage)
      .add("class", to_string(tensor.memory_class))
      .add("bytes", tensor.bytes)
      .add("copies", tensor.copies)
      .take();
}

JsonValue json(const IpuMemory& memory) {
  return Object()
      .add("budget_bytes", memory.budget_bytes)
      .add("peak_bytes", memory.peak_bytes)
      .add("classes", by_enumerator<MemoryClass>(memory.class_bytes))
      .add("tensors", memory.tensors)
      .take();
}

JsonValue json(const IpuProfile& ipu) {
  return Object().add("ipu", ipu.ipu).add("seconds", ipu.seconds).add("memory", ipu.memory).take();
}

JsonValue json(const RunTimes& times) {
  return Object()
      .add("runs", times.runs)
      .add("seconds", times.seconds)
      .add("mean_seconds", times.mean_seconds())
      .add("least_seconds", times.least_seconds)
      .add("most_seconds", times.most_seconds)
      .take();
}

JsonValue json(const LivePoint& point) {
  return Object()
      .add("instruction", point.instruction)
      .add("backward", point.backward)
      .add("bytes", point.bytes)
      .take();
}

JsonValue json(const StageProfile& stage) {
  return Object()
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

JsonValue json(const OpProfile& op) {
  return Object()
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

JsonValue json(const CompileStep& step) {
  return Object().add("name", step.name).add("seconds", step.seconds).take();
}

JsonValue json(const CompileReport& compile) {
  return Object()
      .add("seconds", compile.seconds)
      .add("from_cache", compile.from_cache)
      .add("steps", compile.steps)
      .add("expected_utilization", compile.expected_utilization)
      .add("warnings", compile.warnings)
      .take();
}

JsonValue json(const BubbleProfile& bubble) {
  return Object()
      .add("measured", bubble.measured)
      .add("predicted", bubble.predicted)
      .add("closed_form", bubble.closed_form)
      .take();
}

JsonValue json(const ProfileAdvice& advice) {
  return Object()
      .add("topic", advice.topic)
      .add("text", advice.text)
      .add("speedup", advice.speedup)
      .take();
}

JsonValue json(const Profile& profile) {
  return Object()
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

/// Appends a list of numbers, which are texts already.
void append_list(std::string& text, std::initializer_list<std::string> numbers) {
  text += text.back() == '[' ? "[" : ",[";
  const char* separator = "";
  for (const std::string& number : numbers) {
    text += separator + number;
    separator = ",";
  }
  text += ']';
}

}  // namespace

std::string window_json(const Profile& profile, std::size_t most_events) {
  const std::size_t shown = std::min(most_events, profile.events.size());
  const auto events = std::span(profile.events).last(shown);
  const std::int64_t origin = first_begin(events);
  std::string text = R"({"origin_ns":)" + std::to_string(origin) + R"(,"calls":[)";
  for (const CallProfile& call : profile.window)
    if (call.end_ns > origin)
      append_list(text,
                  {microseconds(call.begin_ns - origin), microseconds(call.end_ns - origin),
                   std::to_string(call.first_micro_batch), std::to_string(call.micro_batches)});
  text += R"(],"events":[)";
  for (const TraceEvent& event : events)
    append_list(
        text,
        {std::to_string(event.ipu), std::to_string(event.replica), std::to_string(event.stage),
         std::to_string(static_cast<int>(event.activity)),
         std::to_string(static_cast<int>(event.waited_for)), std::to_string(event.micro_batch),
         microseconds(event.ready_ns - origin), microseconds(event.begin_ns - origin),
         microseconds(event.end_ns - origin), std::to_string(event.bytes)});
  return text + "]}";
}

std::string to_json(const Profile& profile) {
  return on_hosts_thread("to_json of a Profile", [&] { return to_json(json(profile)); });
}

}  // namespace penstock
