// A trace says what ran where and when. It has one event for each run of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// Says in which direction a micro-batch passes through the stages.
enum class Direction : std::uint8_t { forward, backward };
/// Returns the name of the enumerator.
std::string_view to_string(Direction direction) noexcept;

/// Says what an IPU did.
enum class Activity : std::uint8_t {
  forward,   ///< The forward program of a stage ran.
  backward,  ///< The backward program of a stage ran.
  update,    ///< A part of a stage's weight update was computed.
  exchange,  ///< A part of a weight update was computed that reads what other replicas have.
  load,      ///< Weights came to the IPU, where stages take turns.
};
/// Counts the enumerators of Activity.
inline constexpr std::size_t activities = 5;
/// Returns the name of the enumerator.
std::string_view to_string(Activity activity) noexcept;

/// Says what an IPU waited for before it could begin something.
enum class WaitReason : std::uint8_t {
  input,     ///< The stage did not have its input, from the stage before or from the host.
  gradient,  ///< The stage did not have its gradient, from the stage after.
  /// The input was there, but the stage held as many micro-batches as it may, so that it waited for
  /// a gradient, which frees a place.
  credit,
  /// The input was there, but the outputs of earlier micro-batches had not been collected.
  outputs,
  host_store,  ///< Tensors had not come from the host store.
  gate,        ///< A weight update waited for other stages or for other replicas.
  dispatch,    ///< The work was ready, but its message or a free processor was not there.
  call_end,    ///< The IPU had done its part of the call, and others had not.
};
/// Counts the enumerators of WaitReason.
inline constexpr std::size_t wait_reasons = 8;
/// Returns the name of the enumerator.
std::string_view to_string(WaitReason reason) noexcept;

/// Describes one run of a stage's program, a part of the stage's weight update, or a load for the
/// stage, on one IPU. Times are nanoseconds of the steady clock, which all processes of a machine
/// share. Since the event before it on the same IPU, the IPU has waited for `waited_for` until
/// `ready_ns`, and from then on for its turn.
struct TraceEvent {
  std::int32_t ipu = 0;                   ///< The event took place on this IPU.
  std::int32_t replica = 0;               ///< The event belongs to this replica.
  std::int32_t stage = 0;                 ///< The event belongs to this stage.
  Activity activity = Activity::forward;  ///< Says what the IPU did.
  /// Says what the stage waited for last before this work was ready.
  WaitReason waited_for = WaitReason::input;
  /// Numbers the micro-batch, counted per replica since the model was built. Micro-batches of calls
  /// that are shorter than a full one are counted by themselves. For an update it is
  /// the last micro-batch of the window, and for a load the first one that the load was for.
  std::int64_t micro_batch = 0;
  std::int64_t ready_ns = 0;  ///< The IPU was asked for this work at this time.
  std::int64_t begin_ns = 0;  ///< The event began at this time.
  std::int64_t end_ns = 0;    ///< The event ended at this time.
  /// A program sends this many bytes to other stages, an exchange reads as many of other replicas,
  /// and a load brings as many. An update moves none.
  std::int64_t bytes = 0;
};

/// Names an actor that works on no IPU.
enum class HostActor : std::uint8_t {
  feed,        ///< It hands a micro-batch to the stages that read its inputs.
  step,        ///< It collects the outputs of a micro-batch.
  gate,        ///< It has the optimizers of all stages do one round of a weight update.
  reducer,     ///< It waits, from the first replica on, until the sums of all are complete.
  host_store,  ///< It hands out a block of what is kept off the IPUs.
};
/// Counts the enumerators of HostActor.
inline constexpr std::size_t host_actors = 5;
/// Returns the name of the enumerator.
std::string_view to_string(HostActor actor) noexcept;

/// Describes something that an actor did which works on no IPU. Times are nanoseconds of the steady
/// clock.
struct HostEvent {
  HostActor actor = HostActor::feed;  ///< This actor did it.
  /// Is the replica that it was for; -1 if it was for all.
  std::int32_t replica = -1;
  /// Is the stage that it was for; -1 if it was for all.
  std::int32_t stage = -1;
  /// Is the micro-batch that it was for, counted per replica since the model was built; -1 if it
  /// was for none.
  std::int64_t micro_batch = -1;
  std::int64_t begin_ns = 0;  ///< The event began at this time.
  std::int64_t end_ns = 0;    ///< The event ended at this time.
};

}  // namespace penstock
