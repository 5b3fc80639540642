// A trace says what ran where and when, with one event per program run.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

enum class Direction : std::uint8_t { forward, backward };
std::string_view to_string(Direction direction) noexcept;

/// `load`: the weights come to the IPU, where stages have turns.
enum class Activity : std::uint8_t { forward, backward, update, load };
std::string_view to_string(Activity activity) noexcept;

/// One run of a stage's program, a part of its weight update, or a load for it, on an IPU. Times
/// are nanoseconds of the steady clock.
struct TraceEvent {
  std::int32_t ipu = 0;                   ///< The event took place on this IPU.
  std::int32_t replica = 0;               ///< It was for this replica.
  std::int32_t stage = 0;                 ///< It was for this stage.
  Activity activity = Activity::forward;  ///< This says what was done.
  /// Counted per replica since the model was built; of an update, the last of its window; of a
  /// load, the one that it was first for.
  std::int64_t micro_batch = 0;
  std::int64_t begin_ns = 0;  ///< It began then.
  std::int64_t end_ns = 0;    ///< It ended then.
};

}  // namespace penstock
