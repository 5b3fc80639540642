#include "engine/profile/window_json.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "engine/files/trace_text.hpp"

namespace penstock {
namespace {

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
  const bool whole = profile.older_events == 0 && shown == profile.events.size();
  std::string text = R"({"origin_ns":)" + std::to_string(origin) + R"(,"whole":)" +
                     (whole ? "true" : "false") + R"(,"calls":[)";
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

}  // namespace penstock
