// The page of a report is report.html, which is compiled into the library. It has two places for
// data, and needs nothing from a network.
#pragma once

#include <string>
#include <string_view>

#include "penstock/profile.hpp"

namespace penstock {

/// Returns the text of report.html.
std::string_view report_template() noexcept;

/// Returns the page with the profile's figures and the newest events of its window in it.
std::string report_page(const Profile& profile);

}  // namespace penstock
