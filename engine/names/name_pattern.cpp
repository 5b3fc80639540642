#include "engine/names/name_pattern.hpp"

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

}  // namespace penstock
