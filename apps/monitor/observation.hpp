// An Observation is what is known of a process with running models at a moment: its answer, and
// what the operating system says of it. Two observations of a process give rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monitor {

struct Ipu {
  std::int64_t ipu = 0;
  std::int64_t replica = 0;
  std::vector<std::int64_t> stages = {};
  std::int64_t busy_ns = 0;  ///< Is the time in which the IPU has worked so far.
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_budget_bytes = {};
  /// Is the share, from 0 to 1, of the time between two observations in which the IPU worked.
  /// add_rates() sets it.
  double busy = 0;
};

struct LastCall {
  double seconds = 0;
  std::int64_t samples = 0;
  std::optional<double> loss = {};  ///< Is empty if the call had no loss, or no finite one.
};

struct RunningModel {
  std::int64_t model = 0;  ///< Is the model's number in its process.
  std::string name = {};
  std::string mode = {};  ///< Is "training" or "inference".
  std::int64_t updates = 0;
  std::int64_t calls = 0;
  std::int64_t samples = 0;
  std::optional<std::int64_t> in_call_since_ns = {};
  std::optional<LastCall> last_call = {};
  std::vector<Ipu> ipus = {};
  double samples_per_second = 0;  ///< Is the model's speed, which add_rates() sets.
};

/// Holds what the operating system says of a process.
struct ProcessFacts {
  std::string command = {};  ///< Is the command line; empty if it cannot be read.
  std::string user = {};
  std::optional<double> running_seconds = {};
};

struct Observation {
  std::int64_t pid = 0;
  std::string version = {};
  std::int64_t now_ns = 0;  ///< Is the time of the answer by the machine's steady clock.
  ProcessFacts facts = {};
  std::vector<RunningModel> models = {};
};

/// Reads a process's answer to "status".
/// @throws penstock::Error invalid_argument if `answer` is not such an answer.
Observation read_status(std::string_view answer);

/// Sets the rates of `now`, which are means over the time since the earlier observations `before`.
/// The rates of a process, a model or an IPU that is not in `before` stay 0. If a model is in a
/// call and has ended none since `before`, or has ended one that took longer than the time since
/// `before`, its speed is the speed of its last call.
void add_rates(std::vector<Observation>& now, const std::vector<Observation>& before);

/// Is what an actor waits for.
struct Wait {
  std::string who = {};
  std::string text = {};
  std::vector<std::string> from = {};  ///< Names the actors that are waited for.
  std::optional<double> since_seconds = {};
};

struct PipelineWaits {
  std::int64_t model = 0;
  std::string name = {};
  std::string mode = {};
  bool in_call = false;
  std::int64_t asked = 0;   ///< Counts the actors that were asked what they wait for.
  std::int64_t silent = 0;  ///< Counts the asked actors that gave no answer in time.
  std::vector<Wait> waits = {};
  /// Names the actors that wait for each other in a cycle; it is empty if there is no cycle.
  std::vector<std::string> cycle = {};
};

struct ProcessWaits {
  std::int64_t pid = 0;
  ProcessFacts facts = {};
  std::vector<PipelineWaits> pipelines = {};
};

/// Reads a process's answer to "why".
/// @throws penstock::Error invalid_argument if `answer` is not such an answer.
ProcessWaits read_waits(std::string_view answer);

}  // namespace monitor
