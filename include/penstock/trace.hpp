// A trace says what ran where and when. It has an event for each run of a program, each part of a
// weight update, and each load of weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// A Direction says in which direction a micro-batch passes through the stages.
enum class Direction : std::uint8_t { forward, backward };
/// Returns the name of the enumerator.
std::string_view to_string(Direction direction) noexcept;

/// An Activity says what an IPU did.
enum class Activity : std::uint8_t {
  forward,   ///< The forward program of a stage ran.
  backward,  ///< The backward program of a stage ran.
  update,    ///< A part of a stage's weight update was computed.
  exchange,  ///< A part of a weight update was computed that reads what other replicas have.
  load,      ///< Weights came to the IPU for the turn of a stage, in phased execution.
};
/// `activities` is the number of enumerators of Activity.
inline constexpr std::size_t activities = 5;
/// Returns the name of the enumerator.
std::string_view to_string(Activity activity) noexcept;

/// A WaitReason says what an IPU waited for before it could begin something.
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
  dispatch,    ///< The work was ready, but its message had not arrived or no processor was free.
  call_end,    ///< The IPU had done its part of the call, and other IPUs had not.
};
/// `wait_reasons` is the number of enumerators of WaitReason.
inline constexpr std::size_t wait_reasons = 8;
/// Returns the name of the enumerator.
std::string_view to_string(WaitReason reason) noexcept;

/// A TraceEvent describes one run of a stage's program, a part of the stage's weight update, or a
/// load for the stage, on one IPU. Times are nanoseconds of the steady clock, which all processes
/// of a machine share. From the end of the previous event on the same IPU until `ready_ns`, the IPU
/// waited for `waited_for`. From then until `begin_ns`, the work waited for its turn.
struct TraceEvent {
  std::int32_t ipu = 0;                   ///< The event took place on this IPU.
  std::int32_t replica = 0;               ///< The event belongs to this replica.
  std::int32_t stage = 0;                 ///< The event belongs to this stage.
  Activity activity = Activity::forward;  ///< `activity` says what the IPU did.
  /// `waited_for` says what the stage waited for last before this work was ready. A fetch from the
  /// host store counts as the last one if it took longer than everything else that came after the
  /// stage's work before.
  WaitReason waited_for = WaitReason::input;
  /// `micro_batch` is the number of the micro-batch, counted per replica since the model was built.
  /// Micro-batches of calls that are shorter than a full one are counted by themselves. For an
  /// update, `micro_batch` is the last micro-batch of the window, and for a load it is the first
  /// one that the load was for. A micro-batch that was done again after a failure has events of
  /// both times.
  std::int64_t micro_batch = 0;
  std::int64_t ready_ns = 0;  ///< The IPU was asked for this work at this time.
  std::int64_t begin_ns = 0;  ///< The event began at this time.
  std::int64_t end_ns = 0;    ///< The event ended at this time.
  /// `bytes` is the number of bytes that a program sends to other stages, that an exchange reads of
  /// other replicas, or that a load brings to the IPU. For Activity::update, the number is 0.
  std::int64_t bytes = 0;
};

/// A HostActor is an actor that works on no IPU.
enum class HostActor : std::uint8_t {
  feed,  ///< The feed takes a micro-batch out of the call's tensors, and copies unaligned rows.
  step,  ///< The step collects what a stage has computed of the outputs of a micro-batch.
  gate,  ///< The gate lets the optimizers of all stages do one round of a weight update.
  /// The reducer waits from the first complete gradient sums of a replica until those of all
  /// replicas.
  reducer,
  host_store,  ///< The host store hands out a block of memory that it keeps for a stage.
  reader,      ///< A reader of a data loader reads the samples of a batch, or some of them.
  loader,      ///< A data loader lets its host wait for a batch that is not complete.
  /// A call has failed, and other actors take the place of all actors, until they begin with
  /// `micro_batch`.
  supervisor,
};
/// `host_actors` is the number of enumerators of HostActor.
inline constexpr std::size_t host_actors = 8;
/// Returns the name of the enumerator.
std::string_view to_string(HostActor actor) noexcept;

/// A HostEvent describes something that an actor has done that works on no IPU. Times are
/// nanoseconds of the steady clock.
struct HostEvent {
  HostActor actor = HostActor::feed;  ///< `actor` says which actor it was.
  /// `replica` is the replica that the event was for; -1 if it was for all replicas.
  std::int32_t replica = -1;
  /// `stage` is the stage that the event was for; -1 if it was for all stages.
  std::int32_t stage = -1;
  /// `reader` is the number of the loader's reader; -1 for any other actor.
  std::int32_t reader = -1;
  /// `micro_batch` is the micro-batch that the event was for, counted per replica since the model
  /// was built; -1 if it was for no single micro-batch.
  std::int64_t micro_batch = -1;
  std::int64_t begin_ns = 0;  ///< The event began at this time.
  std::int64_t end_ns = 0;    ///< The event ended at this time.
};

}  // namespace penstock
