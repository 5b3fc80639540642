#include "engine/files/trace_text.hpp"

#include <algorithm>

#include "engine/json/json_string.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

std::string event_name(const TraceEvent& event) {
  const std::string letter = event.activity == Activity::forward    ? "F"
                             : event.activity == Activity::backward ? "B"
                             : event.activity == Activity::update   ? "U"
                             : event.activity == Activity::exchange ? "X"
                                                                    : "L";
  return letter + " s" + std::to_string(event.stage) + " mb" + std::to_string(event.micro_batch);
}

}  // namespace

std::string microseconds(std::int64_t nanoseconds) {
  return number_text(static_cast<double>(nanoseconds) / 1000);
}

std::string row_name(int process, std::int32_t row, const std::string& name) {
  return R"({"ph":"M","pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(row) +
         R"(,"name":"thread_name","args":{"name":)" + json_string(name) + "}}";
}

int host_row(const HostEvent& event) {
  const int first = 1;  // Row 0 has the host's calls.
  // The rows of reducers and readers alternate, because there may be any number of both.
  const int several = first + static_cast<int>(host_actors);
  if (event.actor == HostActor::reducer) return several + 2 * event.stage;
  if (event.actor == HostActor::reader) return several + 2 * event.reader + 1;
  return first + static_cast<int>(event.actor);
}

std::string host_row_name(const HostEvent& event) {
  const std::string actor(to_string(event.actor));
  if (event.actor == HostActor::reducer) return actor + " of stage " + std::to_string(event.stage);
  if (event.actor == HostActor::reader) return actor + " " + std::to_string(event.reader);
  return actor;
}

std::string host_arguments(const HostEvent& event) {
  std::string text;
  const auto add = [&](const char* name, std::int64_t number) {
    if (number >= 0)
      text += (text.empty() ? "\"" : ",\"") + std::string(name) + "\":" + std::to_string(number);
  };
  add("replica", event.replica);
  add("stage", event.stage);
  add("reader", event.reader);
  add("micro_batch", event.micro_batch);
  return text;
}

std::string program_run(const TraceEvent& event, std::int64_t origin_ns) {
  const std::string activity = json_string(to_string(event.activity));
  return R"({"ph":"X","pid":0,"tid":)" + std::to_string(event.ipu) + R"(,"name":)" +
         json_string(event_name(event)) + R"(,"cat":)" + activity + R"(,"ts":)" +
         microseconds(event.begin_ns - origin_ns) + R"(,"dur":)" +
         microseconds(event.end_ns - event.begin_ns) + R"(,"args":{"stage":)" +
         std::to_string(event.stage) + R"(,"replica":)" + std::to_string(event.replica) +
         R"(,"direction":)" + activity + R"(,"micro_batch":)" + std::to_string(event.micro_batch) +
         "}}";
}

std::int64_t first_begin(std::span<const TraceEvent> events) {
  const auto first =
      std::min_element(events.begin(), events.end(),
                       [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return first == events.end() ? 0 : first->begin_ns;
}

}  // namespace penstock
