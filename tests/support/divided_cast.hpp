// A DividedCast has the actors of a small network in several simulated processes: each of them has
// actors and memory of its own, and what the actors of two processes send each other goes as bytes.
// All actors are in one deterministic system, which may let them run in any order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/pipeline/pipeline_cast.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::testing {

/// An OnTheWay is called with the bytes of each message that process number `from` has sent to
/// process number `to`, before they are read, and may change them.
using OnTheWay = std::function<void(std::int32_t from, std::int32_t to, std::string& bytes)>;

class DividedCast : public SmallNetwork {
 public:
  /// Spawns the actors, with stage number i in process number `process_of_stage[i]`, and writes the
  /// first variables.
  DividedCast(const SmallEngineOptions& options, const std::vector<std::int32_t>& process_of_stage,
              OnTheWay on_the_way = {});
  ~DividedCast();
  DividedCast(const DividedCast&) = delete;
  DividedCast& operator=(const DividedCast&) = delete;

  actors::ActorSystem& system() { return system_; }
  /// Returns what the host's thread shares with the actors of the host's process or, in another
  /// process, what these note in its place.
  actors::HostCalls& host(std::size_t process = 0) { return *processes_[process].host; }
  std::size_t processes() const { return processes_.size(); }
  /// Returns the setup that the actors of process number `process` have.
  const actors::PipelineSetup& pipeline(std::size_t process) const {
    return *processes_[process].setup;
  }
  /// Returns the actors of process number `process`.
  const actors::PipelineCast& cast(std::size_t process) const { return processes_[process].cast; }
  /// Returns how many updates the host has counted.
  std::uint64_t updates() const { return processes_[0].setup->update_count->total(); }

  /// Begins to give all processes other rules. No actor does anything until the test lets it.
  void begin_set_rules(const actors::UpdateRules& rules);
  /// Begins a call of `windows` windows. No actor does anything until the test lets it.
  void begin_windows(std::int64_t windows);
  /// Returns the variables of replica number `replica`, each from the process that has it.
  actors::Variables variables(std::size_t replica = 0) const;
  /// Returns the reason for which a process has refused a message, or an empty text.
  const std::string& refusal() const { return *refusal_; }

 private:
  struct Process {
    std::shared_ptr<const actors::PipelineSetup> setup = {};
    std::shared_ptr<actors::HostCalls> host = {};
    actors::PipelineCast cast = {};
  };
  void spawn_links(const OnTheWay& on_the_way);
  void join_links();

  actors::ActorSystem system_;
  std::vector<Process> processes_;
  // links_[p][q] is in process p and leads to process q.
  std::vector<std::vector<caf::actor>> links_;
  std::shared_ptr<std::string> refusal_ = std::make_shared<std::string>();
  std::int64_t micro_batches_begun_ = 0;
};

}  // namespace penstock::testing
