#include "engine/profile/report_page.hpp"

#include "engine/profile/window_json.hpp"

namespace penstock {
namespace {

/// The page has at most this many events, because a page with more events would take long to open.
/// The trace has all events.
constexpr std::size_t most_events = 20'000;

/// Returns JSON that can stand in a script of a page: nothing in it ends the script.
std::string in_script(const std::string& json) {
  std::string text;
  for (const char each : json) {
    if (each == '<')
      text += "\\u003c";  // JSON has this character in texts only.
    else
      text += each;
  }
  return text;
}

}  // namespace

std::string report_page(const Profile& profile) {
  const std::pair<std::string_view, std::string> places[] = {
      {"/*PENSTOCK_PROFILE*/null", in_script(to_json(profile))},
      {"/*PENSTOCK_EVENTS*/null", in_script(window_json(profile, most_events))}};
  std::string page;
  std::string_view left = report_template();
  for (const auto& [place, text] : places) {
    const std::size_t at = left.find(place);
    page += left.substr(0, at);
    page += text;
    left.remove_prefix(at + place.size());
  }
  page += left;
  return page;
}

}  // namespace penstock
