#include "penstock/trace.hpp"

namespace penstock {

std::string_view to_string(Activity activity) noexcept {
  switch (activity) {
    case Activity::forward:
      return "forward";
    case Activity::backward:
      return "backward";
    case Activity::update:
      return "update";
    case Activity::load:
      return "load";
  }
  return "unknown";
}

std::string_view to_string(Direction direction) noexcept {
  return direction == Direction::forward ? "forward" : "backward";
}

}  // namespace penstock
