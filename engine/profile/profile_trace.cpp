#include "engine/profile/profile_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/files/trace_text.hpp"
#include "engine/json/json_string.hpp"
#include "engine/profile/call_times.hpp"
#include "engine/profile/divide_call.hpp"
#include "engine/profile/use_over_time.hpp"

namespace penstock {
namespace {

/// The trace shows no wait that is shorter than this.
constexpr std::int64_t shortest_wait_ns = 1000;

class ProfileTrace {
 public:
  /// Writes to `file` the newest `shown` events of `profile`.
  ProfileTrace(OutputFile& file, const Profile& profile, std::size_t shown)
      : file_(file),
        profile_(profile),
        events_(std::span(profile.events).last(shown)),
        older_events_(profile.older_events + profile.events.size() - shown),
        origin_ns_(origin()) {}

  void write() {
    file_.write(R"({"displayTimeUnit":"ms","traceEvents":[)");
    name_rows();
    add_calls();
    add_host_events();
    add_events();
    add_flows();
    add_counters();
    // With the origin, the times of several processes of a machine can be brought together.
    file_.write("\n],\"otherData\":{\"origin_ns\":" + std::to_string(origin_ns_) + ",\"process\":" +
                std::to_string(::getpid()) + ",\"older_events\":" + std::to_string(older_events_) +
                ",\"dropped_events\":" + std::to_string(profile_.dropped_events) + "}}\n");
  }

 private:
  /// Returns the moment at which the trace begins: with the first event of an IPU that is shown and
  /// with the call that the event belongs to or, if the trace has all events of the IPUs, with the
  /// first event of all. Readers begin before the first call.
  std::int64_t origin() const {
    constexpr auto never = std::numeric_limits<std::int64_t>::max();
    std::int64_t first = events_.empty() ? never : first_begin(events_);
    for (const CallProfile& call : profile_.window)
      if (call.end_ns > first || events_.empty()) first = std::min(first, call.begin_ns);
    if (older_events_ == 0)
      for (const HostEvent& event : profile_.host_events) first = std::min(first, event.begin_ns);
    return first == never ? 0 : first;
  }

  void add(const std::string& object) {
    file_.write(separator_ + object);
    separator_ = ",\n";
  }

  std::string place(int process, int row) const {
    return R"("pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(row);
  }
  std::string at(std::int64_t time_ns) const {
    return R"("ts":)" + microseconds(time_ns - origin_ns_);
  }

  void name_process(int process, const std::string& name) {
    add(R"({"ph":"M","pid":)" + std::to_string(process) +
        R"(,"name":"process_name","args":{"name":)" + json_string(name) + "}}");
  }

  void name_rows() {
    name_process(ipu_process, "IPUs");
    for (const IpuProfile& ipu : profile_.ipus)
      add(row_name(ipu_process, ipu.ipu, "IPU " + std::to_string(ipu.ipu)));
    name_process(host_process, "host");
    add(row_name(host_process, 0, "calls"));
    std::map<int, std::string> names;
    for (const HostEvent& event : profile_.host_events)
      if (!is_old(event)) names.try_emplace(host_row(event), host_row_name(event));
    for (const auto& [row, name] : names) add(row_name(host_process, row, name));
  }

  void add_slice(int process, int row, const std::string& name, const char* category,
                 std::int64_t begin_ns, std::int64_t end_ns, const std::string& arguments) {
    add(R"({"ph":"X",)" + place(process, row) + R"(,"name":)" + json_string(name) + R"(,"cat":")" +
        category + R"(",)" + at(begin_ns) + R"(,"dur":)" + microseconds(end_ns - begin_ns) +
        R"(,"args":{)" + arguments + "}}");
  }

  void add_calls() {
    for (const CallProfile& call : profile_.window) {
      if (call.end_ns <= origin_ns_) continue;  // The call's events are no longer kept.
      add_slice(host_process, 0, profile_.training ? "step" : "run", "call", call.begin_ns,
                call.end_ns,
                R"("first_micro_batch":)" + std::to_string(call.first_micro_batch) +
                    R"(,"micro_batches":)" + std::to_string(call.micro_batches));
    }
  }

  /// Returns whether an event ended before the time that the trace shows.
  bool is_old(const HostEvent& event) const { return event.end_ns < origin_ns_; }
  void add_host_events() {
    for (const HostEvent& event : profile_.host_events)
      if (!is_old(event))
        add_slice(host_process, host_row(event), std::string(to_string(event.actor)), "host",
                  std::max(event.begin_ns, origin_ns_), event.end_ns, host_arguments(event));
  }

  /// Adds what the IPUs did and what they waited for, call by call.
  void add_events() {
    bool whole = older_events_ == 0;  // Events that are not shown may be of the first call.
    std::size_t begin = 0;
    for (const CallProfile& call : profile_.window) {
      std::size_t end = begin;
      while (end < events_.size() && events_[end].begin_ns <= call.end_ns) ++end;
      if (end > begin) add_call_events(call, events_.subspan(begin, end - begin), whole);
      if (end > begin) whole = true;
      begin = end;
    }
  }

  /// Adds the events of a call. `whole` says whether all events of the call are there. If not, the
  /// waits of an IPU are known only from the IPU's first event on.
  void add_call_events(const CallProfile& call, std::span<const TraceEvent> events, bool whole) {
    std::map<int, std::int64_t> until_ns;
    if (whole)
      for (const IpuProfile& ipu : profile_.ipus) until_ns.emplace(ipu.ipu, call.begin_ns);
    for (const TraceEvent& event : events) until_ns.try_emplace(event.ipu, event.begin_ns);
    divide_call(
        until_ns, call.end_ns, events,
        [&](int ipu, WaitReason reason, std::int64_t from, std::int64_t to) {
          if (to - from >= shortest_wait_ns)
            add_slice(ipu_process, ipu, "wait: " + std::string(to_string(reason)), "wait", from, to,
                      "");
        },
        [&](const TraceEvent& event, std::int64_t, std::int64_t) {
          add(program_run(event, origin_ns_));
        });
  }

  /// Adds an arrow from each program of a micro-batch to the next one.
  void add_flows() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::vector<const TraceEvent*>> visits;
    for (const TraceEvent& event : events_)
      if (is_program(event)) visits[{event.replica, event.micro_batch}].push_back(&event);
    for (const auto& [micro_batch, events] : visits) {
      if (events.size() < 2) continue;
      const std::string id =
          "r" + std::to_string(micro_batch.first) + " mb" + std::to_string(micro_batch.second);
      for (std::size_t i = 0; i < events.size(); ++i)
        add_flow(*events[i], i == 0 ? "s" : i + 1 < events.size() ? "t" : "f", id);
    }
  }

  void add_flow(const TraceEvent& event, const std::string& kind, const std::string& id) {
    add(R"({"ph":")" + kind + R"(",)" + place(ipu_process, event.ipu) +
        R"(,"name":"micro-batch","cat":"micro-batch","id":")" + id + R"(",)" + at(event.begin_ns) +
        (kind == "f" ? R"(,"bp":"e"})" : "}"));
  }

  /// Adds how many micro-batches each IPU holds, and the memory that it uses, whenever that
  /// changes.
  void add_counters() {
    for (const IpuUse& use : use_over_time(profile_, events_)) {
      const std::string name = "IPU " + std::to_string(use.ipu);
      add_counter(use.time_ns, name + " in flight",
                  R"("micro-batches":)" + std::to_string(use.in_flight));
      add_counter(use.time_ns, name + " memory",
                  R"("always live":)" + std::to_string(use.resident_bytes) + R"(,"stash":)" +
                      std::to_string(use.stash_bytes) + R"(,"working":)" +
                      std::to_string(use.working_bytes));
    }
  }

  void add_counter(std::int64_t time_ns, const std::string& name, const std::string& values) {
    add(R"({"ph":"C","pid":)" + std::to_string(ipu_process) + R"(,"name":)" + json_string(name) +
        "," + at(time_ns) + R"(,"args":{)" + values + "}}");
  }

  OutputFile& file_;
  const Profile& profile_;
  std::span<const TraceEvent> events_;
  std::uint64_t older_events_;  // This many events are in the figures but not in the trace.
  std::int64_t origin_ns_;      // The times of the trace count from this moment on.
  const char* separator_ = "\n";
};

}  // namespace

void write_profile_trace(OutputFile& file, const Profile& profile, std::size_t most_events) {
  ProfileTrace(file, profile, std::min(most_events, profile.events.size())).write();
}

}  // namespace penstock
