// An Observation is what is known of a process with running models at a moment: its answer, and
// what the system says of it. Two of them give rates.
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
  std::int64_t busy_ns = 0;  ///< Is how long it has worked so far.
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_budget_bytes = {};
  double busy = 0;  ///< Is the share of the interval in which it worked; see add_rates().
};

struct LastCall {
  double seconds = 0;
  std::int64_t samples = 0;
  std::optional<double> loss = {};  ///< Is not there if the call had none, or it is not finite.
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
  double samples_per_second = 0;  ///< See add_rates().
};

/// Is what the system says of a process.
struct ProcessFacts {
  std::string command = {};  ///< Is empty if it cannot be read.
  std::string user = {};
  std::optional<double> running_seconds = {};
};

struct Observation {
  std::int64_t pid = 0;
  std::string version = {};
  std::int64_t now_ns = 0;  ///< Is the moment, by the steady clock of the machine.
  ProcessFacts facts = {};
  std::vector<RunningModel> models = {};
};

/// Reads a process's answer to "status". @throws penstock::Error invalid_argument if it is none.
Observation read_status(std::string_view answer);

/// Gives `now` its rates since `before`, which was seen earlier. A model, an IPU and a process that
/// were not there have none yet. Where no call has ended in between, the speed of a model that is
/// in a call is that of its last one.
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
  std::int64_t asked = 0;   ///< Counts the actors that were asked.
  std::int64_t silent = 0;  ///< Counts those that gave no answer in time.
  std::vector<Wait> waits = {};
  std::vector<std::string> cycle = {};  ///< Is empty if nobody waits in a circle.
};

struct ProcessWaits {
  std::int64_t pid = 0;
  ProcessFacts facts = {};
  std::vector<PipelineWaits> pipelines = {};
};

/// Reads a process's answer to "why". @throws penstock::Error invalid_argument if it is none.
ProcessWaits read_waits(std::string_view answer);

}  // namespace monitor
