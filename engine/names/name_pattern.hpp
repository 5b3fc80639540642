// A name pattern stands for all names that it matches, such as "h.*.weight".
#pragma once

#include <string_view>

namespace penstock {

/// Returns whether `pattern` matches the whole of `name`. A `*` in the pattern matches any
/// characters, or none, and a `?` matches one character; every other character matches itself.
bool matches(std::string_view pattern, std::string_view name) noexcept;

}  // namespace penstock
