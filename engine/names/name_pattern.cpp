#include "engine/names/name_pattern.hpp"

#include "engine/names/known_names.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

// When a character does not match, the last `*` takes one character more. An earlier `*` need not
// be tried again: whatever it could give up, the last one can take.
bool matches(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0, star = pattern.npos, taken = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
      ++at;
      ++i;
    } else if (star != pattern.npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

std::vector<std::size_t> expect_matches(std::string_view pattern,
                                        const std::vector<std::string_view>& names,
                                        const std::string& subject) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (matches(pattern, names[i])) found.push_back(i);
  if (found.empty())
    throw Error(Errc::invalid_argument,
                subject + " " + quoted_text(pattern) + instead_of(pattern, names));
  return found;
}

}  // namespace penstock
