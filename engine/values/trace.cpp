#include "penstock/trace.hpp"

namespace penstock {

std::string_view to_string(Direction direction) noexcept {
  return direction == Direction::forward ? "forward" : "backward";
}

}  // namespace penstock
