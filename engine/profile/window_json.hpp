// window_json() writes the newest events of a profile as JSON for the report's page. It is a pure
// function.
#pragma once

#include <string>

#include "penstock/profile.hpp"

namespace penstock {

/// Returns the events and calls of the profile's window, as the report's page reads them: an object
/// with `origin_ns`, with `whole`, which says whether no event is missing, with a list of four
/// numbers for each call, and with a list of ten numbers for each event. Only the newest events are
/// in it, `most_events` at most. Times are microseconds since the origin.
std::string window_json(const Profile& profile, std::size_t most_events);

}  // namespace penstock
