#include "actors/update/update_round.hpp"

#include <array>

namespace penstock::actors {

std::string name_of(UpdateRound round) {
  constexpr std::array<const char*, update_rounds> names = {"reduce", "measure", "follow", "apply",
                                                            "gather"};
  return '"' + std::string(names[static_cast<std::size_t>(round)]) + '"';
}

}  // namespace penstock::actors
