// A trace says what ran where and when. It has one event for each run of a program.
#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// Says in which direction a micro-batch passes through the stages.
enum class Direction : std::uint8_t { forward, backward };
/// Returns the name of the enumerator.
std::string_view to_string(Direction direction) noexcept;

/// Says what an IPU did. `load` means that weights came to the IPU, where stages take turns.
enum class Activity : std::uint8_t { forward, backward, update, load };
/// Returns the name of the enumerator.
std::string_view to_string(Activity activity) noexcept;

/// Describes one run of a stage's program, a part of the stage's weight update, or a load for the
/// stage, on one IPU. Times are nanoseconds of the steady clock.
struct TraceEvent {
  std::int32_t ipu = 0;                   ///< The event took place on this IPU.
  std::int32_t replica = 0;               ///< The event belongs to this replica.
  std::int32_t stage = 0;                 ///< The event belongs to this stage.
  Activity activity = Activity::forward;  ///< Says what the IPU did.
  /// Numbers the micro-batch, counted per replica since the model was built. For an update it is
  /// the last micro-batch of the window, and for a load the first one that the load was for.
  std::int64_t micro_batch = 0;
  std::int64_t begin_ns = 0;  ///< The event began at this time.
  std::int64_t end_ns = 0;    ///< The event ended at this time.
};

}  // namespace penstock
