#include "actors/update/update_phase.hpp"

#include <array>

namespace penstock::actors {

std::string name_of(UpdatePhase phase) {
  constexpr std::array<const char*, update_phases> names = {"reduce", "measure", "follow", "apply",
                                                            "gather"};
  return '"' + std::string(names[static_cast<std::size_t>(phase)]) + '"';
}

}  // namespace penstock::actors
