// The engines of this machine that the user may look at are the processes with a socket in the
// user's directory. Whatever such a process does or does not do, the monitor does not wait for it
// for long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/monitor/observation.hpp"

namespace monitor {

struct EngineAnswer {
  std::int64_t pid = 0;
  ProcessFacts facts = {};
  std::string text = {};  ///< `text` is empty if the process gave no answer in time.
};

/// Sends `request` to every process that has a socket in `directory` or, if `only` is given, to
/// that process alone. Waits at most `seconds` in all, and returns the answers in the order of the
/// processes' numbers. Removes the sockets of processes that have ended.
std::vector<EngineAnswer> ask_engines(const std::string& directory, const std::string& request,
                                      double seconds, std::optional<std::int64_t> only = {});

/// Returns the numbers of the processes whose sockets are in `directory`, in ascending order.
std::vector<std::int64_t> engines_in(const std::string& directory);

}  // namespace monitor
