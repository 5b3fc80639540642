#include "actors/update/update_round.hpp"

#include <array>

namespace penstock::actors {

std::string name_of(UpdateRound round) {
  constexpr std::array<const char*, update_rounds> names = {"reduce", "measure", "follow", "apply",
                                                            "gather"};
  const auto number = static_cast<std::size_t>(round);
  return '"' + (number < names.size() ? names[number] : std::to_string(number)) + '"';
}

}  // namespace penstock::actors
