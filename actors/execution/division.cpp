#include "actors/execution/division.hpp"

#include <map>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

/// Returns a text such as "stage 1, which is in process 2".
std::string placed(const std::vector<std::int32_t>& process_of_stage, std::size_t stage) {
  return "stage " + std::to_string(stage) + ", which is in process " +
         std::to_string(process_of_stage[stage]);
}

void expect_together(const std::vector<std::int32_t>& process_of_stage, std::size_t first,
                     std::size_t second, const std::string& reason) {
  if (process_of_stage[first] == process_of_stage[second]) return;
  throw Error(Errc::invalid_topology, placed(process_of_stage, first) + ", and " +
                                          placed(process_of_stage, second) + ", " + reason +
                                          ": place both in one process");
}

// No two replicas share an IPU, so that those of the first replica stand for all.
void expect_whole_ipus(const graph::Plan& plan, const std::vector<std::int32_t>& process_of_stage) {
  std::map<std::int32_t, std::size_t> first_on;
  for (std::size_t stage = 0; stage < process_of_stage.size(); ++stage) {
    const std::int32_t ipu = plan.stages[stage].ipu;
    const std::size_t first = first_on.emplace(ipu, stage).first->second;
    expect_together(process_of_stage, first, stage, "are on IPU " + std::to_string(ipu));
  }
}

void expect_whole_parameters(const graph::Plan& plan,
                             const std::vector<std::int32_t>& process_of_stage) {
  for (std::size_t stage = 0; stage < process_of_stage.size(); ++stage)
    for (const graph::VariablePlan& variable : plan.stages[stage].variables)
      for (const graph::CopyPlan& copy : variable.copies)
        expect_together(process_of_stage, stage, static_cast<std::size_t>(copy.stage),
                        "share the parameter \"" +
                            plan.variables[static_cast<std::size_t>(variable.variable)].name + '"');
}

}  // namespace

Division::Division(const graph::Plan& plan, std::vector<std::int32_t> process_of_stage)
    : process_of_stage_(std::move(process_of_stage)) {
  if (process_of_stage_.size() != plan.stages.size())
    throw Error(Errc::invalid_topology, "expected a process for each of " +
                                            std::to_string(plan.stages.size()) + " stages, got " +
                                            std::to_string(process_of_stage_.size()));
  for (std::size_t stage = 0; stage < process_of_stage_.size(); ++stage)
    if (process_of_stage_[stage] < 0)
      throw Error(Errc::invalid_topology, "expected the number of a process for stage " +
                                              std::to_string(stage) + ", got " +
                                              std::to_string(process_of_stage_[stage]));
  expect_whole_ipus(plan, process_of_stage_);
  expect_whole_parameters(plan, process_of_stage_);
}

}  // namespace penstock::actors
