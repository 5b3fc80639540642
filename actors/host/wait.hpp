// A Wait says what an actor of a pipeline waits for, from whom and since when. All waits together
// show why a pipeline stands still. A Wait does not use CAF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::actors {

struct Wait {
  std::string actor = {};  ///< This is the name of the actor, such as "stage 1 (replica 0, IPU 1)".
  std::string text = {};  ///< This says what the actor does, such as "waits for its weight update".
  /// These are the ways in which the wait may end; one of them is enough. A way names the actors
  /// that all have to do something before the wait can end in that way. If there is no way, the
  /// actor waits for no other actor.
  std::vector<std::vector<std::string>> ways = {};
  /// This is when the wait began, by steady_ns(), or 0 if that is not known.
  std::int64_t since_ns = 0;
};

/// Returns the names of the actors that `wait` waits for. Each name occurs once, and they are in
/// the order of `ways`.
std::vector<std::string> awaited_by(const Wait& wait);

/// Returns the positions of waits that form a cycle: each wait waits for the next one, and the last
/// one for the first. No actor outside of the cycle can break it. Returns an empty vector if there
/// is no cycle. An actor that is named by a way, but has no wait in `waits`, counts as able to go
/// on.
std::vector<std::size_t> cycle_of(std::span<const Wait> waits);

/// Returns a number of seconds as a text, such as "1.25 s".
std::string seconds_text(double seconds);

/// Returns a text such as 'stage 1 (replica 0, IPU 1) waits for its weight update, for 2.5 s'.
/// `now_ns` is the present time by steady_ns().
std::string to_string(const Wait& wait, std::int64_t now_ns);

/// Returns a text such as "the waits form a cycle: stage 1 waits for stage 2, which waits for stage
/// 1", or an empty text if the waits form no cycle.
std::string cycle_text(std::span<const Wait> waits);

}  // namespace penstock::actors
