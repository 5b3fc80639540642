#include "penstock/chrome_trace.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "engine/json/json_string.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

std::string microseconds(std::int64_t nanoseconds) {
  return number_text(static_cast<double>(nanoseconds) / 1000);
}

std::string event_name(const TraceEvent& event) {
  const std::string letter = event.activity == Activity::forward    ? "F"
                             : event.activity == Activity::backward ? "B"
                             : event.activity == Activity::update   ? "U"
                                                                    : "L";
  return letter + " s" + std::to_string(event.stage) + " mb" + std::to_string(event.micro_batch);
}

std::string row_name(std::int32_t ipu) {
  const std::string number = std::to_string(ipu);
  return R"({"ph":"M","pid":0,"tid":)" + number + R"(,"name":"thread_name","args":{"name":"IPU )" +
         number + R"("}})";
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

}  // namespace

void write_chrome_trace(OutputFile& file, std::span<const TraceEvent> events,
                        std::uint64_t dropped) {
  on_hosts_thread("writing a trace", [&] {
    const char* separator = "\n";
    const auto write = [&](const std::string& event) {
      file.write(separator + event);
      separator = ",\n";
    };
    file.write(R"({"displayTimeUnit":"ms","traceEvents":[)");
    std::set<std::int32_t> ipus;
    for (const TraceEvent& event : events) ipus.insert(event.ipu);
    for (const std::int32_t ipu : ipus) write(row_name(ipu));
    const std::int64_t origin_ns = first_begin(events);
    for (const TraceEvent& event : events) write(program_run(event, origin_ns));
    file.write("\n],\"otherData\":{\"dropped_events\":" + std::to_string(dropped) + "}}\n");
  });
}

void write_chrome_trace(const std::string& path, std::span<const TraceEvent> events,
                        std::uint64_t dropped) {
  on_hosts_thread("writing a trace", [&] {
    OutputFile file(path);
    write_chrome_trace(file, events, dropped);
    file.commit();
  });
}

}  // namespace penstock
