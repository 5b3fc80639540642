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
    case Activity::exchange:
      return "exchange";
    case Activity::load:
      return "load";
  }
  return "unknown";
}

std::string_view to_string(WaitReason reason) noexcept {
  switch (reason) {
    case WaitReason::input:
      return "input";
    case WaitReason::gradient:
      return "gradient";
    case WaitReason::credit:
      return "credit";
    case WaitReason::outputs:
      return "outputs";
    case WaitReason::host_store:
      return "host_store";
    case WaitReason::gate:
      return "gate";
    case WaitReason::dispatch:
      return "dispatch";
    case WaitReason::call_end:
      return "call_end";
  }
  return "unknown";
}

std::string_view to_string(HostActor actor) noexcept {
  switch (actor) {
    case HostActor::feed:
      return "feed";
    case HostActor::step:
      return "step";
    case HostActor::gate:
      return "gate";
    case HostActor::reducer:
      return "reducer";
    case HostActor::host_store:
      return "host store";
    case HostActor::reader:
      return "reader";
    case HostActor::loader:
      return "loader";
    case HostActor::supervisor:
      return "supervisor";
  }
  return "unknown";
}

std::string_view to_string(Direction direction) noexcept {
  return direction == Direction::forward ? "forward" : "backward";
}

}  // namespace penstock
