// Chrome's trace event format: a complete event ("X") per program run or update, in the row of its
// IPU.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "penstock/output_file.hpp"
#include "penstock/trace.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::string event_name(const TraceEvent& event) {
  const std::string letter = event.activity == Activity::forward    ? "F"
                             : event.activity == Activity::backward ? "B"
                             : event.activity == Activity::update   ? "U"
                                                                    : "L";
  return letter + " s" + std::to_string(event.stage) + " mb" + std::to_string(event.micro_batch);
}

Json row_name(std::int32_t ipu) {
  return {{"ph", "M"},
          {"pid", 0},
          {"tid", ipu},
          {"name", "thread_name"},
          {"args", {{"name", "IPU " + std::to_string(ipu)}}}};
}

Json program_run(const TraceEvent& event, std::int64_t origin_ns) {
  return {{"ph", "X"},
          {"pid", 0},
          {"tid", event.ipu},
          {"name", event_name(event)},
          {"cat", to_string(event.activity)},
          {"ts", microseconds(event.begin_ns - origin_ns)},
          {"dur", microseconds(event.end_ns - event.begin_ns)},
          {"args",
           {{"stage", event.stage},
            {"replica", event.replica},
            {"direction", to_string(event.activity)},
            {"micro_batch", event.micro_batch}}}};
}

std::int64_t first_begin(std::span<const TraceEvent> events) {
  const auto first =
      std::min_element(events.begin(), events.end(),
                       [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return first == events.end() ? 0 : first->begin_ns;
}

}  // namespace

void write_chrome_trace(OutputFile& file, std::span<const TraceEvent> events) {
  const char* separator = "\n";
  const auto write = [&](const Json& event) {
    file.write(separator + event.dump());
    separator = ",\n";
  };
  file.write(R"({"displayTimeUnit":"ms","traceEvents":[)");
  std::set<std::int32_t> ipus;
  for (const TraceEvent& event : events) ipus.insert(event.ipu);
  for (const std::int32_t ipu : ipus) write(row_name(ipu));
  const std::int64_t origin_ns = first_begin(events);
  for (const TraceEvent& event : events) write(program_run(event, origin_ns));
  file.write("\n]}\n");
}

void write_chrome_trace(const std::string& path, std::span<const TraceEvent> events) {
  OutputFile file(path);
  write_chrome_trace(file, events);
  file.commit();
}

}  // namespace penstock
