#include "graph/plan/replica_ipus.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace penstock::graph {
namespace {

/// Returns one more than the distance from the lowest to the highest number in `ipus`.
std::int64_t reach_of(std::span<const std::int32_t> ipus) {
  const auto [lowest, highest] = std::ranges::minmax(ipus);
  return std::int64_t{highest} - lowest + 1;
}

/// Returns a list whose element d says whether two numbers in `ipus` are d apart.
std::vector<bool> distances_between(std::span<const std::int32_t> ipus) {
  std::vector<bool> distances(static_cast<std::size_t>(reach_of(ipus)));
  for (const std::int32_t a : ipus)
    for (const std::int32_t b : ipus)
      if (a > b) distances[static_cast<std::size_t>(std::int64_t{a} - b)] = true;
  return distances;
}

/// Returns whether replicas that are `shift` apart share no IPU. Two replicas share an IPU if the
/// IPUs of two stages are as far apart as the replicas are. `distances` says which distances the
/// IPUs of one replica have from each other.
bool keeps_apart(std::int64_t shift, std::int64_t replicas, const std::vector<bool>& distances) {
  for (std::int64_t replica = 1; replica < replicas; ++replica) {
    const std::int64_t distance = replica * shift;
    if (distance >= std::ssize(distances)) return true;
    if (distances[static_cast<std::size_t>(distance)]) return false;
  }
  return true;
}

std::vector<std::int32_t> ipus_of(const Plan& plan) {
  std::vector<std::int32_t> ipus;
  for (const StagePlan& stage : plan.stages) ipus.push_back(stage.ipu);
  return ipus;
}

}  // namespace

std::int64_t replica_shift(std::span<const std::int32_t> of_stages, std::int64_t replicas,
                           bool parallel_phases) {
  std::int64_t shift = std::ssize(of_stages);
  if (of_stages.empty()) return shift;
  const std::int64_t reach = reach_of(of_stages);
  if (parallel_phases) return reach + reach % 2;
  if (replicas == 1 || reach <= shift) return shift;
  const std::vector<bool> distances = distances_between(of_stages);
  while (!keeps_apart(shift, replicas, distances)) ++shift;
  return shift;
}

ReplicaIpus::ReplicaIpus(const Plan& plan, std::int64_t replicas)
    : plan_(plan), shift_(replica_shift(ipus_of(plan), replicas, plan.phases.parallel)) {}

std::int32_t used_ipus(std::span<const std::int32_t> of_stages, std::int64_t replicas) {
  const std::set<std::int32_t> of_one(of_stages.begin(), of_stages.end());
  return static_cast<std::int32_t>(std::ssize(of_one) * replicas);
}

}  // namespace penstock::graph
