// A Wait says what an actor of a pipeline waits for, from whom and since when. All waits together
// are the picture of a pipeline that stands still. It knows nothing of CAF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::actors {

struct Wait {
  std::string who = {};   ///< Names the actor, such as "stage 1 (replica 0, IPU 1)".
  std::string text = {};  ///< Says what it does, such as "waits for its weight update".
  /// Lists the ways in which the wait may end. One of them suffices. Each names the actors that all
  /// have to do something for it. An actor with no way waits for nobody.
  std::vector<std::vector<std::string>> ways = {};
  std::int64_t since_ns = 0;  ///< Is when the wait began, by steady_ns(), or 0 if nobody knows.
};

/// Returns the actors that are waited for, each once, in the order of the ways.
std::vector<std::string> awaited_by(const Wait& wait);

/// Returns the positions of waits that wait for each other in a circle which nobody outside can
/// open: each waits for the next one, and the last one for the first. Returns nothing if there is
/// no such circle. An actor that is named by a way and has no wait may yet do something.
std::vector<std::size_t> cycle_of(std::span<const Wait> waits);

/// Returns such seconds as a text, such as "1.25 s".
std::string seconds_text(double seconds);

/// Returns a text such as 'stage 1 (replica 0, IPU 1) waits for its weight update, for 2.5 s',
/// where it is `now_ns` now.
std::string to_string(const Wait& wait, std::int64_t now_ns);

/// Returns a text such as "the waits form a cycle: stage 1 waits for stage 2, which waits for stage
/// 1"; empty if they form none.
std::string cycle_text(std::span<const Wait> waits);

}  // namespace penstock::actors
