// An Observation is what is known at a moment of a process with running models: the process's
// answer, and what the operating system says of the process. Two observations of a process give
// rates.
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
  std::int64_t busy_ns = 0;  ///< The IPU has worked for this time so far.
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_budget_bytes = {};
  /// `busy` is the share, from 0 to 1, of the time between two observations in which the IPU
  /// worked. add_rates() sets it.
  double busy = 0;
};

struct LastCall {
  double seconds = 0;
  std::int64_t samples = 0;
  std::optional<double> loss = {};  ///< `loss` is empty if the call had no loss, or no finite one.
};

struct RunningModel {
  std::int64_t model = 0;  ///< `model` is the model's number in its process.
  std::string name = {};
  std::string mode = {};  ///< `mode` is "training" or "inference".
  std::int64_t updates = 0;
  std::int64_t calls = 0;
  std::int64_t samples = 0;
  std::optional<std::int64_t> in_call_since_ns = {};
  std::optional<LastCall> last_call = {};
  std::vector<Ipu> ipus = {};
  double samples_per_second = 0;  ///< add_rates() sets the model's speed.
};

/// A ProcessFacts has what the operating system says of a process.
struct ProcessFacts {
  std::string command = {};  ///< `command` is the command line, or empty if it cannot be read.
  std::string user = {};
  std::optional<double> running_seconds = {};
};

struct Observation {
  std::int64_t pid = 0;
  std::string version = {};
  std::int64_t now_ns = 0;  ///< `now_ns` is the time of the answer by the machine's steady clock.
  ProcessFacts facts = {};
  std::vector<RunningModel> models = {};
};

/// Reads the answer of a process to "status".
/// @throws penstock::Error invalid_argument if `answer` is not such an answer.
Observation read_status(std::string_view answer);

/// Sets the rates of `now`, which are means over the time since the earlier observations `before`.
/// The rates of a process, a model or an IPU that is not in `before` stay 0. If a model is in a
/// call and has ended no call since `before`, or has ended a call that took longer than the time
/// since `before`, the model's speed is the speed of its last call.
void add_rates(std::vector<Observation>& now, const std::vector<Observation>& before);

/// A Wait says what an actor waits for.
struct Wait {
  std::string actor = {};
  std::string text = {};
  /// `from` has the names of the actors for which this actor waits.
  std::vector<std::string> from = {};
  std::optional<double> since_seconds = {};
};

struct PipelineWaits {
  std::int64_t model = 0;
  std::string name = {};
  std::string mode = {};
  bool in_call = false;
  std::int64_t asked = 0;   ///< This many actors were asked what they wait for.
  std::int64_t silent = 0;  ///< This many of the asked actors gave no answer in time.
  std::vector<Wait> waits = {};
  /// `cycle` has the names of the actors that wait for each other in a cycle, or is empty if there
  /// is no cycle.
  std::vector<std::string> cycle = {};
};

struct ProcessWaits {
  std::int64_t pid = 0;
  ProcessFacts facts = {};
  std::vector<PipelineWaits> pipelines = {};
};

/// Reads the answer of a process to "why".
/// @throws penstock::Error invalid_argument if `answer` is not such an answer.
ProcessWaits read_waits(std::string_view answer);

}  // namespace monitor
