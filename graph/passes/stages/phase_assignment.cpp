#include "graph/passes/stages/phase_assignment.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

using Ipus = std::set<std::int32_t>;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Errc::invalid_topology, text);
}

std::string text_of(const Ipus& ipus) {
  std::string text = ipus.size() == 1 ? "IPU" : "IPUs";
  for (const std::int32_t ipu : ipus)
    text += (ipu == *ipus.begin() ? " " : ", ") + std::to_string(ipu);
  return text;
}

/// Returns the IPUs of each phase.
std::vector<Ipus> ipus_of(const std::vector<StagePlacement>& stages) {
  std::vector<Ipus> ipus(index(stages.back().phase) + 1);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const auto& [blocks, ipu, phase] = stages[stage];
    if (!ipus[index(phase)].insert(ipu).second)
      refuse("phase " + std::to_string(phase) + ": stage " + std::to_string(stage) +
             " and one before it are on IPU " + std::to_string(ipu) +
             "; the stages of a phase run at the same time, each on an IPU of its own");
  }
  return ipus;
}

void expect_one_set(const std::vector<Ipus>& ipus) {
  const auto& all = *std::ranges::max_element(ipus, {}, &Ipus::size);
  for (std::size_t phase = 0; phase < ipus.size(); ++phase)
    if (!std::ranges::includes(all, ipus[phase]))
      refuse("serial_phased: phase " + std::to_string(phase) + " is on " + text_of(ipus[phase]) +
             "; expected all phases on the same, " + text_of(all) +
             " (for two sets of IPUs there is parallel_phased)");
}

void expect_own_parity(const std::vector<Ipus>& ipus) {
  for (std::size_t phase = 0; phase < ipus.size(); ++phase)
    for (const std::int32_t ipu : ipus[phase])
      if (index(ipu) % 2 != phase % 2)
        refuse("parallel_phased: phase " + std::to_string(phase) + " is on IPU " +
               std::to_string(ipu) + "; expected even phases on even IPUs and odd phases on odd");
}

}  // namespace

std::vector<StageRequest> grouped_into_phases(std::vector<StageRequest> stages,
                                              const PhaseRequest& request) {
  std::int32_t phase = 0, place = 0;
  for (StageRequest& stage : stages) {
    stage.phase = phase;
    stage.default_ipu = request.parallel ? 2 * place + phase % 2 : place;
    const std::int32_t size = request.stages.empty() ? 1 : request.stages[index(phase)];
    if (++place < size) continue;
    ++phase;
    place = 0;
  }
  return stages;
}

Phases assign_phases(const StageAssignment& assignment, const PhaseRequest& request) {
  // The check includes stages that inference leaves out, so that the same placements are legal in
  // training and in inference.
  const std::vector<Ipus> ipus = ipus_of(assignment.placed);
  request.parallel ? expect_own_parity(ipus) : expect_one_set(ipus);
  Phases phases{.turn = request.turn, .parallel = request.parallel};
  for (std::size_t stage = 0; stage < assignment.stages.size(); ++stage) {
    const bool next =
        stage > 0 && assignment.stages[stage].phase != assignment.stages[stage - 1].phase;
    phases.of_stage.push_back(stage == 0 ? 0 : phases.of_stage.back() + (next ? 1 : 0));
  }
  phases.numbers =
      number_phases(phases.of_stage.back() + 1, request.liveness, request.separate_backward);
  return phases;
}

}  // namespace penstock::graph
