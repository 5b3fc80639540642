#include "penstock/chrome_trace.hpp"

#include <set>
#include <string>

#include "engine/files/trace_text.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/output_file.hpp"

namespace penstock {

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
    for (const std::int32_t ipu : ipus)
      write(row_name(ipu_process, ipu, "IPU " + std::to_string(ipu)));
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
