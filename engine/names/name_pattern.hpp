// A name pattern stands for all names that it matches, such as "h.*.weight".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Returns whether `pattern` matches the whole of `name`. A `*` in the pattern matches any
/// characters, or none, and a `?` matches one character; every other character matches itself.
bool matches(std::string_view pattern, std::string_view name) noexcept;

/// Returns the positions of the names that `pattern` matches.
/// @throws Error invalid_argument if there are none. The text begins with `subject`, such as "model
/// "m": there is no parameter", and goes on with the pattern and what may have been meant.
std::vector<std::size_t> expect_matches(std::string_view pattern,
                                        const std::vector<std::string_view>& names,
                                        const std::string& subject);

}  // namespace penstock
