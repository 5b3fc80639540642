#include "engine/names/known_names.hpp"

#include <algorithm>
#include <span>

#include "graph/values/text.hpp"

namespace penstock {
namespace {

constexpr std::size_t most_listed = 12;
// Every short name is like every other one.
constexpr std::size_t shortest_misspelt = 3;

}  // namespace

std::string instead_of(std::string_view name, const std::vector<std::string_view>& known) {
  if (known.empty()) return "; there is none";
  const std::string_view nearest =
      name.size() < shortest_misspelt ? std::string_view() : nearest_name(name, known);
  if (!nearest.empty()) return "; did you mean " + quoted_text(nearest) + '?';
  const std::span listed = std::span(known).first(std::min(known.size(), most_listed));
  const std::size_t remainder = known.size() - listed.size();
  return "; there " + std::string(known.size() == 1 ? "is" : "are") + ": " +
         printable(joined(listed)) +
         (remainder > 0 ? " and " + std::to_string(remainder) + " more" : "");
}

}  // namespace penstock
